import type { TargetHealth, Uniform } from './health.ts';
import { restoreNumbers, type Saved, saveNumbers } from './saved.ts';

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

/** The numbers of a circuit that are kept for the next process. */
const inTheBeginning = {
  isOpen: 0, // or 1
  consecutive: 0,
  /** When the first call of the run of failures was sent. */
  runStartMs: 0,
  ejections: 0,
  /** When it went out of service; ejections that follow one another are one time out. */
  outSinceMs: 0,
  openedAtMs: 0,
  openUntilMs: 0,
  closedAtMs: Number.NEGATIVE_INFINITY,
  forgottenAtMs: 0,
  successes: 0,
  failures: 0,
};

type CircuitNumber = keyof typeof inTheBeginning;

const times = [
  'runStartMs',
  'outSinceMs',
  'openedAtMs',
  'openUntilMs',
  'closedAtMs',
  'forgottenAtMs',
] as const;

/** Takes a target out when it fails and lets it back in by probes. Times on a steady clock. */
export class Circuit {
  readonly #now = { ...inTheBeginning };
  #probeAtMs: number | null = null;
  #isThere = false;

  state(nowMs: number): CircuitState {
    if (this.isClosed) return 'closed';
    if (nowMs < this.#now.openUntilMs) return 'open';
    return this.#probeAtMs === null || nowMs - this.#probeAtMs > probeMsMax ? 'due' : 'probing';
  }

  /** When it may be probed; in the past when it may. */
  get openUntilMs(): number {
    return this.isClosed ? 0 : this.#now.openUntilMs;
  }

  /** When it went out of service, the last time; 0 if it never did. */
  get outSinceMs(): number {
    return this.#now.outSinceMs;
  }

  get isClosed(): boolean {
    return this.#now.isOpen === 0;
  }

  /** True when something has come back well since the ejection. */
  get isPromising(): boolean {
    return this.hasAnswered || this.#isThere;
  }

  /** True when it has answered since the ejection. */
  get hasAnswered(): boolean {
    return this.#now.successes > 0;
  }

  /** In service, its last call failed, and nobody has been there since. */
  get isDoubtful(): boolean {
    return this.isClosed && this.#now.consecutive > 0 && !this.#isThere;
  }

  /** A probe was understood and refused: somebody is there, and a real call will show the rest. Another probe would not. */
  wasThere(nowMs: number): void {
    this.#isThere = true;
    if (!this.isClosed) this.#now.openUntilMs = Math.min(this.#now.openUntilMs, nowMs);
  }

  /** A call has been sent; while the circuit is not closed it is a probe. */
  sent(nowMs: number): void {
    if (!this.isClosed) this.#probeAtMs = nowMs;
  }

  /** A call has ended in a way that says nothing about health. */
  released(): void {
    this.#probeAtMs = null;
  }

  /** `startMs`: when the call was sent. What was sent before a failure or an ejection says nothing of the time after it. */
  succeeded(nowMs: number, startMs: number, health: TargetHealth): void {
    if (this.isClosed) {
      // One that was sent before the run began does not end it, but among many such a run is none.
      this.#now.consecutive = startMs >= this.#now.runStartMs ? 0 : Math.max(0, this.#now.consecutive - 1);
      return this.#forget(nowMs);
    }
    if (startMs < this.#now.openedAtMs) return;
    this.#probeAtMs = null;
    this.#now.openUntilMs = Math.min(this.#now.openUntilMs, nowMs);
    this.#now.successes++;
    if (this.#now.successes < successesToClose) return;
    this.#now.isOpen = 0;
    this.#now.closedAtMs = nowMs;
    this.#now.forgottenAtMs = nowMs;
    health.forgive(nowMs);
  }

  /** `health` has taken in the failure already. */
  failed(nowMs: number, startMs: number, weight: number, health: TargetHealth, uniform: Uniform): void {
    if (this.#now.consecutive === 0) this.#now.runStartMs = startMs;
    this.#now.consecutive += weight;
    if (this.isClosed) this.#isThere = false;
    if (this.isClosed) {
      if (this.#hasFailedEnough(nowMs, health)) this.#open(nowMs, health, uniform);
      return;
    }
    if (startMs < this.#now.openedAtMs) return;
    this.#probeAtMs = null;
    // One that was sent in despair, during the ejection, does not prolong it.
    if (nowMs < this.#now.openUntilMs) return;
    this.#now.failures++;
    // A target that answers more often than not is better in service, at what it is worth, than out of it.
    if (weight > 1 || this.#now.failures > this.#now.successes) this.#open(nowMs, health, uniform);
  }

  /** The operator says that it is well again. It comes back bit by bit all the same. */
  lift(nowMs: number, health: TargetHealth): void {
    this.#probeAtMs = null;
    Object.assign(this.#now, {
      isOpen: 0,
      consecutive: 0,
      ejections: 0,
      closedAtMs: nowMs,
      forgottenAtMs: nowMs,
    });
    health.forgive(nowMs);
  }

  /** From 2 right after re-admission to 1: a target that has just come back is given its share bit by bit. */
  slowStart(nowMs: number): number {
    return 1 + Math.max(0, 1 - (nowMs - this.#now.closedAtMs) / slowStartMs);
  }

  /** A probe under way is not kept: it ends with its process. */
  save(shiftMs: number): Saved<CircuitNumber> {
    return saveNumbers(this.#now, times, shiftMs);
  }

  restore(saved: Saved<CircuitNumber>, shiftMs: number): void {
    restoreNumbers(this.#now, times, saved, shiftMs);
  }

  #hasFailedEnough(nowMs: number, health: TargetHealth): boolean {
    const { good, bad } = health.recent(nowMs);
    const rare = surprise / Math.max(1, (good + bad) / surpriseCalls);
    const unlikely = Math.log(rare) / Math.log(health.usualFailureShare(nowMs, this.#now.consecutive));
    if (this.#now.consecutive >= Math.max(consecutiveMin, unlikely)) return true;
    return good + bad >= recentWeightMin && bad >= recentFailureShare * (good + bad);
  }

  #open(nowMs: number, { failureMs }: TargetHealth, uniform: Uniform): void {
    if (this.isClosed) this.#now.outSinceMs = nowMs;
    this.#now.isOpen = 1;
    this.#now.openedAtMs = nowMs;
    this.#now.successes = 0;
    this.#now.failures = 0;
    this.#isThere = false;
    this.#now.consecutive = 0;
    this.#now.ejections = Math.min(this.#now.ejections + 1, 12);
    const longestMs = failureMs < hangingMs ? ejectionMsMax : ejectionMsMaxHanging;
    const outMs = Math.min(longestMs, ejectionMs * 2 ** (this.#now.ejections - 1));
    this.#now.openUntilMs = nowMs + outMs * (1 - ejectionJitter + 2 * ejectionJitter * uniform());
  }

  #forget(nowMs: number): void {
    if (this.#now.ejections === 0 || nowMs - this.#now.forgottenAtMs < forgetAfterMs) return;
    this.#now.ejections--;
    this.#now.forgottenAtMs = nowMs;
  }
}
