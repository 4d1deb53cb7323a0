import type { Candidate } from '../target/candidates.ts';
import { barEndsAtMs } from '../target/credential-slot.ts';
import type { Choice } from './considered.ts';
import { desperateOf, type Sorted } from './eligibility.ts';

/** Whose turn it is: one of a few, or, where there are none, whoever is drawn by the scores. */
export interface Turn {
  readonly choice: Choice;
  readonly among: readonly Candidate[];
}

/**
 * Where nothing is ready: all that no one has forbidden, the one first that is soonest to recover. What has answered since it was
 * ejected is as good as well: a backup that is half back is worth more than all that is ejected still.
 */
export function lastResort({ due, excluded }: Sorted, nowMs: number): Turn {
  const rest = desperateOf(excluded);
  const well = rest.filter(({ reason }) => reason === 'capped' || reason === 'no-headroom');
  const promising = due.filter(({ state }) => state.circuit.isPromising);
  const ailing = promising.length > 0 ? promising : [...due, ...rest.map(({ candidate }) => candidate)];
  const among = well.length > 0 ? well.map(({ candidate }) => candidate) : ailing;
  // A tier holds among what may answer.
  among.sort(
    (a, b) =>
      Number(isEjected(a, nowMs)) - Number(isEjected(b, nowMs)) ||
      tierOf(a) - tierOf(b) ||
      recoversAtMs(a, nowMs) - recoversAtMs(b, nowMs),
  );
  return { choice: among.length === 0 ? 'nothing' : 'panic', among };
}

/** Of those that are due, the ones that are worth as much to the operator as the best of those that are ready. */
export function withinTierOf(ready: readonly Candidate[], due: readonly Candidate[]): readonly Candidate[] {
  if (due.length === 0) return due;
  const tier = Math.min(...ready.map(tierOf));
  return due.filter((candidate) => tierOf(candidate) <= tier);
}

export function tierOf({ target }: Candidate): number {
  return target.channel.priority;
}

function isEjected({ state }: Candidate, nowMs: number): boolean {
  return state.circuit.openUntilMs > nowMs;
}

function recoversAtMs({ state, slots }: Candidate, nowMs: number): number {
  return Math.max(state.circuit.openUntilMs, barEndsAtMs(slots, 'capped', nowMs));
}
