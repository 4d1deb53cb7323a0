import { isTooLong, retryElsewhere } from '../core/route/outcome/fallback.ts';
import type { Outcome } from '../core/route/outcome/outcome.ts';
import type { CallerListener } from '../ports/data-plane.ts';
import type { Attempt, AttemptWatcher } from './attempt.ts';
import type { Conversation } from './conversation.ts';
import { type Guard, guard } from './watchdog.ts';

/**
 * An attempt that may get a second one beside it while it is silent (routing.md, "hedging"). The first content, or a refusal
 * that holds wherever one asks, decides: the other is let go of in the same moment, so that nothing of it reaches the caller.
 * What is too long for one of them may not be for the other.
 */
export class Race implements AttemptWatcher, CallerListener {
  readonly #conversation: Conversation;
  readonly #guard: Guard;
  readonly #running = new Set<Attempt>();

  /** `onSilence` is called once, if the first attempt has neither begun to answer nor ended after so long. */
  constructor(conversation: Conversation, silenceMs: number, onSilence: () => void) {
    const { clock, watchdog } = conversation.gateway;
    this.#conversation = conversation;
    this.#guard = guard(clock.monotonic() + silenceMs, onSilence);
    watchdog.watch(this.#guard);
  }

  /** Before an attempt is started. */
  enter(attempt: Attempt): void {
    this.#running.add(attempt);
  }

  /** After an attempt was started: while two are under way, the caller's side is heard for both. */
  listen(): void {
    if (this.#running.size > 1) this.#conversation.reply.listener = this;
  }

  onContent(attempt: Attempt): void {
    this.#decide(attempt);
  }

  onOutcome(attempt: Attempt, outcome: Outcome): void {
    this.#running.delete(attempt);
    if (outcome.kind === 'outrun') return;
    const { repeatable } = this.#conversation.request;
    const isDecisive = retryElsewhere(outcome, repeatable) === 'no' && !isTooLong(outcome);
    if (isDecisive) return this.#decide(attempt);
    this.#conversation.gateway.watchdog.release(this.#guard);
    for (const other of this.#running) this.#conversation.reply.listener = other;
  }

  /** Neither has begun to answer: nothing was paused for the caller's sake. */
  onCallerWritable(): void {}

  onCallerGone(): void {
    for (const attempt of [...this.#running]) attempt.onCallerGone();
  }

  #decide(decisive: Attempt): void {
    const { gateway, reply } = this.#conversation;
    gateway.watchdog.release(this.#guard);
    for (const attempt of [...this.#running]) if (attempt !== decisive) attempt.letGo();
    if (this.#running.has(decisive)) reply.listener = decisive;
  }
}
