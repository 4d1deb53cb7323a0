import type { Credential } from '../catalogue/catalogue.ts';
import { barEndsAtMs, slotsWithin } from './credential.ts';
import type { Pool } from './estimates.ts';
import { barOf } from './estimates.ts';
import type { Uniform } from './health.ts';
import type { Again, Choice, Progress, RouteRequest, TooLong } from './route.ts';
import type { AnswerMemory, Keeper } from './sticky.ts';
import type { Candidate, Excluded, Exclusion, LeftOut } from './target.ts';

/** The needs of a call that its targets must meet. */
export interface Requirement {
  readonly request: RouteRequest;
  /** Ids of the channels this call has tried. */
  readonly tried: ReadonlySet<string>;
  /** Credentials that were refused to it. */
  readonly refused: ReadonlySet<Credential>;
  /** Null while no target has found it too long. */
  readonly tooLong: TooLong | null;
  /** True when it is sent to targets that it seems to be too long for. */
  readonly anyLength?: boolean;
}

/** Candidates of a pool by what may be done with them. */
export interface Sorted {
  readonly pool: Pool;
  /** Places of those that may be asked; their rows are up to date. */
  readonly ready: readonly number[];
  /** Ejected, and one call may find out whether they are back. */
  readonly due: readonly Candidate[];
  /** Besides those that the pool leaves out for every call. */
  readonly excluded: readonly Excluded[];
}

/**
 * Filters. Nothing here changes any state but rows that are read again. Nobody is turned away by an estimate alone: where all
 * that could ever take the call are left out for its length, the upstream is to say so.
 */
export function sortCandidates(pool: Pool, need: Requirement, answers: AnswerMemory, nowMs: number): Sorted {
  const sorted = sortBy(pool, need, answers, nowMs);
  if (sorted.ready.length + sorted.due.length > 0) return sorted;
  const isTooLong = sorted.excluded.some(({ reason }) => reason === 'context');
  if (!isTooLong || sorted.excluded.some(isTemporary)) return sorted;
  return sortBy(pool, { ...need, anyLength: true }, answers, nowMs);
}

function sortBy(pool: Pool, need: Requirement, answers: AnswerMemory, nowMs: number): Sorted {
  const { estimates, members } = pool;
  const { candidates, roomTokens, demand } = estimates;
  const keeper = answers.keeperOf(need.request.facts.continues);
  const isSpecial = demand.isStorm || asksSomething(pool, need, keeper);
  const tokens = need.request.facts.inputTokensEstimate;
  let ready: number[] | null = null;
  const due: Candidate[] = [];
  const excluded: Excluded[] = [];
  for (let n = 0; n < members.length; n++) {
    const place = members[n] ?? 0;
    let bar = estimates.read(place, nowMs);
    const candidate = candidates[place];
    if (candidate !== undefined && (isSpecial || tokens > (roomTokens[place] ?? 0)))
      bar = barTo(candidate, need, keeper, estimates.canProbe[place] === true, demand.isStorm, nowMs);
    if (bar === null) {
      ready?.push(place);
      continue;
    }
    // Mostly all of them may be asked, and then nothing is copied.
    ready ??= members.slice(0, n);
    if (candidate === undefined) continue;
    if (bar === 'due') due.push(candidate);
    else excluded.push({ candidate, reason: bar });
  }
  return { pool, ready: ready ?? members, due, excluded };
}

/** Tells if a call asks more of a target than that it is well: then each is looked at by itself. */
function asksSomething(
  pool: Pool,
  { request, tried, refused, tooLong }: Requirement,
  keeper: Keeper | null,
): boolean {
  const { needs, inputTokensEstimate } = request.facts;
  if (tried.size > 0 || refused.size > 0 || tooLong !== null || keeper !== null || pool.hasDrained)
    return true;
  return (needs.size > 0 && pool.hasLacks) || inputTokensEstimate > clearlyOver * pool.leastContext;
}

function barTo(
  candidate: Candidate,
  need: Requirement,
  keeper: Keeper | null,
  isProbed: boolean,
  isStorm: boolean,
  nowMs: number,
): LeftOut | null {
  const misfit = misfitOf(candidate, need, keeper);
  if (misfit !== null) return misfit;
  const slotNeed = { refused: need.refused, tokens: need.request.facts.inputTokensEstimate };
  const bar = barOf(candidate, slotsWithin(candidate.slots, keeper), slotNeed, isProbed, nowMs);
  // While nothing has answered for long, a target that has just failed is not worth a call.
  const isWell = bar === null || bar === 'overdue';
  return isStorm && isWell && candidate.state.isFailing(nowMs) ? 'failing' : bar;
}

/**
 * A prompt is taken for one that does not fit when it is estimated at so many times the context window. The estimate is a
 * quarter of the bytes, and what tokenizers make of them is between about half of that (white space, JSON, long words) and
 * twice as much: one that is a little over may well fit, and a target that refuses it for its length says so at once.
 */
const clearlyOver = 2;

function takesMore(contextWindow: number | null, { above, unknownToo }: TooLong): boolean {
  return contextWindow === null ? unknownToo : contextWindow > above;
}

/** Why a target cannot do what a call asks for, whatever state it is in; null when it can. */
function misfitOf(
  { target: { lacks, contextWindow, channel } }: Candidate,
  { request: { facts }, tried, tooLong, anyLength = false }: Requirement,
  keeper: Keeper | null,
): Exclusion | null {
  if (tooLong !== null && !takesMore(contextWindow, tooLong)) return 'context';
  if (lacks.size > 0 && !facts.needs.isDisjointFrom(lacks)) return 'lacks';
  const isOver = contextWindow !== null && facts.inputTokensEstimate > clearlyOver * contextWindow;
  if (isOver && !anyLength) return 'context';
  if (tried.has(channel.id)) return 'tried';
  if (keeper !== null && keeper.channelId !== channel.id) return 'elsewhere';
  // A call that goes on from an answer of its can go nowhere else.
  return channel.drain && keeper === null ? 'drained' : null;
}

/** The excluded that may be tried when nothing else is left: all that no one has forbidden. */
function desperateOf(excluded: readonly Excluded[]): readonly Excluded[] {
  return excluded.filter(({ reason }) => forgivable[reason]);
}

/** Tells if the reason will pass. */
function isTemporary({ reason }: Excluded): boolean {
  return reason === 'full' || reason === 'blocked' || reason === 'credential' || forgivable[reason];
}

/** Tells if there is any target that no one has forbidden, in service or not. */
export function isAnyLeft({ ready, due, excluded }: Sorted): boolean {
  return ready.length > 0 || due.length > 0 || excluded.some(({ reason }) => forgivable[reason]);
}

const forgivable: Readonly<Record<Exclusion, boolean>> = {
  disabled: false,
  'not-allowed': false,
  lacks: false,
  context: false,
  drained: false,
  elsewhere: false,
  tried: false,
  credential: false,
  'model-missing': false,
  full: false,
  blocked: false,
  'no-headroom': true,
  capped: true,
  open: true,
  probing: true,
  failing: true,
  overdue: true,
};

/** Callers are told to wait so long for a channel that has as many calls as it may have. */
const fullMs = 1000;

/** The only channel there is is asked again after so long: not at once, and not by all callers together. Milliseconds. */
const againAfterMsMin = 50;
const againAfterMsMax = 250;

/** How long the only channel is left alone before it is asked again. */
export function jitterMs(uniform: Uniform): number {
  return againAfterMsMin + uniform() * (againAfterMsMax - againAfterMsMin);
}

const noCredentials: ReadonlySet<Credential> = new Set();

export function needOf(
  request: RouteRequest,
  { tried, refused = noCredentials, tooLong = null }: Progress,
): Requirement {
  return { request: request, tried, refused, tooLong };
}

/** The need of a call that may ask one channel again, with whatever credential. */
export function needAgain(need: Requirement, { channelId }: Again): Requirement {
  return { ...need, tried: new Set([...need.tried].filter((id) => id !== channelId)), refused: new Set() };
}

/** Until the first rate limit ends that a target was left out for, or one of the calls may have ended that fill it. */
export function soonest(excluded: readonly Excluded[], nowMs: number): number | null {
  let waitMs: number | null = null;
  for (const { candidate, reason } of excluded) {
    const endsAtMs = endOf(candidate, reason, nowMs);
    if (endsAtMs !== null) waitMs = Math.min(waitMs ?? Number.POSITIVE_INFINITY, endsAtMs - nowMs);
  }
  return waitMs === null ? null : Math.ceil(waitMs);
}

function endOf({ slots }: Candidate, reason: Exclusion, nowMs: number): number | null {
  if (reason === 'full') return nowMs + fullMs;
  return reason === 'blocked' ? barEndsAtMs(slots, reason, nowMs) : null;
}

/** Whose turn it is: one of a few, or, where there are none, whoever is drawn by the scores. */
export interface Selection {
  readonly choice: Choice;
  readonly among: readonly Candidate[];
}

/**
 * With nothing ready, all that no one has forbidden, the one first that is soonest to recover. A target that has answered
 * since it was ejected is as good as well: a backup that is half back is worth more than all that is ejected still.
 */
export function lastResort({ due, excluded }: Sorted, nowMs: number): Selection {
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

/** Whose turn it is where some are ready. */
export function turnOf(sorted: Sorted, { facts }: RouteRequest, progress: Progress): Selection {
  const mayProbe = isFirst(progress) && progress.attemptsLeft >= 2;
  const inTier = mayProbe ? withinTierOf(sorted) : [];
  if (inTier.length > 0) return { choice: 'probe', among: inTier };
  const isPinned =
    facts.continues !== undefined && sorted.excluded.some(({ reason }) => reason === 'elsewhere');
  return { choice: isPinned ? 'pinned' : 'score', among: [] };
}

/** Attempts of the call so far, as far as they can be told apart. */
export function asked({ tried, refused = noCredentials }: Progress): number {
  return tried.size + refused.size;
}

export function isFirst(progress: Progress): boolean {
  return asked(progress) === 0;
}

/** Due targets that are worth as much to the operator as the best of those that are ready. */
function withinTierOf({ pool, ready, due }: Sorted): readonly Candidate[] {
  if (due.length === 0) return due;
  let tier = Number.POSITIVE_INFINITY;
  for (const place of ready) tier = Math.min(tier, pool.estimates.tiers[place] ?? tier);
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
