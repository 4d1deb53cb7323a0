import { counted } from '../admin/banner.ts';
import type { CandidateView, RouteExplanation } from '../admin/explain-route.ts';
import type { PastPlan, PastRoute } from '../admin/past-route.ts';
import type { CatalogueProblem } from '../catalogue/build.ts';
import { right, statusText, tableText } from './table.ts';

/** The source of the router's state. */
export interface SavedState {
  /** Null when nothing has been saved. */
  readonly savedAtMs: number | null;
  readonly nowMs: number;
  /** The causes that keep channels out of service, as this process sees them. */
  readonly problems: readonly CatalogueProblem[];
}

/** The last column may be as wide as it likes: no other moves when an id is long. */
const channelColumn = 'channel';

/** Says for people where a call would go. */
export function explanationText(explanation: RouteExplanation, state: SavedState, color: boolean): string {
  const { candidates, exclusions } = explanation;
  return [
    headText(explanation, color),
    ...(candidates.length === 0 ? [] : [candidatesText(candidates, color)]),
    ...(exclusions.length === 0 ? [] : [exclusionsText(explanation, state.nowMs, color)]),
    ...translatedTexts(explanation),
    [...explanation.warnings, ...problemLines(explanation, state.problems), stateText(state)].join('\n'),
  ].join('\n\n');
}

/** Says in which protocol the channels are asked that do not speak the caller's. */
function translatedTexts({ translated }: RouteExplanation): readonly string[] {
  const lines = Object.entries(translated).map(([channel, [first, ...others]]) => {
    const rest = others.length === 0 ? '' : `, or ${others.join(', ')} where less of the call is lost`;
    return `Translated for ${channel}: to ${first}${rest}.`;
  });
  return lines.length === 0 ? [] : [lines.join('\n')];
}

function headText(explanation: RouteExplanation, color: boolean): string {
  const { model, key, group, surface, stream, inputTokens, maxOutputTokens, because } = explanation;
  const limit = maxOutputTokens === null ? '' : `, ${maxOutputTokens.toLocaleString('en')} out at most`;
  const size = `${inputTokens.toLocaleString('en')} tokens in${limit}`;
  return [
    `${model} for ${key.name} (${key.id}) of group ${group}`,
    `${surface}, ${stream ? 'streamed' : 'whole'}, ${size}`,
    '',
    `${directionText(explanation, color)}: ${because}`,
  ].join('\n');
}

function directionText({ choice, order, candidates }: RouteExplanation, color: boolean): string {
  const [first] = order;
  if (first === undefined) return statusText('goes nowhere', 'bad', color);
  if (choice === 'panic') return statusText(`goes to ${first}`, 'idle', color);
  const share = candidates.find(({ channel }) => channel === first)?.share ?? 0;
  const isDrawn = choice === 'score' || choice === 'pinned';
  return statusText(`goes to ${first}${isDrawn ? ` in ${percent(share)} of calls` : ''}`, 'good', color);
}

const unitText = 'Expected cost of an answered call, in millionths of a dollar:';

function candidatesText(candidates: readonly CandidateView[], color: boolean): string {
  const hasTiers = new Set(candidates.map(({ tier }) => tier)).size > 1;
  const isReturning = candidates.some(({ parts }) => parts.slowStartPicoUsd > 0);
  const amount = amountFormat(candidates.map(({ expectedCostPicoUsd }) => expectedCostPicoUsd));
  const columns = [
    ...(hasTiers ? [right('tier')] : []),
    ...['share', 'cost', 'price', 'wait', 'failure'].map(right),
    ...(isReturning ? [right('return')] : []),
    right('answers'),
    channelColumn,
  ];
  const rows = candidates.map(
    ({ channel, upstreamModel, tier, share, chance, expectedCostPicoUsd, costKnown, parts }) => [
      ...(hasTiers ? [String(tier)] : []),
      percent(share),
      amount(expectedCostPicoUsd),
      `${costKnown ? '' : '~'}${amount(parts.pricePicoUsd)}`,
      amount(parts.waitingPicoUsd),
      amount(parts.failurePicoUsd + parts.breakagePicoUsd),
      ...(isReturning ? [amount(parts.slowStartPicoUsd)] : []),
      percent(chance),
      `${named(channel, upstreamModel, candidates)}${costKnown ? '' : ': cost unknown'}`,
    ],
  );
  const table = `${unitText}\n\n${tableText(columns, rows, color)}`;
  return candidates.every(({ costKnown }) => costKnown) ? table : `${table}\n\n${assumptionText(candidates)}`;
}

function assumptionText(candidates: readonly CandidateView[]): string {
  return candidates.some(({ costKnown }) => costKnown)
    ? '~ A cost that is not known is taken to be twice the dearest one that is.'
    : '~ No cost is known here: time and failures alone decide.';
}

/** The upstream's name of the model is said where a channel has several. */
function named(channel: string, upstreamModel: string, all: readonly { readonly channel: string }[]): string {
  return all.filter((each) => each.channel === channel).length > 1
    ? `${channel} (${upstreamModel})`
    : channel;
}

function exclusionsText({ exclusions }: RouteExplanation, nowMs: number, color: boolean): string {
  const rows = exclusions.map(({ channel, upstreamModel, because, until }) => [
    because,
    until === null ? '–' : `in ${ageText(Date.parse(until) - nowMs)}`,
    named(channel, upstreamModel, exclusions),
  ]);
  return tableText(['left out', right('ends'), channelColumn], rows, color);
}

function problemLines(
  { exclusions }: RouteExplanation,
  problems: readonly CatalogueProblem[],
): readonly string[] {
  const left = new Set(exclusions.map(({ channel }) => channel));
  return problems
    .filter(({ subject }) => left.has(subject))
    .map(({ subject, detail }) => `${subject}: ${detail}.`);
}

function stateText({ savedAtMs, nowMs }: SavedState): string {
  return savedAtMs === null
    ? 'No gateway has learned anything of these channels yet.'
    : `As a gateway knew it ${ageText(nowMs - savedAtMs)} ago.`;
}

/** How a past call was routed, for people. */
export function pastRouteText(past: PastRoute, color: boolean): string {
  const { traceId, model, key, group, startedAt, status, plans, attempts } = past;
  const head = [`${traceId}: ${status}`, `${model} for ${key} of group ${group}, ${startedAt}`].join('\n');
  const attemptRows = attempts.map(({ n, result, httpStatus, ttftMs, durationMs, channel, detail }) => [
    String(n),
    result,
    httpStatus === null ? '–' : String(httpStatus),
    ttftMs === null ? '–' : String(Math.round(ttftMs)),
    String(Math.round(durationMs)),
    detail === null ? channel : `${channel}: ${detail}`,
  ]);
  const columns = [right('n'), 'result', ...['status', 'ttft ms', 'ms'].map(right), channelColumn];
  return [
    head,
    ...(plans.length === 0 ? ['It was refused before anything was planned, or by an earlier version.'] : []),
    ...plans.map((plan) => planText(plan, color)),
    ...(attempts.length === 0 ? ['No channel was asked.'] : [tableText(columns, attemptRows, color)]),
  ].join('\n\n');
}

function planText(plan: PastPlan, color: boolean): string {
  const { attemptsBefore, first, protocol, because, candidates, candidateCount, exclusions } = plan;
  const amount = amountFormat(candidates.map(({ expectedCostPicoUsd }) => expectedCostPicoUsd));
  const rows = candidates.map(({ share, expectedCostPicoUsd, chance, channel, upstreamModel }) => [
    percent(share),
    amount(expectedCostPicoUsd),
    percent(chance),
    named(channel, upstreamModel, candidates),
  ]);
  const unlisted = candidateCount - candidates.length;
  const left = exclusions.map(({ because: reason, count, channels }) => {
    const more = count - channels.length;
    return `${reason}: ${channels.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  });
  const table = tableText([...['share', 'cost', 'answers'].map(right), channelColumn], rows, color);
  return [
    `Attempt ${attemptsBefore + 1} ${first === null ? 'was not made' : `to ${first}`}${protocol === null ? '' : ` as ${protocol}`}: ${because}`,
    ...(candidates.length === 0 ? [] : [table]),
    ...(unlisted > 0 ? [`and ${counted(unlisted, 'dearer one')}`] : []),
    ...(left.length === 0 ? [] : [`Left out${attemptsBefore === 0 ? '' : ' since'}: ${left.join('; ')}`]),
  ].join('\n');
}

/** Millionths of a dollar, all with as many digits as the largest needs to be told from the next. */
function amountFormat(picoUsd: readonly number[]): (picoUsd: number) => string {
  const largest = Math.max(0, ...picoUsd) / 1e6;
  const digits = largest < 10 ? 3 : largest < 1000 ? 1 : 0;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return (amount) => (amount / 1e6).toLocaleString('en', options);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
