import { smallestProtocol } from '@headgate/protocols';
import type { Model, Target } from '../catalogue/catalogue.ts';
import { Circuit } from './circuit.ts';
import type { CredentialSlots } from './credential.ts';
import type { Uniform } from './health.ts';
import { TargetHealth } from './health.ts';
import { Hang, Latency, Silence } from './latency.ts';
import type { PriceRates } from './price-rates.ts';
import type { SavedParts } from './saved.ts';

/** A target as the router sees it. */
export interface Candidate {
  readonly target: Target;
  /** The channel and the upstream model: a new credential changes nothing about their health. */
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
}

const pulsesMax = 32_768;

/**
 * Counts by number that beat when something happens to a target or a channel. They lie side by side, so that a call sees in a
 * thousand of them at once which have beaten. Where there are more, some share one: they beat too often, and never too seldom.
 */
export class Pulses {
  readonly #beats = new Int32Array(pulsesMax);
  #made = 0;

  /** The number of another one. */
  next(): number {
    this.#made++;
    return this.#made % pulsesMax;
  }

  beat(pulse: number): void {
    this.#beats[pulse] = this.at(pulse) + 1;
  }

  at(pulse: number): number {
    return this.#beats[pulse] ?? 0;
  }
}

export interface ChannelLoad {
  /** Attempts under way. */
  inFlight: number;
  /** Beats when something has happened to all targets of the channel. */
  readonly pulse: number;
  /** When an attempt was last sent to it, or ended. */
  lastUsedMs: number;
  /** The hang of all its models together. */
  readonly hang: Hang;
}

/** Tells if one token can be asked for there. Where it cannot, as of images, callers' own calls are the probes. */
export function canProbe(model: Model, { target }: Candidate): boolean {
  const { outputModalities } = model;
  const isSpoken = outputModalities.length === 0 || outputModalities.includes('text');
  return isSpoken && smallestProtocol(target.channel.provider.protocols) !== null;
}

/** Why a target is not asked; the first reason that holds. */
export type Exclusion =
  | 'disabled' // or it speaks nothing that the call could be put into
  | 'not-allowed' // to calls of this group
  | 'lacks' // what the call needs, as the operator has said or as it is known
  | 'context' // the call is clearly too long for it
  | 'drained' // by the operator
  | 'elsewhere' // the earlier answer this call goes on from was given on another channel
  | 'tried' // by this call, already
  | 'credential' // refused by the upstream, until the operator mends it or its time is up
  | 'model-missing' // the upstream does not know the model
  | 'full' // as many attempts are under way as the operator allows its channel
  | 'blocked' // rate limited until a time the upstream named
  | 'no-headroom' // less is left of its rate limit than the call needs
  | 'capped' // as many calls are sent as it takes, by what was learned
  | 'open' // ejected for its failures
  | 'probing' // ejected, and one call is out to see whether it is back
  | 'failing' // its last call has failed, and so have the last ones everywhere
  | 'overdue'; // calls are out that it should have answered by now

/** The same, with those that are ejected and due: only a probe is sent there. */
export type LeftOut = Exclusion | 'due';

export interface Excluded {
  readonly candidate: Candidate;
  readonly reason: Exclusion;
}

export interface Left {
  readonly candidate: Candidate;
  readonly reason: LeftOut;
}

const cacheShareAssumed = 0.5;
const cacheShareStep = 0.1;
const failingMs = 60_000;
/** A prefix of so many tokens makes the whole step; upstreams cache none of a few hundred, which says little. */
const tellingTokens = 4_000;

/** A model that an upstream does not know is left alone this long, longer each time it says so again. */
const missingMsMin = 60_000;
const missingMsMax = 3_600_000;
const missingGrowth = 4;

/** The last thing that went wrong at a target, for operators. On the clock of the wall. */
export interface LastFailure {
  readonly atMs: number;
  readonly words: string;
}

/** All that is known of one (channel, upstream model), whichever credential it is asked with: a bounded amount, however much it is used. */
export class TargetState {
  readonly health = new TargetHealth();
  readonly latency = new Latency();
  readonly silence = new Silence();
  readonly hang = new Hang();
  readonly circuit = new Circuit();
  /** The share of a returning session's prompt that is found in the upstream's cache. */
  cacheShare = cacheShareAssumed;
  inFlight = 0;
  /** Beats when something has happened to the target: what was made of its state before is old. */
  readonly pulse: number;
  /** The upstream does not know the model: not asked again until then. */
  missingUntilMs = 0;
  #timesMissing = 0;
  lastSentMs = Number.NEGATIVE_INFINITY;
  /** Null until something has gone wrong in this process. */
  lastFailure: LastFailure | null = null;
  #answeredMs = Number.NEGATIVE_INFINITY;
  #failedMs = Number.NEGATIVE_INFINITY;

  constructor(pulse = 0) {
    this.pulse = pulse;
  }

  sent(nowMs: number): void {
    this.inFlight++;
    this.lastSentMs = nowMs;
    this.circuit.sent(nowMs);
  }

  /** The upstream says that it does not know the model, which one caller's request may have made it say. */
  missing(nowMs: number): void {
    if (this.missingUntilMs > nowMs) return;
    this.missingUntilMs = nowMs + Math.min(missingMsMax, missingMsMin * missingGrowth ** this.#timesMissing);
    this.#timesMissing++;
  }

  /** The operator says that it is well, and that it knows the model. */
  lift(nowMs: number): void {
    this.missingUntilMs = 0;
    this.#timesMissing = 0;
    this.#failedMs = Number.NEGATIVE_INFINITY;
    if (!this.circuit.isClosed) this.circuit.lift(nowMs, this.health);
  }

  succeeded(nowMs: number, startMs: number): void {
    this.#timesMissing = 0;
    this.#answeredMs = nowMs;
    this.health.succeeded(nowMs);
    this.circuit.succeeded(nowMs, startMs, this.health);
    this.hang.began(startMs);
  }

  failed(nowMs: number, startMs: number, weight: number, uniform: Uniform): void {
    this.#failedMs = nowMs;
    this.health.failed(nowMs, weight, nowMs - startMs);
    this.circuit.failed(nowMs, startMs, weight, this.health, uniform);
  }

  /** When it was asked, answered or failed last: a probe must not double what has only just come to nothing. */
  get lastHeardOfMs(): number {
    return Math.max(this.lastSentMs, this.#answeredMs, this.#failedMs);
  }

  /** Tells if the last that was heard of it is a failure, and not long ago. */
  isFailing(nowMs: number): boolean {
    return this.#failedMs > this.#answeredMs && nowMs - this.#failedMs < failingMs;
  }

  /** A session came back to a prefix of so many tokens, and so many were read from the cache. */
  foundCached(tokens: number, expectedTokens: number): void {
    const step = cacheShareStep * Math.min(1, expectedTokens / tellingTokens);
    this.cacheShare += step * (Math.min(1, tokens / expectedTokens) - this.cacheShare);
  }

  /** All but what ends with the process: calls under way. `shiftMs`: from the steady clock to that of the wall. */
  save(shiftMs: number): SavedParts {
    return {
      target: {
        cacheShare: this.cacheShare,
        missingUntilMs: this.missingUntilMs + shiftMs,
        timesMissing: this.#timesMissing,
        lastSentMs: this.lastSentMs + shiftMs,
        answeredMs: this.#answeredMs + shiftMs,
        failedMs: this.#failedMs + shiftMs,
      },
      health: this.health.save(shiftMs),
      ...this.latency.save(shiftMs),
      circuit: this.circuit.save(shiftMs),
    };
  }

  /** `shiftMs`: from the clock of the wall to the steady one. */
  restore(saved: SavedParts, shiftMs: number): void {
    const { target = {}, health = {}, latency = {}, histogram = {}, circuit = {} } = saved;
    this.cacheShare = target['cacheShare'] ?? cacheShareAssumed;
    this.missingUntilMs = (target['missingUntilMs'] ?? 0) + shiftMs;
    this.#timesMissing = target['timesMissing'] ?? 0;
    this.lastSentMs = (target['lastSentMs'] ?? Number.NEGATIVE_INFINITY) + shiftMs;
    this.#answeredMs = (target['answeredMs'] ?? Number.NEGATIVE_INFINITY) + shiftMs;
    this.#failedMs = (target['failedMs'] ?? Number.NEGATIVE_INFINITY) + shiftMs;
    this.health.restore(health, shiftMs);
    this.latency.restore(latency, histogram, shiftMs);
    this.circuit.restore(circuit, shiftMs);
  }
}
