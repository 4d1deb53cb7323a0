import type { TargetHealth, Uniform } from './health.ts';
import type { Saved } from './saved.ts';

const consecutiveMin = 5;
/** A run of failures less likely than this is no accident … */
const surprise = 1e-4;
/** … of a target with so many recent calls; where there are more, there are more runs to be surprised by. */
const surpriseCalls = 20;
const recentWeightMin = 8;
const recentFailureShare = 0.6;
const ejectionMs = 5000;
const ejectionJitter = 0.2;
/** A quick failure makes trying cheap; a hang makes a caller wait for every try. */
const ejectionMsMax = 60_000;
const ejectionMsMaxHanging = 300_000;
const hangingMs = 2000;
const successesToClose = 3;
const slowStartMs = 20_000;
/** An ejection is forgotten after so long in service. */
const forgetAfterMs = 60_000;
/** No probe is under way for longer: one whose end was never told must not keep the target out for ever. */
const probeMsMax = 180_000;

/** Tells if a target may be asked: `due` when its time out is over and a probe may be sent, `probing` while one is under way. */
export type CircuitState = 'closed' | 'open' | 'due' | 'probing';

type CircuitNumber =
  | 'isOpen' // 1 or 0
  | 'consecutive'
  | 'runStartMs'
  | 'ejections'
  | 'openedAtMs'
  | 'openUntilMs'
  | 'closedAtMs'
  | 'forgottenAtMs'
  | 'successes'
  | 'failures';

/** Takes a target out when it fails and lets it back in by probes. Times on a steady clock. */
export class Circuit {
  #isClosed = true;
  #consecutive = 0;
  /** When the first call of the run of failures was sent. */
  #runStartMs = 0;
  #ejections = 0;
  #openedAtMs = 0;
  #openUntilMs = 0;
  #closedAtMs = Number.NEGATIVE_INFINITY;
  #forgottenAtMs = 0;
  #probeAtMs: number | null = null;
  #successes = 0;
  #failures = 0;
  #isThere = false;

  state(nowMs: number): CircuitState {
    if (this.#isClosed) return 'closed';
    if (nowMs < this.#openUntilMs) return 'open';
    return this.#probeAtMs === null || nowMs - this.#probeAtMs > probeMsMax ? 'due' : 'probing';
  }

  /** When it may be probed; in the past when it may. */
  get openUntilMs(): number {
    return this.#isClosed ? 0 : this.#openUntilMs;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** True when something has come back well since the ejection. */
  get isPromising(): boolean {
    return this.hasAnswered || this.#isThere;
  }

  /** True when it has answered since the ejection. */
  get hasAnswered(): boolean {
    return this.#successes > 0;
  }

  /** In service, its last call failed, and nobody has been there since. */
  get isDoubtful(): boolean {
    return this.#isClosed && this.#consecutive > 0 && !this.#isThere;
  }

  /** A probe was understood and refused: somebody is there, and a real call will show the rest. Another probe would not. */
  wasThere(): void {
    this.#isThere = true;
  }

  /** A call has been sent; while the circuit is not closed it is a probe. */
  sent(nowMs: number): void {
    if (!this.#isClosed) this.#probeAtMs = nowMs;
  }

  /** A call has ended in a way that says nothing about health. */
  released(): void {
    this.#probeAtMs = null;
  }

  /** `startMs`: when the call was sent. What was sent before a failure or an ejection says nothing of the time after it. */
  succeeded(nowMs: number, startMs: number, health: TargetHealth): void {
    if (this.#isClosed) {
      // One that was sent before the run began does not end it, but among many such a run is none.
      this.#consecutive = startMs >= this.#runStartMs ? 0 : Math.max(0, this.#consecutive - 1);
      return this.#forget(nowMs);
    }
    if (startMs < this.#openedAtMs) return;
    this.#probeAtMs = null;
    this.#openUntilMs = Math.min(this.#openUntilMs, nowMs);
    this.#successes++;
    if (this.#successes < successesToClose) return;
    this.#isClosed = true;
    this.#closedAtMs = nowMs;
    this.#forgottenAtMs = nowMs;
    health.forgive(nowMs);
  }

  /** `health` has taken in the failure already. */
  failed(nowMs: number, startMs: number, weight: number, health: TargetHealth, uniform: Uniform): void {
    if (this.#consecutive === 0) this.#runStartMs = startMs;
    this.#consecutive += weight;
    if (this.#isClosed) this.#isThere = false;
    if (this.#isClosed) {
      if (this.#hasFailedEnough(nowMs, health)) this.#open(nowMs, health, uniform);
      return;
    }
    if (startMs < this.#openedAtMs) return;
    this.#probeAtMs = null;
    // One that was sent in despair, during the ejection, does not prolong it.
    if (nowMs < this.#openUntilMs) return;
    this.#failures++;
    // A target that answers more often than not is better in service, at what it is worth, than out of it.
    if (weight > 1 || this.#failures > this.#successes) this.#open(nowMs, health, uniform);
  }

  /** From 2 right after re-admission to 1: a target that has just come back is given its share bit by bit. */
  slowStart(nowMs: number): number {
    return 1 + Math.max(0, 1 - (nowMs - this.#closedAtMs) / slowStartMs);
  }

  /** A probe under way is not kept: it ends with its process. */
  save(shiftMs: number): Saved<CircuitNumber> {
    return {
      isOpen: this.#isClosed ? 0 : 1,
      consecutive: this.#consecutive,
      runStartMs: this.#runStartMs + shiftMs,
      ejections: this.#ejections,
      openedAtMs: this.#openedAtMs + shiftMs,
      openUntilMs: this.#openUntilMs + shiftMs,
      closedAtMs: this.#closedAtMs + shiftMs,
      forgottenAtMs: this.#forgottenAtMs + shiftMs,
      successes: this.#successes,
      failures: this.#failures,
    };
  }

  restore(saved: Saved<CircuitNumber>, shiftMs: number): void {
    if (saved.isOpen === undefined) return;
    this.#isClosed = saved.isOpen === 0;
    this.#consecutive = saved.consecutive ?? 0;
    this.#runStartMs = (saved.runStartMs ?? 0) + shiftMs;
    this.#ejections = saved.ejections ?? 0;
    this.#openedAtMs = (saved.openedAtMs ?? 0) + shiftMs;
    this.#openUntilMs = (saved.openUntilMs ?? 0) + shiftMs;
    this.#closedAtMs = (saved.closedAtMs ?? Number.NEGATIVE_INFINITY) + shiftMs;
    this.#forgottenAtMs = (saved.forgottenAtMs ?? 0) + shiftMs;
    this.#successes = saved.successes ?? 0;
    this.#failures = saved.failures ?? 0;
  }

  #hasFailedEnough(nowMs: number, health: TargetHealth): boolean {
    const { good, bad } = health.recent(nowMs);
    const rare = surprise / Math.max(1, (good + bad) / surpriseCalls);
    const unlikely = Math.log(rare) / Math.log(health.usualFailureShare(nowMs, this.#consecutive));
    if (this.#consecutive >= Math.max(consecutiveMin, unlikely)) return true;
    return good + bad >= recentWeightMin && bad >= recentFailureShare * (good + bad);
  }

  #open(nowMs: number, { failureMs }: TargetHealth, uniform: Uniform): void {
    this.#isClosed = false;
    this.#openedAtMs = nowMs;
    this.#successes = 0;
    this.#failures = 0;
    this.#isThere = false;
    this.#consecutive = 0;
    this.#ejections = Math.min(this.#ejections + 1, 12);
    const longestMs = failureMs < hangingMs ? ejectionMsMax : ejectionMsMaxHanging;
    const outMs = Math.min(longestMs, ejectionMs * 2 ** (this.#ejections - 1));
    this.#openUntilMs = nowMs + outMs * (1 - ejectionJitter + 2 * ejectionJitter * uniform());
  }

  #forget(nowMs: number): void {
    if (this.#ejections === 0 || nowMs - this.#forgottenAtMs < forgetAfterMs) return;
    this.#ejections--;
    this.#forgottenAtMs = nowMs;
  }
}
