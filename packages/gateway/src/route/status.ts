import { isRefused } from './credential.ts';
import type { Candidate, LastFailure } from './target.ts';

/**
 * How a target is used: as any other, not before the upstream's limit lets it, not with the credentials there are, not while
 * the upstream does not know the model, not after failures, or with one call at a time to see whether it is back.
 */
export type ServiceState = 'serving' | 'limited' | 'refused' | 'missing' | 'ejected' | 'trial';

/** A target as operators see it. Times on the clock of the wall, durations in milliseconds. */
export interface TargetStatus {
  readonly state: ServiceState;
  /** Since when it has been out of service; null where it is not, or nobody knows. */
  readonly sinceMs: number | null;
  /** Until when it is left alone; null where no time is known. */
  readonly untilMs: number | null;
  readonly lastFailure: LastFailure | null;
  /** Calls of the last minutes that were answered and that failed, faded by their age. */
  readonly good: number;
  readonly bad: number;
  /** To first content, the median; null before there are enough. */
  readonly ttftMs: number | null;
  readonly inFlight: number;
}

/** `nowMs` on the router's steady clock, `clockMs` on the wall's. */
export function statusOf(candidate: Candidate, nowMs: number, clockMs: number): TargetStatus {
  const { state: target } = candidate;
  const { state, untilMs } = stateOf(candidate, nowMs);
  const isOut = state === 'ejected' || state === 'trial';
  const onWall = (ms: number) => clockMs + (ms - nowMs);
  const { good, bad } = target.health.lately(nowMs);
  return {
    state,
    sinceMs: isOut && target.circuit.outSinceMs > 0 ? Math.round(onWall(target.circuit.outSinceMs)) : null,
    untilMs: untilMs === null || untilMs <= nowMs ? null : Math.round(onWall(untilMs)),
    lastFailure: target.lastFailure,
    good,
    bad,
    ttftMs: target.latency.quantiles(nowMs)?.p50 ?? null,
    inFlight: target.inFlight,
  };
}

/** A credential as it is used for one target. Times on the clock of the wall; null where nothing keeps calls from it. */
export interface SlotStatus {
  /** Null where the channel needs none. */
  readonly credentialId: string | null;
  /** The upstream has refused it, at all or for this model. */
  readonly refusedUntilMs: number | null;
  /** The upstream limits its rate. */
  readonly limitedUntilMs: number | null;
}

/** Every credential of a target, for operators. */
export function slotStatusesOf({ slots }: Candidate, nowMs: number, clockMs: number): readonly SlotStatus[] {
  const onWall = (ms: number) => (ms > nowMs ? Math.round(clockMs + (ms - nowMs)) : null);
  return slots.map((slot) => ({
    credentialId: slot.credential?.id ?? null,
    refusedUntilMs: onWall(Math.max(slot.standing.blockedUntilMs, slot.use.refusedUntilMs)),
    limitedUntilMs: onWall(slot.use.capacity.blockedUntilMs),
  }));
}

/** Lets calls to a target again, with one of its credentials or with all. Gives how many obstacles there were. */
export function lift({ state, slots }: Candidate, credentialId: string | null, nowMs: number): number {
  let lifted = state.missingUntilMs > nowMs || !state.circuit.isClosed ? 1 : 0;
  state.lift(nowMs);
  for (const slot of slots) {
    if (credentialId !== null && slot.credential?.id !== credentialId) continue;
    if (isRefused(slot, nowMs) || slot.use.capacity.blockedUntilMs > nowMs) lifted++;
    slot.standing.lift();
    slot.use.lift();
  }
  return lifted;
}

function stateOf(
  { state, slots }: Candidate,
  nowMs: number,
): { readonly state: ServiceState; readonly untilMs: number | null } {
  if (state.missingUntilMs > nowMs) return { state: 'missing', untilMs: state.missingUntilMs };
  const refusedUntilMs = Math.min(...slots.map(({ standing }) => standing.blockedUntilMs));
  if (refusedUntilMs > nowMs) return { state: 'refused', untilMs: refusedUntilMs };
  const circuit = state.circuit.state(nowMs);
  if (circuit === 'open') return { state: 'ejected', untilMs: state.circuit.openUntilMs };
  if (circuit !== 'closed') return { state: 'trial', untilMs: null };
  const limitedUntilMs = Math.min(...slots.map(({ use }) => use.capacity.blockedUntilMs));
  return limitedUntilMs > nowMs
    ? { state: 'limited', untilMs: limitedUntilMs }
    : { state: 'serving', untilMs: null };
}
