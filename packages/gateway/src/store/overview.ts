import { type Kysely, type RawBuilder, sql } from 'kysely';
import { nanoUsd } from '../money/money.ts';
import type {
  OverviewPeriod,
  OverviewReport,
  OverviewSums,
  OverviewTop,
  OverviewTopKind,
  TtftQuantiles,
} from '../ports/overview.ts';
import { facetSums, quantileOf } from './call-facets.ts';
import { sumsWithin } from './call-totals.ts';
import { spanMs } from './reports.ts';
import type { Schema } from './schema.ts';

/** Models, keys and channels that are named. */
const topsMax = 8;

/** The sums of a time, by step and by what was called most. It reads sums by hour, or by day where the steps are days. */
export async function readOverview(
  database: Kysely<Schema>,
  accountIds: readonly string[] | null,
  period: OverviewPeriod,
): Promise<OverviewReport> {
  const isSumOnly = period.isSumOnly ?? false;
  const span = period.stepMs % spanMs.day === 0 ? 'day' : 'hour';
  // As few sums as there are for it: those of days, wherever no step cuts through one.
  const rowsOf = (table: 'facet_sums' | 'ttft_sums') =>
    isSumOnly
      ? sumsWithin(table, period)
      : sql`(select * from ${sql.table(table)} where span = ${span} and start_ms >= ${BigInt(period.fromMs)} and start_ms < ${BigInt(period.toMs)})`;
  const step = sql`(start_ms - ${BigInt(period.fromMs)}) / ${BigInt(period.stepMs)}`;
  const ofOwn =
    accountIds === null
      ? sql`true`
      : sql`facet in (select id from facets where account_id in (select value from json_each(${JSON.stringify(accountIds)})))`;
  // Summed up in the order of the rows first: to group them all by step at once takes twice as long.
  const { rows } = await sql<SumsRow & { readonly step: bigint }>`select ${step} as step, ${summed}
    from (select start_ms, ${summed} from ${rowsOf('facet_sums')} where ${ofOwn} group by start_ms) as spans
    group by step order by step`.execute(database);
  const times = await readTimes(database, accountIds ?? [''], rowsOf('ttft_sums'), step);
  const steps = rows.map((row) => ({
    atMs: period.fromMs + Number(row.step) * period.stepMs,
    ...toSums(row),
    ttft: quantilesOf(times.filter((time) => time.step === Number(row.step))),
  }));
  return {
    steps,
    ttft: quantilesOf(summedUp(times)),
    tops: isSumOnly
      ? noTops
      : await readTops(database, sql`${sumsWithin('facet_sums', period)} where ${ofOwn}`),
  };
}

interface StepTime {
  readonly step: number;
  readonly bucket: number;
  readonly calls: number;
}

async function readTimes(
  database: Kysely<Schema>,
  accountIds: readonly string[],
  rowsOfTimes: RawBuilder<unknown>,
  step: RawBuilder<unknown>,
): Promise<readonly StepTime[]> {
  const { rows } = await sql<
    Readonly<Record<keyof StepTime, bigint>>
  >`select ${step} as step, bucket, sum(calls) as calls
    from ${rowsOfTimes} where account_id in (select value from json_each(${JSON.stringify(accountIds)}))
    group by step, bucket order by step, bucket`.execute(database);
  return rows.map((row) => ({
    step: Number(row.step),
    bucket: Number(row.bucket),
    calls: Number(row.calls),
  }));
}

function summedUp(times: readonly StepTime[]): readonly Omit<StepTime, 'step'>[] {
  const calls = new Map<number, number>();
  for (const time of times) calls.set(time.bucket, (calls.get(time.bucket) ?? 0) + time.calls);
  return [...calls].map(([bucket, of]) => ({ bucket, calls: of })).sort((a, b) => a.bucket - b.bucket);
}

function quantilesOf(times: readonly Omit<StepTime, 'step'>[]): TtftQuantiles {
  return { p50Ms: quantileOf(times, 0.5), p95Ms: quantileOf(times, 0.95) };
}

const noTops: OverviewReport['tops'] = { model: [], key: [], channel: [] };

const columnOf = { model: 'model', key: 'key_id', channel: 'channel_id' } as const satisfies Record<
  OverviewTopKind,
  string
>;

const kinds = Object.keys(columnOf) as readonly OverviewTopKind[]; // The keys of the table are its kinds.

async function readTops(
  database: Kysely<Schema>,
  sumsOfAll: RawBuilder<unknown>,
): Promise<OverviewReport['tops']> {
  const tops = kinds.map(
    (
      kind,
    ) => sql`select * from (select ${sql.lit(kind)} as kind, ${sql.ref(columnOf[kind])} as name, ${summed}
      from used cross join facets on facets.id = used.facet where ${sql.ref(columnOf[kind])} <> ''
      group by name order by sum(calls) desc, name limit ${topsMax})`,
  );
  const { rows } = await sql<SumsRow & { readonly kind: OverviewTopKind; readonly name: string }>`
    with used as materialized (select facet, ${summed} from ${sumsOfAll} group by facet)
    ${sql.join(tops, sql` union all `)}`.execute(database);
  const of = (kind: OverviewTopKind): readonly OverviewTop[] =>
    rows.filter((row) => row.kind === kind).map((row) => ({ id: row.name, ...toSums(row) }));
  return { model: of('model'), key: of('key'), channel: of('channel') };
}

type SumsRow = Readonly<Record<(typeof facetSums)[number], bigint>>;

const summed = sql.join(facetSums.map((column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`));

function toSums(row: SumsRow): OverviewSums {
  return {
    calls: Number(row.calls),
    billedCalls: Number(row.billed_calls),
    succeeded: Number(row.good_calls),
    failed: Number(row.failed_calls),
    inputTokens: Number(row.input_tokens),
    cachedTokens: Number(row.cached_tokens),
    outputTokens: Number(row.output_tokens),
    chargeNanoUsd: nanoUsd(row.charge_nano_usd),
    costNanoUsd: nanoUsd(row.cost_nano_usd),
    unknownCosts: Number(row.unknown_costs),
  };
}
