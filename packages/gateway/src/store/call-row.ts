import { type ImageKind, noUsage, type Usage } from '@headgate/protocols';
import { nanoUsd } from '../core/money.ts';
import type { AttemptEntry, CallEntry, CallOpening, UsageSource } from '../ports/ledger.ts';

/** What a column holds on its way into the store. Usage and money are integers; nothing monetary is ever a float. */
export type Cell = string | number | bigint | null;

export const usageColumns = [
  'input_fresh',
  'input_cache_read',
  'input_cache_write_5m',
  'input_cache_write_1h',
  'input_audio',
  'input_image',
  'output',
  'output_reasoning',
  'output_audio',
  'output_image',
  'images',
] as const;

/** The columns of `calls` in the order of `encodeCall`; the trace id comes first. */
export const callColumns = [
  'trace_id',
  'account_id',
  'key_id',
  'group_id',
  'surface',
  'model_requested',
  'stream',
  'started_at_ms',
  'price_version',
  'multiplier_ppm',
  'client_request_id',
  'parent_trace',
  'user_agent',
  'status',
  'unbilled_reason',
  'channel_id',
  'model_served',
  ...usageColumns,
  'usage_source',
  'image_kind',
  'charge_nano_usd',
  'finish_reason',
  'finish_reason_raw',
  'http_status',
  'error_code',
  'losses',
  'ttft_ms',
  'duration_ms',
  'overhead_us',
  'finished_at_ms',
  'attempts',
  'route',
] as const;

export type CallColumn = (typeof callColumns)[number];

/** One entry as cells: flat, because flat arrays are what crosses to the writer's thread at the least cost. */
export function encodeCall(entry: CallEntry): Cell[] {
  return [
    ...encodeOpening(entry),
    entry.status,
    entry.unbilledReason,
    entry.channelId,
    entry.modelServed,
    ...encodeUsage(entry.usage),
    entry.usageSource,
    encodeKind(entry.imageKind),
    entry.chargeNanoUsd,
    entry.finishReason,
    entry.finishReasonRaw,
    entry.httpStatus,
    entry.errorCode,
    encodeList(entry.losses),
    entry.ttftMs,
    entry.durationMs,
    Math.round(entry.overheadUs),
    Math.round(entry.finishedAtMs),
    encodeAttempts(entry.attempts),
    entry.route,
  ];
}

/** A call that has begun and not ended, in the same columns. */
export function encodeOpenCall(opening: CallOpening): Cell[] {
  const source: UsageSource = 'none';
  return [
    ...encodeOpening(opening),
    ...['open', null, null, null],
    ...encodeUsage(noUsage),
    ...[source, null, 0, null, null, null, null, null, null, 0, 0, null, '[]', null],
  ];
}

function encodeOpening(opening: CallOpening): Cell[] {
  return [
    opening.traceId,
    opening.accountId,
    opening.keyId,
    opening.groupId,
    opening.surface,
    opening.modelRequested,
    opening.stream ? 1 : 0,
    Math.round(opening.startedAtMs),
    opening.priceVersion,
    opening.multiplierPpm,
    opening.clientRequestId,
    opening.parentTrace,
    opening.userAgent,
  ];
}

function encodeUsage(usage: Usage): number[] {
  return [
    usage.inputFresh,
    usage.inputCacheRead,
    usage.inputCacheWrite5m,
    usage.inputCacheWrite1h,
    usage.inputAudio,
    usage.inputImage,
    usage.output,
    usage.outputReasoning,
    usage.outputAudio,
    usage.outputImage,
    usage.images,
  ];
}

function encodeKind(kind: ImageKind | null): string | null {
  return kind === null ? null : JSON.stringify([kind.size, kind.quality]);
}

export function decodeKind(text: string | null): ImageKind | null {
  if (text === null) return null;
  // The store is the only writer of this column, and `encodeKind` is what it writes.
  const [size, quality] = JSON.parse(text) as readonly [string | null, string | null];
  return { size, quality };
}

/** Most lists are empty, and null is the cheapest cell there is. */
function encodeList(items: readonly string[]): string | null {
  return items.length === 0 ? null : JSON.stringify(items);
}

/** Attempts live in their call's row, as arrays: they are written with it, read with it, and never change. */
export const attemptColumns = [
  'n',
  'channel_id',
  'upstream_model',
  'upstream_request_id',
  'result',
  'detail',
  'http_status',
  'ttft_ms',
  'duration_ms',
  'usage',
  'cost_nano_usd',
  'lane',
  'edits',
] as const;

type AttemptTuple = readonly [
  number,
  string,
  string,
  string | null,
  AttemptEntry['result'],
  string | null,
  number | null,
  number | null,
  number,
  readonly number[] | null,
  string,
  AttemptEntry['lane'],
  readonly string[],
];

function encodeAttempts(attempts: readonly AttemptEntry[]): string {
  return JSON.stringify(attempts.map(encodeAttempt));
}

function encodeAttempt(attempt: AttemptEntry): AttemptTuple {
  return [
    attempt.n,
    attempt.channelId,
    attempt.upstreamModel,
    attempt.upstreamRequestId,
    attempt.result,
    attempt.detail,
    attempt.httpStatus,
    attempt.ttftMs,
    attempt.durationMs,
    attempt.usage === null ? null : encodeUsage(attempt.usage),
    attempt.costNanoUsd.toString(),
    attempt.lane,
    attempt.edits,
  ];
}

export function decodeAttempts(text: string): readonly AttemptEntry[] {
  // The store is the only writer of this column, and `encodeAttempts` is what it writes.
  const tuples = JSON.parse(text) as readonly AttemptTuple[];
  return tuples.map(decodeAttempt);
}

function decodeAttempt(tuple: AttemptTuple): AttemptEntry {
  const [n, channelId, upstreamModel, upstreamRequestId, result, detail, httpStatus] = tuple;
  const [, , , , , , , ttftMs, durationMs, usage, cost, lane, edits] = tuple;
  return {
    n,
    channelId,
    upstreamModel,
    upstreamRequestId,
    result,
    detail,
    httpStatus,
    ttftMs,
    durationMs,
    usage: usage === null ? null : decodeUsage(usage),
    costNanoUsd: nanoUsd(BigInt(cost)),
    lane,
    edits,
  };
}

/** Usage from its eleven cells, in the order of `usageColumns`. */
export function decodeUsage(cells: readonly (number | bigint)[]): Usage {
  const at = (index: number) => Number(cells[index] ?? 0);
  return {
    inputFresh: at(0),
    inputCacheRead: at(1),
    inputCacheWrite5m: at(2),
    inputCacheWrite1h: at(3),
    inputAudio: at(4),
    inputImage: at(5),
    output: at(6),
    outputReasoning: at(7),
    outputAudio: at(8),
    outputImage: at(9),
    images: at(10),
  };
}
