import type { Target } from '../../catalogue/catalogue.ts';
import type { Guard } from '../../ports/clock.ts';
import { elsewhereAfter } from '../../route/outcomes.ts';
import type { CallProgress } from '../../route/progress.ts';
import type { Route, RouteRequest } from '../../route/route.ts';
import type { Attempt } from '../attempt.ts';
import { alertBug } from '../outcomes.ts';
import type { Call } from '../request.ts';

/** Only a stream shows that it is late, and only what may be done twice is asked of two. */
export function mayHedge({ request, inbound }: Call, progress: CallProgress): boolean {
  return request.facts.stream && inbound.work === 'answer' && progress.mayHedge;
}

/**
 * An attempt that may get a second one beside it while it is silent (routing.md, "hedging"). The first content, or a refusal
 * that holds wherever one asks, decides: the other is let go of in the same moment, so that nothing of it reaches the caller.
 * A call that is too long for one of them may not be for the other.
 */
export class Hedge implements Guard {
  expiresAt: number;
  index = -1;
  readonly #call: Call;
  readonly #wanted: RouteRequest;
  readonly #progress: CallProgress;
  readonly #running: readonly Attempt[];
  readonly #askBeside: (target: Target, route: Route) => boolean;

  /**
   * @param running the call's attempts under way.
   * @param silenceMs without a beginning or an end of the first attempt, until a second one is asked for.
   * @param askBeside says if the target could be asked as well.
   */
  constructor(
    call: Call,
    wanted: RouteRequest,
    progress: CallProgress,
    running: readonly Attempt[],
    silenceMs: number,
    askBeside: (target: Target, route: Route) => boolean,
  ) {
    const { clock, watchdog } = call.gateway;
    this.#call = call;
    this.#wanted = wanted;
    this.#progress = progress;
    this.#running = running;
    this.#askBeside = askBeside;
    this.expiresAt = clock.monotonic() + silenceMs;
    watchdog.watch(this);
  }

  onExpire(): void {
    const { gateway, inbound, isStopping, isOver } = this.#call;
    if (isStopping || isOver) return;
    try {
      const route = gateway.router.hedge(this.#wanted, gateway.clock.now(), this.#progress.forHedge());
      route?.targets.some((target) => this.#askBeside(target, route));
    } catch (error) {
      // The first attempt is none the worse for it.
      alertBug(error, inbound.traceId, gateway.observer);
    }
  }

  /** The attempt has content. */
  decide(decisive: Attempt): void {
    this.#call.gateway.watchdog.release(this);
    for (const attempt of [...this.#running]) if (attempt !== decisive) attempt.letGo('outrun');
  }

  /** The attempt has ended. */
  onOutcome(attempt: Attempt): void {
    const { outcome } = attempt;
    const { gateway, request } = this.#call;
    const isDecisive = outcome.kind !== 'outrun' && elsewhereAfter(outcome, request.repeatable) === 'no';
    if (isDecisive) this.decide(attempt);
    // A call that is over outruns what is left of it, and must not be asked for again later.
    else gateway.watchdog.release(this);
  }
}
