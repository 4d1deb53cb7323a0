import type { Flight } from '../route/plan.ts';
import type { Conversation } from './request.ts';
import type { Guard } from './watchdog.ts';

/** An upstream may take so long to close an answer that has been read to its end, before its connection is given up. */
const drainMs = 1000;
/** How often it is looked at whether an answer that is long in coming is still to be hoped for. */
const hopeCheckMs = 1000;

/** When an attempt is given up that says nothing. Moments are on the clock that never jumps. */
export class Deadline implements Guard {
  expiresAt = Number.POSITIVE_INFINITY;
  index = -1;
  readonly #conversation: Conversation;
  readonly #flight: Flight;
  /** When an answer must have begun, so that there is time for the next attempt. */
  readonly #sharedBy: number;
  /** No other target could be asked: then there is nothing to be won by giving up early. */
  readonly #isLastHope: boolean;
  readonly #onExpire: () => void;
  #beginsBy = 0;

  constructor(
    conversation: Conversation,
    flight: Flight,
    sharedBy: number,
    isLastHope: boolean,
    onExpire: () => void,
  ) {
    this.#conversation = conversation;
    this.#flight = flight;
    this.#sharedBy = sharedBy;
    this.#isLastHope = isLastHope;
    this.#onExpire = onExpire;
  }

  onExpire(): void {
    this.#onExpire();
  }

  /** The request is sent. */
  begin(now: number): void {
    this.#beginsBy = this.#answerBeginsBy(now);
    this.expiresAt = this.#looksAt(now, this.#isBlind ? this.#patienceMs() : 0);
    this.#conversation.gateway.watchdog.watch(this);
  }

  /** Bytes have come. A stream that has not begun gets no longer for pings and roles. */
  moveOn(now: number, hasContent: boolean): void {
    const { gateway, request, deadlineAt } = this.#conversation;
    const stallsAt = Math.min(now + gateway.limits.stallMs, deadlineAt);
    if (hasContent) this.expiresAt = stallsAt;
    else this.expiresAt = request.facts.stream ? this.#beginsBy : Math.min(stallsAt, this.#beginsBy);
  }

  /** The answer has been read to its end: there is no more to come but the end of its body. */
  drain(now: number): void {
    this.expiresAt = now + drainMs;
  }

  release(): void {
    this.#conversation.gateway.watchdog.release(this);
  }

  /**
   * An answer that is no stream says nothing until it is whole. It is waited for as long as its target may be well; but where
   * that hangs, another one is worth more than the wait. True: it has expired for now only, and is watched again.
   */
  isPutOff(hasBytes: boolean): boolean {
    const { gateway } = this.#conversation;
    const now = gateway.clock.monotonic();
    if (!this.#isBlind || hasBytes || now >= this.#beginsBy) return false;
    if (this.#flight.waitedInVainMs(gateway.clock.now()) >= this.#patienceMs()) return false;
    this.expiresAt = this.#looksAt(now, hopeCheckMs);
    gateway.watchdog.watch(this);
    return true;
  }

  /** When an answer is next asked about that has not begun; the last time when it must have. */
  #looksAt(now: number, afterMs: number): number {
    return this.#isBlind ? Math.min(this.#beginsBy, now + afterMs) : this.#beginsBy;
  }

  /** When the answer must have begun; a JSON answer begins when the model has said everything. */
  #answerBeginsBy(startedAt: number): number {
    const { gateway, ask, request } = this.#conversation;
    const { wholeAnswerMs, firstContentReasoningMs, firstContentMs } = gateway.limits;
    if (!request.facts.stream) return Math.min(startedAt + wholeAnswerMs, this.#sharedBy);
    // Images take as long as thought.
    const isSlow = ask.model.reasoning || request.facts.imageKind !== undefined;
    // The time a target usually takes says nothing of how long a model may think.
    const usualMs = this.#isLastHope ? firstContentMs : this.#patienceMs();
    return Math.min(startedAt + (isSlow ? firstContentReasoningMs : usualMs), this.#sharedBy);
  }

  /** How long a stream may take to begin there. */
  #patienceMs(): number {
    return Math.min(this.#conversation.gateway.limits.firstContentMs, this.#flight.firstContentMs);
  }

  /** Nothing shows that an answer is coming, and giving it up is of some use. */
  get #isBlind(): boolean {
    const { ask, request } = this.#conversation;
    return !request.facts.stream && request.repeatable !== false && !ask.model.reasoning && !this.#isLastHope;
  }
}
