import type { ProtocolId } from '@headgate/protocols';
import { type Credential, canServe, type Model, speaks, type Target } from '../catalogue/catalogue.ts';
import type { RouterState } from '../ports/store.ts';
import { type CredentialSlot, CredentialUse, isRefused, Standing } from './credential.ts';
import { Estimates, type Pool } from './estimates.ts';
import { Hang } from './latency.ts';
import { ratesOf } from './price-rates.ts';
import type { RouteRequest } from './route.ts';
import { readSaved, type SavedParts, writeSaved } from './saved.ts';
import { lift } from './status.ts';
import { type Candidate, type ChannelLoad, type Excluded, Pulses, TargetState } from './target.ts';
import { Demand } from './traffic.ts';

/** States kept when channels come and go; the ones made first are forgotten first. */
const statesMax = 20_000;

const kinds = ['credential', 'capacity', 'target', 'model'] as const;

/** Pools by the surface's protocol, and apart those of calls that are never translated. */
type Shelf = Record<'any' | 'asItIs', Partial<Record<ProtocolId, Pool>>>;

interface ModelPools {
  readonly estimates: Estimates;
  /** For groups that may use every channel. */
  readonly open: Shelf;
  readonly restricted: WeakMap<ReadonlySet<string>, Shelf>;
}

/** Keyed, so that a name that is stored betrays nothing of the secret. */
export type HashCredential = (secret: string) => string;

/** Keeps what is known of targets while the catalogue around them is swapped. */
export class Candidates {
  readonly pulses = new Pulses();
  readonly #hashCredential: HashCredential;
  readonly #newState = () => new TargetState(this.pulses.next());
  readonly #newLoad = (): ChannelLoad => ({
    inFlight: 0,
    pulse: this.pulses.next(),
    lastUsedMs: 0,
    hang: new Hang(),
  });
  readonly #candidates = new WeakMap<Target, Candidate>();
  readonly #pools = new WeakMap<readonly Target[], ModelPools>();
  readonly #states = new Map<string, TargetState>();
  readonly #standings = new Map<string, Standing>();
  readonly #uses = new Map<string, CredentialUse>();
  readonly #loads = new Map<string, ChannelLoad>();
  readonly #demands = new Map<string, Demand>();
  /** The keys of what has changed since it was last saved. */
  readonly #unsaved = unsavedKeys();
  /** The same of targets in trouble, which is what matters most to the next process. */
  readonly #unsavedTrouble = unsavedKeys();

  constructor(hashCredential: HashCredential) {
    this.#hashCredential = hashCredential;
  }

  poolOf({ model, protocol, asItIs, routing: { channels } }: RouteRequest): Pool {
    const { estimates, open, restricted } = this.#poolsOf(model);
    let shelf = open;
    if (channels !== null) {
      shelf = restricted.get(channels) ?? newShelf();
      restricted.set(channels, shelf);
    }
    const pools = shelf[asItIs ? 'asItIs' : 'any'];
    pools[protocol] ??= poolFor(estimates, protocol, asItIs, channels);
    return pools[protocol];
  }

  estimatesOf(model: Model): Estimates {
    return this.#poolsOf(model).estimates;
  }

  #poolsOf(model: Model): ModelPools {
    const known = this.#pools.get(model.targets);
    if (known !== undefined) return known;
    const candidates = model.targets.map((target) => this.candidate(target));
    candidates.sort((a, b) => (a.key < b.key ? -1 : 1));
    const demand = obtain(this.#demands, model.id, newDemand);
    const made = {
      estimates: new Estimates(candidates, model, demand, this.pulses),
      open: newShelf(),
      restricted: new WeakMap<ReadonlySet<string>, Shelf>(),
    };
    this.#pools.set(model.targets, made);
    return made;
  }

  candidate(target: Target): Candidate {
    const known = this.#candidates.get(target);
    if (known !== undefined) return known;
    const made = this.#make(target);
    this.#candidates.set(target, made);
    return made;
  }

  /** The operator lifts what keeps calls from a target; see `lift`. Beats for all targets of the channel: they share credentials. */
  lift(
    target: Target,
    credentialId: string | null,
    nowMs: number,
    onBack: (afterMs: number) => void,
  ): number {
    const candidate = this.candidate(target);
    const { circuit } = candidate.state;
    if (!circuit.isClosed) onBack(nowMs - circuit.outSinceMs);
    const lifted = lift(candidate, credentialId, nowMs);
    for (const { accountKey, useKey } of candidate.slots) {
      this.#unsavedTrouble.credential.add(accountKey);
      this.#unsavedTrouble.capacity.add(useKey);
    }
    this.#unsavedTrouble.target.add(candidate.key);
    this.pulses.beat(candidate.state.pulse);
    this.pulses.beat(candidate.load.pulse);
    return lifted;
  }

  /** Something has been learned of a target, and of calls of the model. */
  changed(candidate: Candidate, slot: CredentialSlot, modelId: string, nowMs: number): void {
    const { key, state } = candidate;
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
        return obtain(this.#states, key, this.#newState).restore(saved, shiftMs);
      case 'credential':
        return obtain(this.#standings, key, newStanding).restore(saved, shiftMs);
      case 'capacity':
        return this.#useOf(key).restore(saved, shiftMs);
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
      state: obtain(this.#states, key, this.#newState),
      rates: cost === null ? [] : ratesOf(cost),
      slots: [slot(first ?? null), ...others.map(slot)],
      load: obtain(this.#loads, channel.id, this.#newLoad),
      label: null,
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
    return obtain(
      this.#uses,
      useKey,
      () => new CredentialUse(obtain(this.#states, targetKey, this.#newState)),
    );
  }

  #partsOf(kind: RouterState['kind'], key: string, shiftMs: number): SavedParts | null {
    switch (kind) {
      case 'target':
        return this.#states.get(key)?.save(shiftMs) ?? null;
      case 'credential':
        return this.#standings.get(key)?.save(shiftMs) ?? null;
      case 'capacity':
        return this.#uses.get(key)?.save(shiftMs) ?? null;
      case 'model': {
        const demand = this.#demands.get(key);
        return demand === undefined ? null : { demand: demand.save(shiftMs) };
      }
      default:
        return kind satisfies never;
    }
  }
}

function isBlocked(slot: CredentialSlot, nowMs: number): boolean {
  return isRefused(slot, nowMs) || slot.use.capacity.blockedUntilMs > nowMs;
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

const newDemand = () => new Demand();
const newStanding = () => new Standing();
const newShelf = (): Shelf => ({ any: {}, asItIs: {} });

function poolFor(
  estimates: Estimates,
  protocol: ProtocolId,
  asItIs: boolean,
  channels: ReadonlySet<string> | null,
): Pool {
  const members: number[] = [];
  const left: Excluded[] = [];
  for (const [place, candidate] of estimates.candidates.entries()) {
    const { target } = candidate;
    const isServed = canServe(target, protocol) && (!asItIs || speaks(target, protocol));
    if (!isServed) left.push({ candidate, reason: 'disabled' });
    else if (channels?.has(target.channel.id) === false) left.push({ candidate, reason: 'not-allowed' });
    else members.push(place);
  }
  const targets = members.flatMap((place) => estimates.candidates[place]?.target ?? []);
  return {
    estimates,
    members,
    left,
    leftText: null,
    hasLacks: targets.some(({ lacks }) => lacks.size > 0),
    hasDrained: targets.some(({ channel }) => channel.drain),
    leastContext: Math.min(...targets.map(({ contextWindow }) => contextWindow ?? Number.POSITIVE_INFINITY)),
  };
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
