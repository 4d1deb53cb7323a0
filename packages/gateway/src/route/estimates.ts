import type { Model, Target } from '../catalogue/catalogue.ts';
import { barEndsAtMs, barToAll, type CredentialSlot, isRefused, type SlotNeed } from './credential.ts';
import { type PriceRates, ratesFor } from './price-rates.ts';
import type { Cache } from './sticky.ts';
import {
  type Candidate,
  type ChannelLoad,
  canProbe,
  type Excluded,
  type LeftOut,
  type Pulses,
} from './target.ts';
import type { Demand } from './traffic.ts';

/** A row is read again after so long, however quiet its target was: what it knows fades. Milliseconds. */
const rowMsMin = 200;
const rowMsMax = 5000;
/** Little fades in a moment where nobody has asked for long: a row is kept for this share of that time. */
const rowShare = 1 / 16;

/** Numbers by place. */
export type EstimateColumn = Float64Array;

const nobodyRefused: SlotNeed = { refused: new Set(), tokens: 0 };

/**
 * The estimates of a model's targets, a row each: whether it may be asked, and the numbers that its score is made of. A row is
 * kept until something happens to its target, its time is over, or it is a moment old: so a call reads columns, and
 * asks hardly any target for what it knows. A thousand targets cost a call some microseconds.
 */
export class Estimates {
  /** In an order that does not depend on how they were listed. A target's place here is its place in every column. */
  readonly candidates: readonly Candidate[];
  readonly demand: Demand;
  /** By place: whether one token can be asked for there. */
  readonly canProbe: readonly boolean[];
  /** The operator's; the lowest comes first. */
  readonly tiers: EstimateColumn;
  /** Tokens of a prompt that an upstream's own limits leave room for. */
  readonly roomTokens: EstimateColumn;
  readonly chances: EstimateColumn;
  /** Until first content, and from there for each token of an answer; milliseconds. */
  readonly beginsMs: EstimateColumn;
  readonly tokenMs: EstimateColumn;
  /** How long the next call may have to wait, by those that wait already; milliseconds. */
  readonly noticedMs: EstimateColumn;
  readonly failureMs: EstimateColumn;
  readonly breakShares: EstimateColumn;
  readonly slowStarts: EstimateColumn;
  readonly cacheShares: EstimateColumn;
  /** Pico-dollars per token or call, for prompts as long as `rateFor` was told last; no number where the price is not known. */
  readonly rates: Readonly<
    Record<'input' | 'output' | 'perCall' | 'cacheRead' | 'cacheWrite', EstimateColumn>
  >;
  /** Room in which the scores of the call at hand are worked out; nothing is left in it for the next one. */
  readonly scratch: Readonly<
    Record<'prices' | 'successes' | 'failures' | 'scores' | 'weights', EstimateColumn>
  >;
  /** True when somebody sells a cached prefix at another price, so that it matters where a session was. */
  readonly hasCaches: boolean;
  /** True when it matters to any call where its session was. */
  readonly keepsSessions: boolean;
  readonly hasUnknownPrices: boolean;
  readonly hasTwins: boolean;
  readonly #hasTiers: boolean;
  #ratedFor: number | null = null;
  #places: Map<Cache, number> | null = null;
  readonly #bars: (LeftOut | null)[];
  readonly #pulses: Pulses;
  readonly #statePulses: Int32Array;
  readonly #loadPulses: Int32Array;
  readonly #versions: EstimateColumn;
  readonly #goodUntilMs: EstimateColumn;
  #sums: PriceSums | null = null;

  constructor(candidates: readonly Candidate[], model: Model, demand: Demand, pulses: Pulses) {
    const column = () => new Float64Array(candidates.length);
    this.candidates = candidates;
    this.demand = demand;
    this.canProbe = candidates.map((candidate) => canProbe(model, candidate));
    this.tiers = Float64Array.from(candidates, ({ target }) => target.channel.priority);
    this.roomTokens = column();
    this.chances = column();
    this.beginsMs = column();
    this.tokenMs = column();
    this.noticedMs = column();
    this.failureMs = column();
    this.breakShares = column();
    this.slowStarts = column();
    this.cacheShares = column();
    this.rates = {
      input: column(),
      output: column(),
      perCall: column(),
      cacheRead: column(),
      cacheWrite: column(),
    };
    this.scratch = {
      prices: column(),
      successes: column(),
      failures: column(),
      scores: column(),
      weights: column(),
    };
    this.#bars = candidates.map(() => null);
    this.#pulses = pulses;
    this.#statePulses = Int32Array.from(candidates, ({ state }) => state.pulse);
    this.#loadPulses = Int32Array.from(candidates, ({ load }) => load.pulse);
    this.#versions = column().fill(-1);
    this.#goodUntilMs = column();
    this.hasCaches = candidates.some(({ rates }) => rates.some(hasCachePrice));
    // Beside no other target and no other credential a session has one place to go.
    this.keepsSessions =
      candidates.some(({ slots }) => slots.length > 1) || (this.hasCaches && model.hasChoice);
    this.#hasTiers = candidates.some(({ rates }) => rates.length > 1);
    this.hasUnknownPrices = candidates.some(({ rates }) => rates.length === 0);
    this.hasTwins = new Set(candidates.map(({ load }) => load)).size < candidates.length;
  }

  /** Brings a row up to date. Why its target may not be asked, whatever is asked of it; `due` where a call may find out. */
  read(place: number, nowMs: number): LeftOut | null {
    const version = this.#versionOf(place);
    const isGood = version === this.#versions[place] && nowMs < (this.#goodUntilMs[place] ?? 0);
    if (!isGood) this.#refresh(place, version, nowMs);
    return this.#bars[place] ?? null;
  }

  #versionOf(place: number): number {
    return this.#pulses.at(this.#statePulses[place] ?? 0) + this.#pulses.at(this.#loadPulses[place] ?? 0);
  }

  /** Reads every row again. */
  readAll(nowMs: number): void {
    this.#versions.fill(-1);
    for (let place = 0; place < this.candidates.length; place++) this.read(place, nowMs);
  }

  /** The price of a mean call, over all targets whose price is known, ready or not; 0 when none is. Pico-dollars. */
  meanPrice(): number {
    const { inputTokens, outputTokens } = this.demand;
    if (this.#sums === null || inputTokens <= this.#sums.above || inputTokens > this.#sums.upTo)
      this.#sums = sumsOf(this.candidates, inputTokens);
    const { known, input, output, perCall } = this.#sums;
    return known === 0 ? 0 : (perCall + inputTokens * input + outputTokens * output) / known;
  }

  /** Puts the rates in force that hold for a prompt of so many tokens. */
  rateFor(inputTokens: number): void {
    if (this.#ratedFor !== null && (!this.#hasTiers || this.#ratedFor === inputTokens)) return;
    this.#ratedFor = inputTokens;
    const { input, output, perCall, cacheRead, cacheWrite } = this.rates;
    for (const [place, { rates }] of this.candidates.entries()) {
      const fitting = ratesFor(rates, inputTokens);
      input[place] = fitting?.input ?? Number.NaN;
      output[place] = fitting?.output ?? 0;
      perCall[place] = fitting?.perCall ?? 0;
      cacheRead[place] = fitting?.cacheRead ?? 0;
      cacheWrite[place] = fitting?.cacheWrite ?? 0;
    }
  }

  /** The place of the target that a cache belongs to; undefined when it is not of this model. */
  placeOf(cache: Cache): number | undefined {
    this.#places ??= new Map(
      this.candidates.flatMap(({ slots }, place) => slots.map(({ use }) => [use, place] as const)),
    );
    return this.#places.get(cache);
  }

  #refresh(place: number, version: number, nowMs: number): void {
    const candidate = this.candidates[place];
    if (candidate === undefined) return;
    const { state, slots } = candidate;
    const bar = barOf(candidate, slots, nobodyRefused, this.canProbe[place] === true, nowMs);
    const quantiles = state.latency.quantiles(nowMs);
    const noticedMs = state.silence.noticedMs(nowMs, quantiles);
    const slowStart = state.circuit.slowStart(nowMs);
    this.#bars[place] = bar;
    this.roomTokens[place] = roomOf(slots, nowMs);
    this.chances[place] = state.health.chance(nowMs);
    this.beginsMs[place] = state.latency.expectedMs(0, true, nowMs);
    this.tokenMs[place] = state.latency.writingMs(1);
    this.noticedMs[place] = noticedMs;
    this.failureMs[place] = state.health.failureMs;
    this.breakShares[place] = state.health.breakShare(nowMs);
    this.slowStarts[place] = slowStart;
    this.cacheShares[place] = state.cacheShare;
    this.#versions[place] = version;
    const isMoving = noticedMs > 0 || slowStart > 1;
    const quietMs = Math.min(rowMsMax, Math.max(rowMsMin, (nowMs - state.lastSentMs) * rowShare));
    const fadesAtMs = nowMs + (isMoving ? rowMsMin / 2 : quietMs);
    const turnsAtMs = bar === null ? state.silence.turnsAtMs(nowMs, quantiles) : endOf(candidate, bar, nowMs);
    this.#goodUntilMs[place] = Math.min(fadesAtMs, turnsAtMs);
  }
}

/**
 * The targets of one model that calls of a group and a surface may be sent to at all. It is made when the first such call
 * comes and lasts as long as the catalogue: what depends on configuration alone is decided once.
 */
export interface Pool {
  readonly estimates: Estimates;
  /** Their places among the estimates. */
  readonly members: readonly number[];
  /** The others, and why. */
  readonly left: readonly Excluded[];
  /** The others as the record of a call has them; null until one is made. */
  leftText: string | null;
  readonly hasLacks: boolean;
  readonly hasDrained: boolean;
  /** The smallest context window that is declared; infinite when none is. */
  readonly leastContext: number;
}

/**
 * Why a target may not be asked for the state it is in; null when it may. What is wrong with the target, its channel or its
 * credentials comes before what nobody is left out for when nothing else is left.
 */
export function barOf(
  { target: { channel }, state, load }: Candidate,
  slots: readonly CredentialSlot[],
  need: SlotNeed,
  isProbed: boolean,
  nowMs: number,
): LeftOut | null {
  if (state.missingUntilMs > nowMs) return 'model-missing';
  if (channel.maxConcurrency !== null && load.inFlight >= channel.maxConcurrency) return 'full';
  const bar = barToAll(slots, need, nowMs);
  if (bar !== null) return bar;
  const circuit = state.circuit.state(nowMs);
  if (circuit === 'open' || circuit === 'probing') return circuit;
  // Until one comes back well, probes of the background find out what is due.
  if (circuit === 'due') return state.circuit.isPromising || !isProbed ? 'due' : 'open';
  return state.silence.isOverdue(nowMs, state.latency.quantiles(nowMs)) ? 'overdue' : null;
}

/** Until when a target certainly stays left out; now, where that may change with every moment. */
function endOf({ state, slots }: Candidate, bar: LeftOut, nowMs: number): number {
  if (bar === 'model-missing') return state.missingUntilMs;
  if (bar === 'credential' || bar === 'blocked') return barEndsAtMs(slots, bar, nowMs);
  if (bar === 'open') return state.circuit.openUntilMs;
  return nowMs;
}

function roomOf(slots: readonly CredentialSlot[], nowMs: number): number {
  let room = 0;
  for (const slot of slots)
    if (!isRefused(slot, nowMs)) room = Math.max(room, slot.use.capacity.roomTokens(nowMs));
  return room;
}

function hasCachePrice({ input, cacheRead, cacheWrite }: PriceRates): boolean {
  return cacheRead !== input || cacheWrite > input;
}

/** Sums over the targets whose price is known, for prompts of more than `above` tokens and `upTo` so many. */
interface PriceSums {
  readonly above: number;
  readonly upTo: number;
  readonly known: number;
  readonly input: number;
  readonly output: number;
  readonly perCall: number;
}

function sumsOf(candidates: readonly Candidate[], inputTokens: number): PriceSums {
  const sums = { above: 0, upTo: Number.POSITIVE_INFINITY, known: 0, input: 0, output: 0, perCall: 0 };
  for (const { rates } of candidates) {
    let fitting: PriceRates | null = null;
    for (const tier of rates) {
      if (tier.aboveInputTokens < inputTokens || tier.aboveInputTokens === 0) fitting = tier;
      else sums.upTo = Math.min(sums.upTo, tier.aboveInputTokens);
    }
    if (fitting === null) continue;
    sums.above = Math.max(sums.above, fitting.aboveInputTokens);
    sums.known++;
    sums.input += fitting.input;
    sums.output += fitting.output;
    sums.perCall += fitting.perCall;
  }
  return sums;
}

/** Targets named for an attempt: those that cannot be asked for a call are passed over. */
const targetsMax = 12;

/** The first of all, and then those that are listed; none twice. */
export function listedTargets(
  { candidates }: Estimates,
  first: Candidate | null,
  places: readonly number[],
): readonly Target[] {
  const order = first === null ? [] : [first];
  for (const place of places) {
    const candidate = candidates[place];
    if (candidate !== undefined) order.push(candidate);
  }
  return oncePerChannel(order);
}

export function oncePerChannel(candidates: readonly Candidate[]): readonly Target[] {
  const loads: ChannelLoad[] = [];
  const targets: Target[] = [];
  for (const { target, load } of candidates) {
    if (loads.includes(load)) continue;
    loads.push(load);
    targets.push(target);
    if (targets.length >= targetsMax) break;
  }
  return targets;
}
