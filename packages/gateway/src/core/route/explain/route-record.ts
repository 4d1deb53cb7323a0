import {
  type Choice,
  type Considered,
  type Left,
  type LeftOut,
  leftOutOf,
  type Scores,
} from '../choice/considered.ts';
import type { Plan } from '../router.ts';
import type { Candidate } from '../target/candidates.ts';

/** A plan of a call, and how many attempts had been made before it. */
export interface PlanMade {
  readonly plan: Plan;
  readonly attemptsBefore: number;
}

/** What one plan of a past call was made from. It names channels, so it is the operator's alone. */
export interface PlanRecord {
  /** 0 for the plan of the first attempt. */
  readonly attemptsBefore: number;
  readonly choice: Choice;
  /** The channel to be asked first; null when none was. */
  readonly firstChannelId: string | null;
  /** How many could be asked; the best of them are listed. */
  readonly candidateCount: number;
  readonly candidates: readonly CandidateRecord[];
  /** Of a further plan only those left out for another reason than before. */
  readonly exclusions: readonly ExclusionRecord[];
}

/** One target that could be asked, as it was seen then: chances that were drawn are in its cost. */
export interface CandidateRecord {
  readonly channelId: string;
  readonly upstreamModel: string;
  readonly tier: number;
  readonly expectedCostPicoUsd: number;
  /** Of first content, to four digits. */
  readonly chance: number;
  /** Of the draw, to four digits. */
  readonly share: number;
}

/** All that was left out for one reason; of many channels the first few by id. */
export interface ExclusionRecord {
  readonly reason: LeftOut;
  readonly count: number;
  readonly channelIds: readonly string[];
}

/** Of the first plan; of those after it, what is best then. */
const candidatesMax = 16;
const candidatesMaxLater = 4;
const channelsMaxPerReason = 8;
/** More plans than a call can have attempts. */
const plansMax = 8;
/** Four digits. */
const shareUnits = 10_000;

/**
 * The plans of a call as the text that its entry keeps; null of a call that was never planned. About 50 bytes for each
 * target listed, and bounded: 16 targets of the first plan and 4 of each further one, 8 channels for each reason. JSON:
 *
 *     [[attempts before, choice, channel asked first, targets that could be asked,
 *       [channel, upstream model, tier, pico-dollars, chance, share, …], [reason, count, [channel, …], …]], …]
 *
 * with chance and share in ten-thousandths. Written by hand, since every call pays for it: that is three times as fast.
 */
export function encodeRoute(plans: readonly PlanMade[]): string | null {
  if (plans.length === 0) return null;
  let text = '[';
  for (const [place, plan] of plans.slice(0, plansMax).entries()) {
    text += `${place === 0 ? '' : ','}${encodePlan(plan, plans[place - 1]?.plan.considered ?? null)}`;
  }
  return `${text}]`;
}

/** The inverse, but for what was left out. */
export function decodeRoute(text: string | null): readonly PlanRecord[] {
  // The ledger is the only writer of what is read here, and `encodeRoute` is what it writes.
  return text === null ? [] : (JSON.parse(text) as readonly PlanTuple[]).map(decodePlan);
}

type CandidateCells = readonly (string | number)[];
type ExclusionCells = readonly (LeftOut | number | readonly string[])[];
type PlanTuple = readonly [number, Choice, string | null, number, CandidateCells, ExclusionCells];

function encodePlan({ plan, attemptsBefore }: PlanMade, before: Considered | null): string {
  const { targets, considered } = plan;
  const { choice, scores } = considered;
  const first = JSON.stringify(targets[0]?.channel.id ?? null);
  const listed = encodeCandidates(scores, before === null ? candidatesMax : candidatesMaxLater);
  return `[${attemptsBefore},"${choice}",${first},${scores?.count ?? 0},[${listed}],[${encodeExclusions(considered, before)}]]`;
}

function encodeCandidates(scores: Scores | null, count: number): string {
  if (scores === null) return '';
  let text = '';
  for (const { candidate, tier, score, chance, share } of scores.ranked(count)) {
    if (text !== '') text += ',';
    text += `${labelOf(candidate)},${tier},${Math.round(score)},${Math.round(chance * shareUnits)},${Math.round(share * shareUnits)}`;
  }
  return text;
}

function labelOf(candidate: Candidate): string {
  const { channel, upstreamModel } = candidate.target;
  candidate.label ??= `${JSON.stringify(channel.id)},${JSON.stringify(upstreamModel)}`;
  return candidate.label;
}

function encodeExclusions(considered: Considered, before: Considered | null): string {
  const all = leftOutOf(considered);
  if (all.length === 0) return '';
  const known = before === null ? null : new Set(leftOutOf(before).map(placeOf));
  const fresh = known === null ? all : all.filter((each) => !known.has(placeOf(each)));
  const channels = new Map<LeftOut, string[]>();
  for (const { candidate, reason } of fresh) {
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
]: PlanTuple): PlanRecord {
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
