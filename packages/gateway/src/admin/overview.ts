import { formatNanoUsd } from '../money/money.ts';
import type { EventStore, KeptEvent } from '../ports/events.ts';
import type { OverviewReport, OverviewStep, OverviewSums, OverviewTop } from '../ports/overview.ts';
import type { Store } from '../ports/store.ts';
import { includes, type Scope } from './people/actor.ts';

export const overviewRanges = ['24h', '7d', '30d'] as const;
export type OverviewRange = (typeof overviewRanges)[number];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The length of each range and of its steps. Days are those of UTC. */
const lengthOf: Readonly<Record<OverviewRange, { readonly steps: number; readonly stepMs: number }>> = {
  '24h': { steps: 24, stepMs: hourMs },
  '7d': { steps: 28, stepMs: 6 * hourMs },
  '30d': { steps: 30, stepMs: dayMs },
};

/** Events that are looked through for what needs attention. */
const eventsMax = 200;
/** An event without an end needs attention for so long. */
const attentionMs = 7 * dayMs;

export interface OverviewTools {
  readonly store: Pick<Store, 'overviews'> & { readonly events: Pick<EventStore, 'list'> };
  readonly nowMs: number;
  readonly isOperator: boolean;
  keyOf(id: string): { readonly name: string; readonly accountId: string } | null;
}

/** How it goes in the accounts that may be seen, as programs read it. */
export async function overviewOf(tools: OverviewTools, scope: Scope, range: OverviewRange) {
  const { store, nowMs, isOperator } = tools;
  const { steps, stepMs } = lengthOf[range];
  const toMs = Math.floor(nowMs / stepMs) * stepMs + stepMs;
  const fromMs = toMs - steps * stepMs;
  const accountIds = scope === 'all' ? null : scope;
  const [now, before, attention] = await Promise.all([
    store.overviews.overview(accountIds, { fromMs, toMs, stepMs }),
    store.overviews.overview(accountIds, {
      ...{ fromMs: fromMs - steps * stepMs, toMs: fromMs, stepMs: steps * stepMs, isSumOnly: true },
    }),
    attentionOf(tools, scope),
  ]);
  const known = new Map(now.steps.map((step) => [step.atMs, step]));
  const points = Array.from({ length: steps }, (_, at) => fromMs + at * stepMs);
  return {
    range,
    ...{ from: isoOf(fromMs), to: isoOf(toMs), stepMs },
    totals: totalsOf(now, isOperator),
    before: totalsOf(before, isOperator),
    points: points.map((atMs) => ({ at: isoOf(atMs), ...pointOf(known.get(atMs), isOperator) })),
    topModels: now.tops.model.map((top) => topOf(top, isOperator, null)),
    topKeys: now.tops.key.map((top) => topOf(top, isOperator, tools.keyOf(top.id))),
    ...(isOperator ? { topChannels: now.tops.channel.map((top) => topOf(top, isOperator, null)) } : {}),
    attention,
    asOf: isoOf(nowMs),
  };
}

const nothing = {
  ...{ calls: 0, succeeded: 0, failed: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 },
  ...{ chargeNanoUsd: 0n, costNanoUsd: 0n },
};

type Sums = { readonly [Name in keyof typeof nothing]: Name extends `${string}Usd` ? bigint : number };

function sumsOf(sums: Sums, isOperator: boolean) {
  const { calls, succeeded, failed, inputTokens, cachedTokens, outputTokens } = sums;
  const judged = succeeded + failed;
  return {
    ...{ calls, succeeded, failed, inputTokens, cachedTokens, outputTokens },
    successShare: judged === 0 ? null : succeeded / judged,
    charge: usdOf(sums.chargeNanoUsd),
    ...(isOperator ? { cost: usdOf(sums.costNanoUsd) } : {}),
  };
}

function usdOf(amount: bigint): string {
  // A sum of amounts is an amount.
  return formatNanoUsd(amount as OverviewSums['chargeNanoUsd']);
}

function totalsOf({ steps, ttft }: OverviewReport, isOperator: boolean) {
  const add = (sum: Sums, step: Sums): Sums => ({
    calls: sum.calls + step.calls,
    succeeded: sum.succeeded + step.succeeded,
    failed: sum.failed + step.failed,
    inputTokens: sum.inputTokens + step.inputTokens,
    cachedTokens: sum.cachedTokens + step.cachedTokens,
    outputTokens: sum.outputTokens + step.outputTokens,
    chargeNanoUsd: sum.chargeNanoUsd + step.chargeNanoUsd,
    costNanoUsd: sum.costNanoUsd + step.costNanoUsd,
  });
  return { ...sumsOf(steps.reduce(add, nothing), isOperator), ttftP50Ms: ttft.p50Ms, ttftP95Ms: ttft.p95Ms };
}

function pointOf(step: OverviewStep | undefined, isOperator: boolean) {
  return {
    ...sumsOf(step ?? nothing, isOperator),
    ttftP50Ms: step?.ttft.p50Ms ?? null,
    ttftP95Ms: step?.ttft.p95Ms ?? null,
  };
}

function topOf(top: OverviewTop, isOperator: boolean, key: ReturnType<OverviewTools['keyOf']>) {
  return {
    ...sumsOf(top, isOperator),
    ...{ id: top.id, name: key?.name ?? top.id, accountId: key?.accountId ?? null },
  };
}

/** A line for each kind of event that lasts, or has no end and happened lately. Members hear of what their accounts have used up. */
async function attentionOf({ store, nowMs, isOperator, keyOf }: OverviewTools, scope: Scope) {
  const events = await store.events.list({ fromMs: 0 }, eventsMax, null);
  const isOwn = ({ subject, acknowledgedAtMs }: KeptEvent): boolean => {
    const [kind, id = ''] = subject.split(':');
    // An event that an operator has seen is still news to members.
    if (isOperator) return acknowledgedAtMs === null;
    if (kind === 'account') return includes(scope, id);
    return kind === 'key' && includes(scope, keyOf(id)?.accountId ?? '');
  };
  const lasts = events.filter(({ endedAtMs, lastAtMs, severity }) =>
    endedAtMs === null ? severity !== 'info' && nowMs - lastAtMs < attentionMs : endedAtMs > nowMs,
  );
  return [...Map.groupBy(lasts.filter(isOwn), ({ kind }) => kind)].map(([kind, of]) => ({
    kind,
    severity: of[0]?.severity ?? 'info',
    subject: of[0]?.subject ?? '',
    count: of.length,
    since: isoOf(Math.min(...of.map(({ firstAtMs }) => firstAtMs))),
  }));
}

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
