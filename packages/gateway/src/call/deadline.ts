import type { Channel } from '../catalogue/catalogue.ts';
import type { Guard } from '../ports/clock.ts';
import type { RoutedAttempt } from '../route/route.ts';
import type { Errand } from './request.ts';

/** An upstream may take so long to close an answer that has been read to its end, before its connection is given up. */
const drainMs = 1000;
/** How often it is looked at whether an answer that is long in coming is still to be hoped for. */
const hopeCheckMs = 1000;

/** When an attempt is given up that says nothing. Moments are on the clock that never jumps. */
export class Deadline implements Guard {
  expiresAt = Number.POSITIVE_INFINITY;
  index = -1;
  readonly #errand: Errand;
  readonly #routed: RoutedAttempt;
  readonly #onExpire: () => void;
  /** When the answer must have begun; a JSON answer begins when the model has said everything. */
  readonly #beginsBy: number;
  /** How long a stream may take to begin there; as long as any may where that decides nothing. */
  readonly #patienceMs: number;
  readonly #stallMs: number;
  /** When it must have ended: the end of the call, or before it where the channel says so. */
  #endsBy: number;
  /** Nothing shows that an answer is coming, and giving it up is of some use. */
  readonly #isBlind: boolean;

  /**
   * @param own what the channel says of its time-outs: it stands before the limits of all, and before what is known of the model.
   * @param sharers attempts that share the time left, so that there is some for the next one.
   * @param isLastHope no other target could be asked: then there is nothing to be won by giving up early.
   */
  constructor(
    errand: Errand,
    routed: RoutedAttempt,
    own: Channel['timeouts'],
    thinks: boolean,
    startedAt: number,
    sharers: number,
    isLastHope: boolean,
    onExpire: () => void,
  ) {
    const { limits, request, deadlineAt } = errand;
    const { stream, makesImages = false } = request.facts;
    this.#errand = errand;
    this.#routed = routed;
    this.#onExpire = onExpire;
    this.#isBlind = !stream && request.repeatable !== false && !thinks && !isLastHope;
    const isShort = this.#isBlind || (stream && !isLastHope);
    const firstContentMs = own.firstContentMs ?? limits.firstContentMs;
    this.#patienceMs = isShort ? Math.min(firstContentMs, routed.firstContentMs) : firstContentMs;
    this.#stallMs = own.stallMs ?? limits.stallMs;
    this.#endsBy = own.totalMs === null ? deadlineAt : Math.min(deadlineAt, startedAt + own.totalMs);
    // The time a target usually takes says nothing of how long a model may think; images take as long as thought.
    const thoughtMs = own.firstContentMs ?? limits.firstContentReasoningMs;
    const slowMs = thinks || makesImages ? thoughtMs : this.#patienceMs;
    const beginsBy = startedAt + (stream ? slowMs : (own.totalMs ?? limits.wholeAnswerMs));
    const share = startedAt + (deadlineAt - startedAt) / sharers;
    this.#beginsBy = Math.min(beginsBy, share, this.#endsBy);
  }

  onExpire(): void {
    this.#onExpire();
  }

  /** The request is sent. */
  begin(now: number): void {
    this.expiresAt = this.#isBlind ? Math.min(this.#beginsBy, now + this.#patienceMs) : this.#beginsBy;
    this.#errand.gateway.watchdog.watch(this);
  }

  /** Bytes have come. A stream that has not begun gets no longer for pings and roles. */
  moveOn(now: number, hasContent: boolean): void {
    const stallsAt = Math.min(now + this.#stallMs, this.#endsBy);
    if (hasContent) this.expiresAt = stallsAt;
    else
      this.expiresAt = Math.min(this.#errand.request.facts.stream ? this.#endsBy : stallsAt, this.#beginsBy);
  }

  /** The caller has left: from here on it is read for its usage alone. */
  readOn(now: number, hasContent: boolean): void {
    this.#endsBy = Math.min(this.#endsBy, now + this.#errand.limits.hangUpMs);
    this.moveOn(now, hasContent);
  }

  /** The answer has been read to its end: there is no more to come but the end of its body. */
  drain(now: number): void {
    this.expiresAt = now + drainMs;
  }

  release(): void {
    this.#errand.gateway.watchdog.release(this);
  }

  /**
   * An answer that is no stream says nothing until it is whole. It is waited for as long as its target may be well; but where
   * that hangs, another one is worth more than the wait. True: it has expired for now only, and is watched again.
   */
  isPutOff(hasBytes: boolean): boolean {
    const { clock, watchdog } = this.#errand.gateway;
    const now = clock.monotonic();
    if (!this.#isBlind || hasBytes || now >= this.#beginsBy) return false;
    if (this.#routed.waitedInVainMs(clock.now()) >= this.#patienceMs) return false;
    this.expiresAt = Math.min(this.#beginsBy, now + hopeCheckMs);
    watchdog.watch(this);
    return true;
  }
}
