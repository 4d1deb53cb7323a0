import { totalInput, totalOutput } from '@headgate/protocols';
import { formatNanoUsd } from '../money/money.ts';
import type { UsageReports, UsageTotals } from '../ports/usage-report.ts';

const dayMs = 86_400_000;
const modelsShown = 50;

/** The days of a key in UTC until today, and its models, the dearest first. All of them are sums. */
export async function keyUsage(
  reports: Pick<UsageReports, 'series' | 'byModel'>,
  keyId: string,
  days: number,
  nowMs: number,
) {
  const endMs = (Math.floor(nowMs / dayMs) + 1) * dayMs;
  const starts = Array.from({ length: days }, (_, at) => endMs - (days - at) * dayMs);
  const series = await reports.series(keyId, [...starts, endMs]);
  const found = new Map(series.map(({ fromMs, totals }) => [fromMs, totals]));
  const period = { fromMs: endMs - days * dayMs, toMs: endMs };
  const { models } = await reports.byModel(keyId, period, 1_000, null);
  const dearest = models.toSorted((a, b) => (a.totals.chargeNanoUsd < b.totals.chargeNanoUsd ? 1 : -1));
  return {
    days: starts.map((startMs) => ({
      day: new Date(startMs).toISOString().slice(0, 10),
      ...sumsOf(found.get(startMs)),
    })),
    models: dearest.slice(0, modelsShown).map(({ model, totals }) => ({ model, ...sumsOf(totals) })),
  };
}

function sumsOf(totals: UsageTotals | undefined) {
  if (totals === undefined) return { calls: 0, charge: '0', inputTokens: 0, outputTokens: 0 };
  const { calls, chargeNanoUsd, usage } = totals;
  return {
    ...{ calls, charge: formatNanoUsd(chargeNanoUsd) },
    ...{ inputTokens: totalInput(usage), outputTokens: totalOutput(usage) - usage.images },
  };
}
