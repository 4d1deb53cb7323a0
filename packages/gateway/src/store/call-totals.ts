import { type Kysely, type RawBuilder, sql } from 'kysely';
import { nanoUsd } from '../money/money.ts';
import type { CallQuery, CallTotals } from '../ports/call-search.ts';
import type { UsagePeriod } from '../ports/usage-report.ts';
import { archivedIn, archivesWhere, overlaps } from './archive/archived-calls.ts';
import { callerFaults, failedStatuses } from './call-facets.ts';
import { facetPasses, freshTraces, isBehind, passes, stretchOf } from './call-filter.ts';
import { costOfCall, spanMs, startOf, unknownCostsOfCall } from './reports.ts';
import type { Schema } from './schema.ts';
import { billedCall, inputTokens, outputTokens } from './spend-slots.ts';

/** Calls that are read one by one for the ends of a time that are no whole hours, or where there are no sums. */
const readMax = 20_000;
/** Files of archived calls that are read for the same. */
const filesMax = 3;

const listOf = (words: readonly string[]) => sql.join(words.map((word) => sql.lit(word)));

const failedCall = sql`(status in (${listOf(failedStatuses)}) and coalesce(error_code, '') not in (${listOf(callerFaults)}))`;

/**
 * Sums over the calls of a filter: of whole days, of whole hours where a day is cut through, and of calls one by one where an hour is. What
 * no sum knows, a tag or a part of a trace id, is summed up of calls, as many as are quickly read.
 */
export async function callTotals(database: Kysely<Schema>, query: CallQuery): Promise<CallTotals> {
  const isMade = !(await isBehind(database));
  const isSummed = isMade && query.tag === undefined && query.trace === undefined;
  const toMs = query.toMs ?? Number.MAX_SAFE_INTEGER;
  const firstMs = startOf(query.fromMs + spanMs.hour - 1, spanMs.hour);
  const lastMs = startOf(toMs, spanMs.hour);
  const isLong = isSummed && firstMs < lastMs;
  const ends = isLong
    ? [
        { ...query, toMs: firstMs },
        { ...query, fromMs: lastMs, toMs },
      ].filter((end) => end.fromMs < end.toMs && end.fromMs !== Number.MAX_SAFE_INTEGER)
    : [query];
  const archived = await Promise.all(ends.map((end) => archivedParts(database, end)));
  const parts = [
    ...ends.map((end) => ofCalls(end, listed(sourceOf(end, isMade)))),
    ...archived.flatMap((of) => of.parts),
    ...(isLong ? [ofSums(query, firstMs, lastMs), ofFresh({ ...query, fromMs: firstMs, toMs: lastMs })] : []),
  ];
  const { rows } =
    await sql<TotalsRow>`select ${sums} from (${sql.join(parts, sql` union all `)}) as counted`.execute(
      database,
    );
  const totals = toTotals(rows[0]);
  return { ...totals, isWhole: totals.isWhole && archived.every((of) => of.isWhole) };
}

/** The newest of a stretch; of a tag where one is asked for and known. One more than may be read says that there are more. */
function sourceOf(query: CallQuery, isMade: boolean): RawBuilder<unknown> {
  const { after, before } = stretchOf(query, null);
  const within = sql`trace_id >= ${after} and trace_id < ${before}`;
  const newest = sql`order by trace_id desc limit ${readMax + 1}`;
  if (query.tag === undefined || !isMade) return sql`select trace_id from calls where ${within} ${newest}`;
  return sql`select trace_id from (select trace_id from tagged_calls where tag = ${query.tag} and ${within} ${newest})
    union select trace_id from (${freshTraces}) where ${within}`;
}

function ofFresh(query: CallQuery): RawBuilder<unknown> {
  return ofCalls(query, listed(freshTraces));
}

function listed(traces: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(${traces}) as listed cross join calls using (trace_id)`;
}

/** The calls that were moved into files, as far as those are few. */
async function archivedParts(database: Kysely<Schema>, query: CallQuery) {
  const period = { fromMs: query.fromMs, toMs: query.toMs ?? Number.MAX_SAFE_INTEGER };
  const files = await archivesWhere(database, overlaps(period), sql`last_trace desc limit ${filesMax + 1}`);
  const { after, before } = stretchOf(query, null);
  const within = sql`trace_id >= ${after} and trace_id < ${before}`;
  return {
    parts: files
      .slice(0, filesMax)
      .map(({ id }) => ofCalls(query, sql`(select * from ${archivedIn(id)} where ${within}) as calls`)),
    isWhole: files.length <= filesMax,
  };
}

function ofCalls(query: CallQuery, calls: RawBuilder<unknown>): RawBuilder<unknown> {
  const counts = sql`status <> 'open' and ${passes(query)}`;
  return sql`select count(*) as looked, sum(${counts}) as calls,
      sum(iif(${counts}, ${billedCall}, 0)) as billed, sum(${counts} and ${failedCall}) as failed,
      sum(iif(${counts}, ${inputTokens}, 0)) as input,
      sum(iif(${counts}, input_cache_read + input_cache_read_audio, 0)) as cached,
      sum(iif(${counts}, ${outputTokens}, 0)) as output, sum(iif(${counts}, charge_nano_usd, 0)) as charge,
      sum(iif(${counts}, ${costOfCall}, 0)) as cost, sum(iif(${counts}, ${unknownCostsOfCall}, 0)) as unknown
    from ${calls}`;
}

function ofSums(query: CallQuery, firstMs: number, lastMs: number): RawBuilder<unknown> {
  return sql`select 0 as looked, sum(calls) as calls, sum(billed_calls) as billed, sum(failed_calls) as failed,
      sum(input_tokens) as input, sum(cached_tokens) as cached, sum(output_tokens) as output,
      sum(charge_nano_usd) as charge, sum(cost_nano_usd) as cost, sum(unknown_costs) as unknown
    from ${sumsWithin('facet_sums', { fromMs: firstMs, toMs: lastMs })} where ${ofFacets(query)}`;
}

/** True of sums of facets whose calls pass; where all do, none is looked up. */
function ofFacets(query: CallQuery): RawBuilder<unknown> {
  const condition = facetPasses(query, 'summed');
  return condition === null ? sql`true` : sql`facet in (select id from facets where ${condition})`;
}

/**
 * The rows of a table of sums in a time of whole hours: days as far as they are whole, and hours beside them. Each stretch is a seek: a
 * condition with "or" would have SQLite read all of the table.
 */
export function sumsWithin(
  table: 'facet_sums' | 'ttft_sums',
  { fromMs, toMs }: UsagePeriod,
): RawBuilder<unknown> {
  const firstDay = startOf(fromMs + spanMs.day - 1, spanMs.day);
  const lastDay = startOf(toMs, spanMs.day);
  const stretches =
    firstDay >= lastDay
      ? [['hour', fromMs, toMs]]
      : [
          ['day', firstDay, lastDay],
          ['hour', fromMs, firstDay],
          ['hour', lastDay, toMs],
        ];
  return sql`(select value ->> 0 as of_span, value ->> 1 as from_ms, value ->> 2 as to_ms
      from json_each(${JSON.stringify(stretches)})) as stretches
    cross join ${sql.table(table)} on span = of_span and start_ms >= from_ms and start_ms < to_ms`;
}

type TotalsRow = Readonly<
  Record<
    'looked' | 'calls' | 'billed' | 'failed' | 'input' | 'cached' | 'output' | 'charge' | 'cost' | 'unknown',
    bigint | null
  >
>;

const sums = sql.join([
  sql`max(looked) as looked`,
  ...['calls', 'billed', 'failed', 'input', 'cached', 'output', 'charge', 'cost', 'unknown'].map(
    (column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`,
  ),
]);

function toTotals(row: TotalsRow | undefined): CallTotals {
  const number = (value: bigint | null | undefined) => Number(value ?? 0n);
  return {
    calls: number(row?.calls),
    billedCalls: number(row?.billed),
    failedCalls: number(row?.failed),
    inputTokens: number(row?.input),
    cachedTokens: number(row?.cached),
    outputTokens: number(row?.output),
    chargeNanoUsd: nanoUsd(row?.charge ?? 0n),
    costNanoUsd: nanoUsd(row?.cost ?? 0n),
    unknownCosts: number(row?.unknown),
    isWhole: number(row?.looked) <= readMax,
  };
}
