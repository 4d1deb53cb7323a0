import type { ProtocolId } from '@headgate/protocols';
import { barEndsAtMs } from './credential.ts';
import { type Choice, type Considered, leftOutOf, type Route, type ScoredInFull } from './route.ts';
import type { Candidate, Left, LeftOut } from './target.ts';

/** A target that may be asked, as operators see it. */
export interface ExplainedCandidate extends Omit<ScoredInFull, 'candidate' | 'score'> {
  readonly channelId: string;
  readonly upstreamModel: string;
  /** The cost of a successful call, all told. */
  readonly expectedCostPicoUsd: number;
  /** False where the price in it is assumed: twice that of the dearest target whose price is known. */
  readonly isCostKnown: boolean;
}

export interface ExplainedExclusion {
  readonly channelId: string;
  readonly upstreamModel: string;
  readonly reason: LeftOut;
  /** When the reason ends, on the wall clock; null where no time is known. */
  readonly untilMs: number | null;
}

/** The way a call would go: with expected chances in the place of drawn ones, so the same state explains itself the same. */
export interface Explanation {
  readonly choice: Choice;
  /** Ids of channels in the order in which they would be asked; where a draw decides, the likeliest first. */
  readonly order: readonly string[];
  /** By tier, then by expected cost. */
  readonly candidates: readonly ExplainedCandidate[];
  readonly exclusions: readonly ExplainedExclusion[];
}

/** The planner's findings: `nowMs` on its steady clock, `clockMs` on the wall's. */
interface Finding {
  readonly choice: Choice;
  readonly order: readonly string[];
  readonly scored: readonly ScoredInFull[];
  readonly left: readonly Left[];
  readonly nowMs: number;
  readonly clockMs: number;
}

export function explanationOf({ choice, order, scored, left, nowMs, clockMs }: Finding): Explanation {
  return {
    choice,
    order,
    candidates: scored.map(candidateOf),
    exclusions: left.map(({ candidate, reason }) => {
      const untilMs = endOf(candidate, reason, nowMs);
      return {
        ...namesOf(candidate),
        reason,
        untilMs: untilMs === null || untilMs <= nowMs ? null : clockMs + (untilMs - nowMs),
      };
    }),
  };
}

function candidateOf({ candidate, score, ...rest }: ScoredInFull): ExplainedCandidate {
  return {
    ...namesOf(candidate),
    ...rest,
    expectedCostPicoUsd: score,
    isCostKnown: candidate.rates.length > 0,
  };
}

/** On the steady clock; in the past when it is over, null when nobody knows. */
function endOf({ state, slots }: Candidate, reason: LeftOut, nowMs: number): number | null {
  switch (reason) {
    case 'credential':
    case 'blocked':
    case 'no-headroom':
    case 'capped':
      return barEndsAtMs(slots, reason, nowMs);
    case 'model-missing':
      return state.missingUntilMs;
    case 'open':
      return state.circuit.openUntilMs;
    default:
      return null;
  }
}

function namesOf({ target }: Candidate) {
  return { channelId: target.channel.id, upstreamModel: target.upstreamModel };
}

/** A plan of a call, and how many attempts had been made before it. */
export interface RouteMade {
  readonly route: Route;
  readonly attemptsBefore: number;
  /** The one the request was translated to; null where it went as it was, or nowhere. */
  readonly protocol: ProtocolId | null;
}

/** The record of one plan of a past call. It names channels, so it is the operator's alone. */
export interface RouteRecord {
  /** 0 for the plan of the first attempt. */
  readonly attemptsBefore: number;
  readonly choice: Choice;
  /** The channel to be asked first; null when none was. */
  readonly firstChannelId: string | null;
  /** How many could be asked; the best of them are listed. */
  readonly candidateCount: number;
  readonly candidates: readonly CandidateRecord[];
  /** A further plan has only those left out for another reason than before. */
  readonly exclusions: readonly ExclusionRecord[];
  /** See `RouteMade`. */
  readonly protocol: string | null;
}

/** One target that could be asked, as it was seen then: chances that were drawn are in its cost. */
export interface CandidateRecord {
  readonly channelId: string;
  readonly upstreamModel: string;
  readonly tier: number;
  readonly expectedCostPicoUsd: number;
  /** The chance of first content, to four digits. */
  readonly chance: number;
  /** The share in the draw, to four digits. */
  readonly share: number;
}

/** All that was left out for one reason; of many channels the first few by id. */
export interface ExclusionRecord {
  readonly reason: LeftOut;
  readonly count: number;
  readonly channelIds: readonly string[];
}

/**
 * The first plan lists so many, a later one the few that are best then. Beyond the first few, a target that gets hardly any
 * call is left out.
 */
const candidatesMax = 16;
const candidatesMin = 8;
const shareTold = 10;
const candidatesMaxLater = 4;
const channelsMaxPerReason = 8;
/** More plans than a call can have attempts. */
const plansMax = 8;
/** Pico-dollars. */
const exactBelow = 1e6;
/** Four digits. */
const shareUnits = 10_000;

/**
 * The plans of a call as the text that its entry keeps; null of a call that was never planned. About 50 bytes for each
 * target listed, and bounded: 16 targets of the first plan, of which those after the eighth get a call in a thousand at the
 * least, and 4 of each further one; 8 channels for each reason. JSON:
 *
 *     [[attempts before, choice, channel asked first, targets that could be asked,
 *       [channel, upstream model, tier, pico-dollars, chance, share, …], [reason, count, [channel, …], …], protocol], …]
 *
 * with the protocol only where the request was translated to one, and chance and share in ten-thousandths. Written by hand, since every call pays for it: that is three times as fast.
 */
export function encodeRoute(plans: readonly RouteMade[]): string | null {
  if (plans.length === 0) return null;
  let text = '[';
  for (const [place, route] of plans.slice(0, plansMax).entries()) {
    text += `${place === 0 ? '' : ','}${encodePlan(route, plans[place - 1]?.route.considered ?? null)}`;
  }
  return `${text}]`;
}

/** The inverse, but for what was left out. */
export function decodeRoute(text: string | null): readonly RouteRecord[] {
  // The ledger is the only writer of what is read here, and `encodeRoute` is what it writes.
  return text === null ? [] : (JSON.parse(text) as readonly PlanTuple[]).map(decodePlan);
}

type CandidateCells = readonly (string | number)[];
type ExclusionCells = readonly (LeftOut | number | readonly string[])[];
type PlanTuple = readonly [number, Choice, string | null, number, CandidateCells, ExclusionCells, string?];

function encodePlan({ route, attemptsBefore, protocol }: RouteMade, before: Considered | null): string {
  const { targets, considered } = route;
  const { choice, count } = considered;
  const first = JSON.stringify(targets[0]?.channel.id ?? null);
  const listed = encodeCandidates(considered, before === null ? candidatesMax : candidatesMaxLater);
  return `[${attemptsBefore},"${choice}",${first},${count},[${listed}],[${encodeExclusions(considered, before)}]${protocol === null ? '' : `,"${protocol}"`}]`;
}

function encodeCandidates({ pool, listed: { places, numbers } }: Considered, countMax: number): string {
  const { candidates, tiers } = pool.estimates;
  let text = '';
  for (let n = 0; n < places.length && n < countMax; n++) {
    const place = places[n] ?? 0;
    const candidate = candidates[place];
    const [score = 0, chance = 0, share = 0] = [numbers[3 * n], numbers[3 * n + 1], numbers[3 * n + 2]];
    const shareCell = Math.round(share * shareUnits);
    if (candidate === undefined || (n >= candidatesMin && shareCell < shareTold)) break;
    if (n > 0) text += ',';
    text += `${labelOf(candidate)},${tiers[place]},${costText(score)},${Math.round(chance * shareUnits)},${shareCell}`;
  }
  return text;
}

/** To a thousandth of what matters: a whole number of thousands is put into digits several times as fast. */
function costText(picoUsd: number): string {
  return picoUsd < exactBelow ? String(Math.round(picoUsd)) : `${Math.round(picoUsd / 1000)}e3`;
}

function labelOf(candidate: Candidate): string {
  const { channel, upstreamModel } = candidate.target;
  candidate.label ??= `${JSON.stringify(channel.id)},${JSON.stringify(upstreamModel)}`;
  return candidate.label;
}

function encodeExclusions(considered: Considered, before: Considered | null): string {
  const { pool, due, excluded } = considered;
  if (before === null) {
    // The pool's are the same for every call.
    pool.leftText ??= textOfLeft(pool.left);
    if (due.length === 0 && excluded.length === 0) return pool.leftText;
    const others = textOfLeft(leftOutOf({ pool: { ...pool, left: [] }, due, excluded }));
    return pool.leftText === '' ? others : `${pool.leftText},${others}`;
  }
  const known = new Set(leftOutOf(before).map(placeOf));
  return textOfLeft(leftOutOf(considered).filter((each) => !known.has(placeOf(each))));
}

function textOfLeft(all: readonly Left[]): string {
  const channels = new Map<LeftOut, string[]>();
  for (const { candidate, reason } of all) {
    const ids = channels.get(reason);
    if (ids === undefined) channels.set(reason, [candidate.target.channel.id]);
    else ids.push(candidate.target.channel.id);
  }
  return [...channels]
    .map(([reason, ids]) => `"${reason}",${ids.length},${JSON.stringify(ids.slice(0, channelsMaxPerReason))}`)
    .join(',');
}

function placeOf({ candidate, reason }: Left): string {
  return `${reason} ${candidate.key}`;
}

function decodePlan([
  attemptsBefore,
  choice,
  firstChannelId,
  candidateCount,
  cells,
  left,
  protocol = undefined,
]: PlanTuple): RouteRecord {
  const candidates: CandidateRecord[] = [];
  for (let at = 0; at < cells.length; at += 6) {
    const [channelId, upstreamModel, tier, cost, chance, share] = cells.slice(at, at + 6);
    candidates.push({
      channelId: String(channelId),
      upstreamModel: String(upstreamModel),
      tier: Number(tier),
      expectedCostPicoUsd: Number(cost),
      chance: Number(chance) / shareUnits,
      share: Number(share) / shareUnits,
    });
  }
  return {
    attemptsBefore,
    choice,
    firstChannelId,
    candidateCount,
    candidates,
    exclusions: decodeExclusions(left),
    protocol: protocol ?? null,
  };
}

function decodeExclusions(cells: ExclusionCells): readonly ExclusionRecord[] {
  const exclusions: ExclusionRecord[] = [];
  for (let at = 0; at < cells.length; at += 3) {
    // Three cells each, as `encodeExclusions` writes them.
    const [reason, count, channelIds] = cells.slice(at, at + 3) as [LeftOut, number, readonly string[]];
    exclusions.push({ reason, count, channelIds });
  }
  return exclusions;
}
