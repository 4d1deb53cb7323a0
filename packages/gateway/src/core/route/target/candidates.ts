import type { ProtocolId } from '@headgate/protocols';
import type { RouterState } from '../../../ports/router-state-store.ts';
import type { Credential, Model, Target } from '../../catalogue.ts';
import { Demand } from '../choice/demand.ts';
import { type PriceRates, ratesOf } from '../choice/price-rates.ts';
import { type CredentialSlot, type CredentialSlots, CredentialUse, Standing } from './credential-slot.ts';
import { Hang } from './hang.ts';
import { readSaved, type SavedParts, writeSaved } from './saved.ts';
import { TargetState } from './target-state.ts';

/** States kept when channels come and go; the ones made first are forgotten first. */
const statesMax = 20_000;

const kinds = ['credential', 'capacity', 'target', 'model'] as const;

/** A target as the router sees it. */
export interface Candidate {
  readonly target: Target;
  /** Of channel and upstream model: a new credential changes nothing about their health. */
  readonly key: string;
  readonly state: TargetState;
  /** Empty when the price is not known. */
  readonly rates: readonly PriceRates[];
  /** One for each credential of the channel; one without when it needs none. */
  readonly slots: CredentialSlots;
  /** Shared by all targets of the channel. */
  readonly load: ChannelLoad;
  /** Its names as a record of the call has them, once one was made: to write them takes as long as all the rest. */
  label: string | null;
  /** What it takes, as far as it has been asked for. */
  readonly serves: Partial<Record<ProtocolId, boolean>>;
}

export interface ChannelLoad {
  /** Attempts under way. */
  inFlight: number;
  /** Of all its models. */
  readonly hang: Hang;
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
  readonly #standings = new Map<string, Standing>();
  readonly #uses = new Map<string, CredentialUse>();
  readonly #loads = new Map<string, ChannelLoad>();
  readonly #demands = new Map<string, Demand>();
  /** What has changed since it was last saved. */
  readonly #unsaved = unsavedKeys();
  /** The same of targets in trouble, which is what matters most to the next process. */
  readonly #unsavedTrouble = unsavedKeys();

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
  changed({ key, state }: Candidate, slot: CredentialSlot, modelId: string, nowMs: number): void {
    const hasTrouble = !state.circuit.isClosed || isBlocked(slot, nowMs);
    const unsaved = hasTrouble ? this.#unsavedTrouble : this.#unsaved;
    unsaved.target.add(key);
    unsaved.credential.add(slot.accountKey);
    unsaved.capacity.add(slot.useKey);
    unsaved.model.add(modelId);
  }

  /** Up to so many of what has changed since they were last taken. `shiftMs`: from the steady clock to that of the wall. */
  takeChanged(statesMax: number, shiftMs: number, savedAtMs: number): readonly RouterState[] {
    const taken: RouterState[] = [];
    for (const unsaved of [this.#unsavedTrouble, this.#unsaved]) {
      for (const [kind, key] of inTurn(unsaved)) {
        if (taken.length >= statesMax) return taken;
        unsaved[kind].delete(key);
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
        return obtain(this.#standings, key, newStanding).restore(saved, shiftMs);
      case 'capacity':
        return this.#useOf(key).capacity.restore(saved['capacity'] ?? {}, shiftMs);
      case 'model':
        return obtain(this.#demands, key, newDemand).restore(saved['demand'] ?? {}, shiftMs);
      default:
        return kind satisfies never;
    }
  }

  #make(target: Target): Candidate {
    const { channel, upstreamModel, cost } = target;
    const key = `${channel.id}\n${upstreamModel}`;
    const slot = (credential: Credential | null) => this.#slotOf(channel.id, key, credential);
    const [first, ...others] = channel.credentials;
    return {
      target,
      key,
      state: obtain(this.#states, key, newState),
      rates: cost === null ? [] : ratesOf(cost),
      slots: [slot(first ?? null), ...others.map(slot)],
      load: obtain(this.#loads, channel.id, newLoad),
      label: null,
      serves: {},
    };
  }

  #slotOf(channelId: string, targetKey: string, credential: Credential | null): CredentialSlot {
    const secret = credential === null ? '' : this.#hashCredential(credential.secret);
    const accountKey = `${channelId}\n${secret}`;
    const useKey = `${targetKey}\n${secret}`;
    const standing = obtain(this.#standings, accountKey, newStanding);
    return { credential, accountKey, useKey, standing, use: this.#useOf(useKey) };
  }

  #useOf(useKey: string): CredentialUse {
    const targetKey = useKey.slice(0, useKey.lastIndexOf('\n'));
    return obtain(this.#uses, useKey, () => new CredentialUse(obtain(this.#states, targetKey, newState)));
  }

  #partsOf(kind: RouterState['kind'], key: string, shiftMs: number): SavedParts | null {
    switch (kind) {
      case 'target':
        return this.#states.get(key)?.save(shiftMs) ?? null;
      case 'credential':
        return this.#standings.get(key)?.save(shiftMs) ?? null;
      case 'capacity': {
        const use = this.#uses.get(key);
        return use === undefined ? null : { capacity: use.capacity.save(shiftMs) };
      }
      case 'model': {
        const demand = this.#demands.get(key);
        return demand === undefined ? null : { demand: demand.save(shiftMs) };
      }
      default:
        return kind satisfies never;
    }
  }
}

function isBlocked({ standing, use }: CredentialSlot, nowMs: number): boolean {
  return Math.max(standing.blockedUntilMs, use.capacity.blockedUntilMs) > nowMs;
}

/** Keys by kind, the first changed first. */
type UnsavedKeys = Readonly<Record<RouterState['kind'], Set<string>>>;

/** One of each kind after the other: a kind that changes faster than it is saved must not keep the others from it. */
function* inTurn(unsaved: UnsavedKeys): Generator<readonly [RouterState['kind'], string]> {
  let queues = kinds.map((kind) => [kind, unsaved[kind].values()] as const);
  while (queues.length > 0) {
    const left: typeof queues = [];
    for (const queue of queues) {
      const [kind, keys] = queue;
      const { done, value } = keys.next();
      if (done === true) continue;
      yield [kind, value];
      left.push(queue);
    }
    queues = left;
  }
}

function unsavedKeys(): UnsavedKeys {
  return { target: new Set(), credential: new Set(), capacity: new Set(), model: new Set() };
}

const newState = () => new TargetState();
const newDemand = () => new Demand();
const newStanding = () => new Standing();
const newLoad = (): ChannelLoad => ({ inFlight: 0, hang: new Hang() });

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
