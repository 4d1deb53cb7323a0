import { type Credential, canServe } from '../../catalogue.ts';
import type { Ask } from '../router.ts';
import type { AnswerMemory } from '../session/answer-memory.ts';
import type { Candidate } from '../target/candidates.ts';
import { barToAll, slotsWithin } from '../target/credential-slot.ts';
import type { Excluded, Exclusion } from './considered.ts';
import { misfitOf } from './fit.ts';
import { canProbe } from './probes.ts';

/** What a call asks of its targets. */
export interface Need {
  readonly ask: Ask;
  /** Ids of the channels this call has tried. */
  readonly tried: ReadonlySet<string>;
  /** Credentials that were refused to it. */
  readonly refused: ReadonlySet<Credential>;
  /** Whether nothing has answered any call for long. */
  readonly isStorm: boolean;
  /** It was too long for a target that declares to take so many tokens; null when it was for none. */
  readonly contextAbove: number | null;
  /** Whether it is sent to targets that it seems to be too long for. */
  readonly anyLength?: boolean;
}

/** How probes are sent: `calls` are callers' own, `synthetic` ones are sent by the background until the first success. */
export type ProbeMode = 'calls' | 'synthetic';

/** Candidates by what may be done with them. */
export interface Sorted {
  readonly ready: readonly Candidate[];
  /** Ejected, and one call may find out whether they are back. */
  readonly due: readonly Candidate[];
  readonly excluded: readonly Excluded[];
}

/**
 * Filters, the ones that never change first. Nothing here changes any state. Nobody is turned away by an estimate alone:
 * where all that could ever take the call are left out for its length, the upstream is to say so.
 */
export function sortCandidates(
  candidates: readonly Candidate[],
  need: Need,
  answers: AnswerMemory,
  probes: ProbeMode,
  nowMs: number,
): Sorted {
  const sorted = sortBy(candidates, need, answers, probes, nowMs);
  const isTooLong = sorted.excluded.some(({ reason }) => reason === 'context');
  if (!isTooLong || sorted.ready.length + sorted.due.length > 0 || sorted.excluded.some(isTemporary))
    return sorted;
  return sortBy(candidates, { ...need, anyLength: true }, answers, probes, nowMs);
}

function sortBy(
  candidates: readonly Candidate[],
  need: Need,
  answers: AnswerMemory,
  probes: ProbeMode,
  nowMs: number,
): Sorted {
  const ready: Candidate[] = [];
  const due: Candidate[] = [];
  const excluded: Excluded[] = [];
  for (const candidate of candidates) {
    const reason = barTo(candidate, need, answers, nowMs) ?? ailmentOf(candidate, need, probes, nowMs);
    if (reason !== null) excluded.push({ candidate, reason });
    else if (candidate.state.circuit.state(nowMs) === 'closed') ready.push(candidate);
    else due.push(candidate);
  }
  return { ready, due, excluded };
}

/** Reasons that hold whatever the alternatives are. */
function barTo(
  { target, state, slots, load, serves }: Candidate,
  { ask: { facts, protocol, routing }, tried, refused, contextAbove, anyLength = false }: Need,
  answers: AnswerMemory,
  nowMs: number,
): Exclusion | null {
  serves[protocol] ??= canServe(target, protocol);
  if (!serves[protocol]) return 'disabled';
  if (routing.channels !== null && !routing.channels.has(target.channel.id)) return 'not-allowed';
  const misfit = misfitOf(target, facts);
  if (contextAbove !== null && (target.contextWindow ?? 0) <= contextAbove) return 'context';
  if (misfit === 'lacks' || (misfit === 'context' && !anyLength)) return misfit;
  const { id, drain, maxConcurrency } = target.channel;
  if (tried.has(id)) return 'tried';
  const keeper = answers.keeperOf(facts.continues);
  if (keeper !== null && keeper.channelId !== id) return 'elsewhere';
  // What goes on from there can go nowhere else.
  if (drain && keeper === null) return 'drained';
  if (state.missingUntilMs > nowMs) return 'model-missing';
  if (maxConcurrency !== null && load.inFlight >= maxConcurrency) return 'full';
  const fitting = slotsWithin(slots, keeper);
  return barToAll(fitting, { refused, tokens: facts.inputTokensEstimate }, nowMs);
}

/** Reasons that nobody is left out for when nothing else is left. */
function ailmentOf(
  candidate: Candidate,
  { ask, isStorm }: Need,
  probes: ProbeMode,
  nowMs: number,
): Exclusion | null {
  const { state } = candidate;
  const circuit = state.circuit.state(nowMs);
  if (circuit === 'open' || circuit === 'probing') return circuit;
  if (circuit === 'due') {
    const isForCalls = probes === 'calls' || state.circuit.isPromising || !canProbe(ask.model, candidate);
    return isForCalls ? null : 'open';
  }
  if (isStorm && state.isFailing(nowMs)) return 'failing';
  return state.silence.isOverdue(nowMs, state.latency.quantiles(nowMs)) ? 'overdue' : null;
}

/** Those of the excluded that may be tried when nothing else is left: all that no one has forbidden. */
export function desperateOf(excluded: readonly Excluded[]): readonly Excluded[] {
  return excluded.filter(({ reason }) => isForgivable(reason));
}

/** Whether the reason will pass. */
function isTemporary({ reason }: Excluded): boolean {
  return reason === 'full' || reason === 'blocked' || reason === 'credential' || isForgivable(reason);
}

/** Whether there is any target that no one has forbidden, in service or not. */
export function isAnyLeft({ ready, due, excluded }: Sorted): boolean {
  return ready.length > 0 || due.length > 0 || excluded.some(({ reason }) => isForgivable(reason));
}

function isForgivable(reason: Exclusion): boolean {
  switch (reason) {
    case 'disabled':
    case 'not-allowed':
    case 'lacks':
    case 'context':
    case 'drained':
    case 'elsewhere':
    case 'tried':
    case 'credential':
    case 'model-missing':
    case 'full':
    case 'blocked':
      return false;
    case 'no-headroom':
    case 'capped':
    case 'open':
    case 'probing':
    case 'failing':
    case 'overdue':
      return true;
    default:
      return reason satisfies never;
  }
}
