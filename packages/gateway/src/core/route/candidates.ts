import type { ProtocolId } from '@headgate/protocols';
import type { RouterState } from '../../ports/router-state-store.ts';
import type { Model, Target } from '../catalogue.ts';
import { Demand } from './demand.ts';
import { type PriceRates, ratesOf } from './price-rates.ts';
import { readSaved, type SavedParts, writeSaved } from './saved.ts';
import { TargetState } from './target-state.ts';

/** States kept when channels come and go; the ones made first are forgotten first. */
const statesMax = 20_000;

/** A target as the router sees it. */
export interface Candidate {
  readonly target: Target;
  /** Of channel, upstream model and credential, the latter as a hash; a new credential is a new start. */
  readonly key: string;
  /** Of channel and credential. */
  readonly credentialKey: string;
  readonly state: TargetState;
  /** Empty when the price is not known. */
  readonly rates: readonly PriceRates[];
  /** Shared by all targets with this credential: what is wrong with it is wrong for all of them. */
  readonly credential: CredentialState;
  /** Its names as a record of the call has them, once one was made: to write them takes as long as all the rest. */
  label: string | null;
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

/** Keyed, so that a name that is stored betrays nothing of the secret. */
export type HashCredential = (secret: string) => string;

/** Keeps what is known of targets while the catalogue around them is swapped. */
export class Candidates {
  readonly #hashCredential: HashCredential;
  readonly #candidates = new WeakMap<Target, Candidate>();
  readonly #fields = new WeakMap<readonly Target[], Field>();
  readonly #states = new Map<string, TargetState>();
  readonly #credentials = new Map<string, CredentialState>();
  readonly #demands = new Map<string, Demand>();
  /** Keys of what has changed since it was last saved, the first changed first. */
  readonly #unsaved = {
    target: new Set<string>(),
    credential: new Set<string>(),
    model: new Set<string>(),
  } as const satisfies Record<RouterState['kind'], Set<string>>;

  constructor(hashCredential: HashCredential) {
    this.#hashCredential = hashCredential;
  }

  of({ id, targets }: Model): Field {
    const known = this.#fields.get(targets);
    if (known !== undefined) return known;
    const candidates = targets.map((target) => this.candidate(target));
    const field = {
      candidates: candidates.sort((a, b) => (a.key < b.key ? -1 : 1)),
      demand: obtain(this.#demands, id, newDemand),
    };
    this.#fields.set(targets, field);
    return field;
  }

  candidate(target: Target): Candidate {
    const known = this.#candidates.get(target);
    if (known !== undefined) return known;
    const made = this.#make(target);
    this.#candidates.set(target, made);
    return made;
  }

  /** Something has been learned of a target, and of calls of the model. */
  changed({ key, credentialKey }: Candidate, modelId: string): void {
    this.#unsaved.target.add(key);
    this.#unsaved.credential.add(credentialKey);
    this.#unsaved.model.add(modelId);
  }

  /** Up to so many of what has changed since they were last taken. `shiftMs`: from the steady clock to that of the wall. */
  takeChanged(statesMax: number, shiftMs: number, savedAtMs: number): readonly RouterState[] {
    const taken: RouterState[] = [];
    for (const kind of ['credential', 'target', 'model'] as const) {
      for (const key of this.#unsaved[kind]) {
        if (taken.length >= statesMax) return taken;
        this.#unsaved[kind].delete(key);
        const parts = this.#partsOf(kind, key, shiftMs);
        if (parts !== null) taken.push({ kind, key, savedAtMs, text: writeSaved(parts) });
      }
    }
    return taken;
  }

  /** `shiftMs`: from the clock of the wall to the steady one. */
  restore({ kind, key, text }: RouterState, shiftMs: number): void {
    const saved = readSaved(text);
    if (saved === null) return;
    switch (kind) {
      case 'target':
        return obtain(this.#states, key, newState).restore(saved, shiftMs);
      case 'credential':
        return restoreCredential(obtain(this.#credentials, key, newCredential), saved, shiftMs);
      case 'model':
        return obtain(this.#demands, key, newDemand).restore(saved['demand'] ?? {}, shiftMs);
      default:
        return kind satisfies never;
    }
  }

  #make(target: Target): Candidate {
    const { channel, upstreamModel, cost } = target;
    const first = channel.credentials[0];
    const secret = first === undefined ? '' : this.#hashCredential(first.secret);
    const credentialKey = `${channel.id}\n${secret}`;
    const key = `${channel.id}\n${upstreamModel}\n${secret}`;
    return {
      target,
      key,
      credentialKey,
      state: obtain(this.#states, key, newState),
      rates: cost === null ? [] : ratesOf(cost),
      credential: obtain(this.#credentials, credentialKey, newCredential),
      label: null,
      serves: {},
    };
  }

  #partsOf(kind: RouterState['kind'], key: string, shiftMs: number): SavedParts | null {
    switch (kind) {
      case 'target':
        return this.#states.get(key)?.save(shiftMs) ?? null;
      case 'credential':
        return savedCredential(this.#credentials.get(key), shiftMs);
      case 'model': {
        const demand = this.#demands.get(key);
        return demand === undefined ? null : { demand: demand.save(shiftMs) };
      }
      default:
        return kind satisfies never;
    }
  }
}

const newState = () => new TargetState();
const newDemand = () => new Demand();
const newCredential = (): CredentialState => ({ blockedUntilMs: 0, strikes: 0 });

function savedCredential(credential: CredentialState | undefined, shiftMs: number): SavedParts | null {
  if (credential === undefined) return null;
  const { blockedUntilMs, strikes } = credential;
  return { credential: { blockedUntilMs: blockedUntilMs + shiftMs, strikes } };
}

function restoreCredential(credential: CredentialState, saved: SavedParts, shiftMs: number): void {
  const { blockedUntilMs, strikes } = saved['credential'] ?? {};
  if (blockedUntilMs === undefined) return;
  credential.blockedUntilMs = blockedUntilMs + shiftMs;
  credential.strikes = strikes ?? 0;
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
