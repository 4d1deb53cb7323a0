import { totalInput, totalOutput } from '@headgate/protocols';
import { formatNanoUsd } from '../money/money.ts';
import { csvCell } from '../ports/csv.ts';
import type { UsageEntry } from '../ports/usage-report.ts';

const columns: Readonly<Record<string, (entry: UsageEntry) => string | number | null>> = {
  trace_id: (entry) => entry.traceId,
  started_at: (entry) => new Date(entry.startedAtMs).toISOString(),
  finished_at: (entry) => (entry.finishedAtMs === null ? null : new Date(entry.finishedAtMs).toISOString()),
  surface: (entry) => entry.surface,
  model: (entry) => entry.modelRequested,
  model_served: (entry) => entry.modelServed,
  stream: (entry) => String(entry.stream),
  status: (entry) => entry.status,
  billed: (entry) => String(isBilled(entry)),
  unbilled_reason: (entry) => entry.unbilledReason,
  charge_usd: (entry) => formatNanoUsd(entry.chargeNanoUsd),
  charge_nano_usd: (entry) => entry.chargeNanoUsd.toString(),
  input_tokens: ({ usage }) => totalInput(usage),
  output_tokens: ({ usage }) => totalOutput(usage) - usage.images,
  input_fresh_tokens: ({ usage }) => usage.inputFresh,
  input_cache_read_tokens: ({ usage }) => usage.inputCacheRead,
  input_cache_write_5m_tokens: ({ usage }) => usage.inputCacheWrite5m,
  input_cache_write_1h_tokens: ({ usage }) => usage.inputCacheWrite1h,
  output_reasoning_tokens: ({ usage }) => usage.outputReasoning,
  images: ({ usage }) => usage.images,
  usage_source: (entry) => entry.usageSource,
  http_status: (entry) => entry.httpStatus,
  error_code: (entry) => entry.errorCode,
  finish_reason: (entry) => entry.finishReason,
  losses: (entry) => entry.losses.join(' '),
  attempts: (entry) => entry.attempts,
  time_to_first_content_ms: (entry) => wholeMs(entry.ttftMs),
  duration_ms: (entry) => wholeMs(entry.durationMs),
  client_request_id: (entry) => entry.clientRequestId,
  tag: (entry) => entry.tag,
};

/** A line of titles and a line for each call (RFC 4180). Cells are safe to open in a spreadsheet, whatever callers wrote into them. */
export function usageCsv(entries: readonly UsageEntry[]): string {
  const readers = Object.values(columns);
  const lines = entries.map((entry) => readers.map((read) => csvCell(read(entry))).join(','));
  return [Object.keys(columns).join(','), ...lines].map((line) => `${line}\r\n`).join('');
}

/** True of a call that has ended and was charged. */
export function isBilled({ unbilledReason, status }: UsageEntry): boolean {
  return unbilledReason === null && status !== 'open';
}

export function wholeMs(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds);
}
