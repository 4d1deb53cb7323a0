import { errorTable } from '@headgate/protocols';
import type { CallStatus } from '../ports/ledger.ts';

/**
 * All that a filter may ask of a call, put together: calls alike in all of it have one row of `facets`, by whose number they are found and
 * summed up. A cell that a call has nothing in is empty text, so that each combination is there once (ADR 51).
 */
export const facetColumns = [
  ...(['account_id', 'key_id', 'group_id', 'surface', 'model', 'channel_id'] as const),
  ...(['status', 'reason', 'error_code'] as const),
] as const;

/** Sums of the calls of a facet, by hour and by day in UTC. */
export const facetSums = [
  ...([
    'calls',
    'billed_calls',
    'good_calls',
    'failed_calls',
    'input_tokens',
    'cached_tokens',
    'output_tokens',
  ] as const),
  ...(['charge_nano_usd', 'cost_nano_usd', 'unknown_costs'] as const),
] as const;

/** Calls that end so have failed; where the error says that the caller was at fault, they count for nobody's failure. */
export const failedStatuses: readonly string[] = [
  'failed',
  'timed_out',
  'interrupted',
] satisfies CallStatus[];

/** The errors that are the caller's own fault. */
export const callerFaults: readonly string[] = Object.entries(errorTable)
  .filter(([, { fault }]) => fault === 'caller')
  .map(([code]) => code);

/** The times to first content are counted in buckets, each so much wider than the one before. */
const bucketRatio = 1.07;

/** The bucket of a time in milliseconds. */
export function bucketOf(timeMs: number): number {
  return Math.round(Math.log(Math.max(1, timeMs)) / Math.log(bucketRatio));
}

/** The middle of a bucket, in milliseconds. */
function middleOf(bucket: number): number {
  return bucketRatio ** bucket;
}

/** The time below which this share of calls lies; null where there are none. The buckets are ascending. */
export function quantileOf(
  buckets: readonly { readonly bucket: number; readonly calls: number }[],
  share: number,
): number | null {
  const all = buckets.reduce((sum, { calls }) => sum + calls, 0);
  let below = 0;
  for (const { bucket, calls } of buckets) {
    below += calls;
    if (below >= all * share) return middleOf(bucket);
  }
  return null;
}
