import { totalInput, totalOutput, type Usage } from '@headgate/protocols';
import { formatNanoUsd, type NanoUsd } from '../money/money.ts';
import type { UsageEntry, UsageTotals } from '../ports/usage-report.ts';

declare global {
  interface JSON {
    /** A stage 4 proposal that the compiler's library does not declare yet. */
    rawJSON(text: string): object;
  }
}

/** An amount both ways: a decimal string for people, an integer for programs, exact beyond what a float holds. */
export function amount(name: string, nanoUsd: NanoUsd): Record<string, unknown> {
  return { [name]: formatNanoUsd(nanoUsd), [`${name}_nano_usd`]: JSON.rawJSON(nanoUsd.toString()) };
}

export function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}

function usageView(usage: Usage) {
  return {
    input_tokens: totalInput(usage),
    output_tokens: totalOutput(usage) - usage.images,
    input_fresh_tokens: usage.inputFresh,
    input_cache_read_tokens: usage.inputCacheRead,
    input_cache_write_5m_tokens: usage.inputCacheWrite5m,
    input_cache_write_1h_tokens: usage.inputCacheWrite1h,
    input_audio_tokens: usage.inputAudio,
    input_image_tokens: usage.inputImage,
    output_reasoning_tokens: usage.outputReasoning,
    output_audio_tokens: usage.outputAudio,
    output_image_tokens: usage.outputImage,
    images: usage.images,
    input_cache_read_audio_tokens: usage.inputCacheReadAudio,
    citation_tokens: usage.citation,
    web_searches: usage.webSearches,
    file_searches: usage.fileSearches,
    code_sessions: usage.codeSessions,
    groundings: usage.groundings,
    pages: usage.pages,
  };
}

export function totalsView(totals: UsageTotals) {
  return {
    calls: totals.calls,
    billed_calls: totals.billedCalls,
    ...usageView(totals.usage),
    ...amount('charge', totals.chargeNanoUsd),
  };
}

/** A call as its owner sees it; `billed` and `unbilled_reason` always tell why it cost what it cost. */
export function entryView(entry: UsageEntry) {
  return {
    trace_id: entry.traceId,
    status: entry.status,
    billed: entry.unbilledReason === null && entry.status !== 'open',
    unbilled_reason: entry.unbilledReason,
    surface: entry.surface,
    model: entry.modelRequested,
    model_served: entry.modelServed,
    stream: entry.stream,
    usage: usageView(entry.usage),
    usage_source: entry.usageSource,
    ...amount('charge', entry.chargeNanoUsd),
    http_status: entry.httpStatus,
    error_code: entry.errorCode,
    finish_reason: entry.finishReason,
    losses: entry.losses,
    attempts: entry.attempts,
    time_to_first_content_ms: wholeMs(entry.ttftMs),
    duration_ms: wholeMs(entry.durationMs),
    client_request_id: entry.clientRequestId,
    tag: entry.tag,
    started_at: isoTime(entry.startedAtMs),
    finished_at: isoTime(entry.finishedAtMs),
  };
}

function wholeMs(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds);
}
