import type { ProtocolId } from '@headgate/protocols';
import type { Model, Target } from '../catalogue.ts';
import { Demand } from './demand.ts';
import { type PriceRates, ratesOf } from './price-rates.ts';
import { TargetState } from './target-state.ts';

/** States kept when channels come and go; the ones made first are forgotten first. */
const statesMax = 20_000;

/** A target as the router sees it. */
export interface Candidate {
  readonly target: Target;
  /** Of channel, upstream model and credential; a new credential is a new start. */
  readonly key: string;
  readonly state: TargetState;
  /** Empty when the price is not known. */
  readonly rates: readonly PriceRates[];
  /** Shared by all targets with this credential: what is wrong with it is wrong for all of them. */
  readonly credential: CredentialState;
  /** What it takes, as far as it has been asked for. */
  readonly serves: Partial<Record<ProtocolId, boolean>>;
}

export interface CredentialState {
  blockedUntilMs: number;
  strikes: number;
}

/** The candidates of one model, in an order that does not depend on how they were listed. */
export interface Field {
  readonly candidates: readonly Candidate[];
  readonly demand: Demand;
}

/** Keeps what is known of targets while the catalogue around them is swapped. */
export class Candidates {
  readonly #fields = new WeakMap<readonly Target[], Field>();
  readonly #states = new Map<string, TargetState>();
  readonly #credentials = new Map<string, CredentialState>();
  readonly #demands = new Map<string, Demand>();

  of({ id, targets }: Model): Field {
    const known = this.#fields.get(targets);
    if (known !== undefined) return known;
    const candidates = targets.map((target) => this.candidate(target));
    const field = {
      candidates: candidates.sort((a, b) => (a.key < b.key ? -1 : 1)),
      demand: obtain(this.#demands, id, () => new Demand()),
    };
    this.#fields.set(targets, field);
    return field;
  }

  candidate(target: Target): Candidate {
    const { channel, upstreamModel, cost } = target;
    const account = `${channel.id}\n${channel.credential ?? ''}`;
    const key = `${channel.id}\n${upstreamModel}\n${channel.credential ?? ''}`;
    return {
      target,
      key,
      state: obtain(this.#states, key, () => new TargetState()),
      rates: cost === null ? [] : ratesOf(cost),
      credential: obtain(this.#credentials, account, () => ({ blockedUntilMs: 0, strikes: 0 })),
      serves: {},
    };
  }
}

function obtain<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  if (map.size > statesMax) {
    for (const oldest of map.keys()) {
      map.delete(oldest);
      break;
    }
  }
  return made;
}
