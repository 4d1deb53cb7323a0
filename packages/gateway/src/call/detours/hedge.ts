import { elsewhereAfter } from '../../route/outcomes.ts';
import type { Attempt } from '../attempt.ts';
import type { Conversation } from '../request.ts';
import type { Guard } from '../watchdog.ts';

/**
 * An attempt that may get a second one beside it while it is silent (routing.md, "hedging"). The first content, or a refusal
 * that holds wherever one asks, decides: the other is let go of in the same moment, so that nothing of it reaches the caller.
 * A call that is too long for one of them may not be for the other.
 */
export class Hedge implements Guard {
  expiresAt: number;
  index = -1;
  readonly #conversation: Conversation;
  readonly #running: readonly Attempt[];
  readonly #onSilence: () => void;

  /**
   * @param running the call's attempts under way.
   * @param onSilence called once, if the first attempt has neither begun to answer nor ended after `silenceMs`; never throws.
   */
  constructor(
    conversation: Conversation,
    running: readonly Attempt[],
    silenceMs: number,
    onSilence: () => void,
  ) {
    const { clock, watchdog } = conversation.gateway;
    this.#conversation = conversation;
    this.#running = running;
    this.#onSilence = onSilence;
    this.expiresAt = clock.monotonic() + silenceMs;
    watchdog.watch(this);
  }

  onExpire(): void {
    this.#onSilence();
  }

  /** The attempt has content. */
  decide(decisive: Attempt): void {
    this.#conversation.gateway.watchdog.release(this);
    for (const attempt of [...this.#running]) if (attempt !== decisive) attempt.letGo();
  }

  /** The attempt has ended. */
  onOutcome(attempt: Attempt): void {
    const { outcome } = attempt;
    if (outcome.kind === 'outrun') return;
    const { gateway, request } = this.#conversation;
    if (elsewhereAfter(outcome, request.repeatable) === 'no') this.decide(attempt);
    else gateway.watchdog.release(this);
  }
}
