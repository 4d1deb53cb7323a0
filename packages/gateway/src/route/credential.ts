import type { Credential } from '../catalogue/catalogue.ts';
import { Capacity } from './capacity.ts';
import type { SavedParts } from './saved.ts';
import type { Keeper } from './sticky.ts';
import { type Cache, type Session, warmPrefix } from './sticky.ts';

/** A credential that was refused is left alone this long, and twice as long each time it is refused again. */
const blockMsMin = 60_000;
const blockMsMax = 3_600_000;
/** For one model, which is on one caller's word. */
const useBlockMsMax = 300_000;

/** The health of a credential at its upstream, whatever the model. Times on a steady clock. */
export class Standing {
  blockedUntilMs = 0;
  #strikes = 0;
  /** The model by which it was refused last, since it was accepted. */
  #accuser: CredentialUse | null = null;

  /**
   * One refusal may be about the model or about what a caller asked for, so it stands for that model. A second model or a probe
   * says that it is the credential, and so does any model once that was known. A call sent before the block says nothing new.
   */
  refused(use: CredentialUse, isProbe: boolean, nowMs: number): void {
    if (this.blockedUntilMs > nowMs) return;
    const isCertain = isProbe || this.#strikes > 0 || (this.#accuser ?? use) !== use;
    this.#accuser = use;
    if (!isCertain) return use.refused(nowMs);
    this.blockedUntilMs = nowMs + Math.min(blockMsMax, blockMsMin * 2 ** this.#strikes);
    this.#strikes++;
  }

  accepted(use: CredentialUse): void {
    this.#strikes = 0;
    this.#accuser = null;
    use.accepted();
  }

  /** The operator says that it works: the next refusal is the first again. */
  lift(): void {
    this.blockedUntilMs = 0;
    this.#strikes = 0;
    this.#accuser = null;
  }

  save(shiftMs: number): SavedParts {
    return { credential: { blockedUntilMs: this.blockedUntilMs + shiftMs, strikes: this.#strikes } };
  }

  restore(saved: SavedParts, shiftMs: number): void {
    const { blockedUntilMs, strikes } = saved['credential'] ?? {};
    if (blockedUntilMs === undefined) return;
    this.blockedUntilMs = blockedUntilMs + shiftMs;
    this.#strikes = strikes ?? 0;
  }
}

/** The calls a credential can take of one model, and the caches that are its account's. */
export class CredentialUse implements Cache {
  readonly capacity = new Capacity();
  /** It was refused for this model, and perhaps for this one only. */
  refusedUntilMs = 0;
  #strikes = 0;
  /** Grows from call to call: the one used longest ago has the lowest. */
  turn = 0;
  /** How faithful caches are is the channel's, whoever asks. */
  readonly #target: Cache;

  constructor(target: Cache) {
    this.#target = target;
  }

  refused(nowMs: number): void {
    if (this.refusedUntilMs > nowMs) return;
    this.refusedUntilMs = nowMs + Math.min(useBlockMsMax, blockMsMin * 2 ** this.#strikes);
    this.#strikes++;
  }

  accepted(): void {
    this.#strikes = 0;
  }

  lift(): void {
    this.refusedUntilMs = 0;
    this.#strikes = 0;
    this.capacity.lift();
  }

  save(shiftMs: number): SavedParts {
    const use = { refusedUntilMs: this.refusedUntilMs + shiftMs, strikes: this.#strikes };
    return { capacity: this.capacity.save(shiftMs), use };
  }

  restore({ capacity, use }: SavedParts, shiftMs: number): void {
    this.capacity.restore(capacity ?? {}, shiftMs);
    if (use?.['refusedUntilMs'] === undefined) return;
    this.refusedUntilMs = use['refusedUntilMs'] + shiftMs;
    this.#strikes = use['strikes'] ?? 0;
  }

  get cacheShare(): number {
    return this.#target.cacheShare;
  }

  foundCached(tokens: number, expectedTokens: number): void {
    this.#target.foundCached(tokens, expectedTokens);
  }
}

/** A credential of a channel, as it is used for one of its models. */
export interface CredentialSlot {
  /** Null where the channel needs none. */
  readonly credential: Credential | null;
  /** Names channel and credential, the latter as a hash. */
  readonly accountKey: string;
  /** Names the model, too. */
  readonly useKey: string;
  /** Shared by all models: what is wrong with a credential is wrong for all of them. */
  readonly standing: Standing;
  readonly use: CredentialUse;
}

/** One for each credential of a channel, in its order. */
export type CredentialSlots = readonly [CredentialSlot, ...CredentialSlot[]];

/** The needs of a call that its credential must meet. */
export interface SlotNeed {
  /** The ones that were refused to this call. */
  readonly refused: ReadonlySet<Credential>;
  readonly tokens: number;
}

/** A request that goes on from what one account keeps gets the slot of that account, if it is there; any other gets all. */
export function slotsWithin(slots: CredentialSlots, keeper: Keeper | null): CredentialSlots {
  const keeping = slots.find(({ accountKey }) => accountKey === keeper?.accountKey);
  return keeping === undefined ? slots : [keeping];
}

/** Why a call is not sent with a credential; those that a call in need may overlook come first. */
const bars = ['capped', 'no-headroom', 'blocked', 'credential', 'tried'] as const;

export type SlotBar = (typeof bars)[number];

function barTo(
  { credential, standing, use }: CredentialSlot,
  { refused, tokens }: SlotNeed,
  nowMs: number,
): SlotBar | null {
  if (credential !== null && refused.has(credential)) return 'tried';
  if (standing.blockedUntilMs > nowMs || use.refusedUntilMs > nowMs) return 'credential';
  const capacity = use.capacity.state(nowMs, tokens);
  return capacity === 'free' ? null : capacity;
}

/** Why none of them can be used; null when one can. Of several reasons the one that is the least. */
export function barToAll(slots: readonly CredentialSlot[], need: SlotNeed, nowMs: number): SlotBar | null {
  let least: SlotBar | null = 'tried';
  for (const slot of slots) {
    const bar = barTo(slot, need, nowMs);
    if (bar === null) return null;
    if (severity(bar) < severity(least)) least = bar;
  }
  return least;
}

/**
 * The one a call is sent with. Of those that bar it the least: where its session is warmest, else the one used longest ago,
 * so that they take turns.
 */
export function chooseSlot(
  slots: CredentialSlots,
  need: SlotNeed,
  session: Session | null,
  nowMs: number,
): CredentialSlot {
  let [chosen] = slots;
  if (slots.length === 1) return chosen;
  for (const slot of slots) {
    const better =
      severity(barTo(slot, need, nowMs)) - severity(barTo(chosen, need, nowMs)) ||
      warmPrefix(session, chosen.use, nowMs) - warmPrefix(session, slot.use, nowMs) ||
      slot.use.turn - chosen.use.turn;
    if (better < 0) chosen = slot;
  }
  return chosen;
}

function severity(bar: SlotBar | null): number {
  return bar === null ? -1 : bars.indexOf(bar);
}

/** Tells if a call that nobody waits for may be made with it. */
export function mayProbeWith(slot: CredentialSlot, nowMs: number): boolean {
  return !isRefused(slot, nowMs) && slot.use.capacity.blockedUntilMs <= nowMs;
}

/** Tells if the upstream has lately refused the credential, at all or for this model. */
export function isRefused(slot: CredentialSlot, nowMs: number): boolean {
  return refusedUntilMs(slot) > nowMs;
}

function refusedUntilMs({ standing, use }: CredentialSlot): number {
  return Math.max(standing.blockedUntilMs, use.refusedUntilMs);
}

/** When a reason ends for which all of them are left out: that of the first one. */
export function barEndsAtMs(
  slots: readonly CredentialSlot[],
  bar: Exclude<SlotBar, 'tried'>,
  nowMs: number,
): number {
  return Math.min(...slots.map((slot) => endOf(slot, bar, nowMs)));
}

/** Infinite where another reason holds. */
function endOf(slot: CredentialSlot, bar: Exclude<SlotBar, 'tried'>, nowMs: number): number {
  const { capacity } = slot.use;
  if (bar === 'credential') return refusedUntilMs(slot);
  if (isRefused(slot, nowMs)) return Number.POSITIVE_INFINITY;
  if (bar === 'capped') return capacity.freeAtMs(nowMs);
  if (bar === 'no-headroom') return capacity.resetsAtMs;
  return capacity.blockedUntilMs > nowMs ? capacity.blockedUntilMs : Number.POSITIVE_INFINITY;
}
