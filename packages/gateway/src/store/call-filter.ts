import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { CallQuery } from '../ports/call-search.ts';
import { afterAllTraces, billedIs, traceAt, traceSlackMs } from './call-reports.ts';
import { unknownModel } from './model-names.ts';
import type { Schema } from './schema.ts';

/** Calls whose facets are still to be made, and calls that have not ended: as many as are read for a page. */
const freshMax = 20_000;

/** A stretch of trace ids: those behind `after`, with it, and before `before`. */
export interface Stretch {
  readonly after: string;
  readonly before: string;
}

/** Calls in no facet yet: those behind the place that the maker has come to, those that are due, and those that have not ended. */
export const freshTraces = sql`
  select trace_id from calls not indexed where rowid > coalesce((select calls.rowid from facet_place cross join calls using (trace_id)), 0)
  union select trace_id from facets_due
  union select trace_id from (select trace_id from calls where run is not null limit ${sql.lit(freshMax)})`;

/** True while so many calls are in no facet that they cannot be read one by one: behind a change of version, for some minutes. */
export async function isBehind(database: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ is_behind: bigint }>`select
    (select coalesce(max(rowid), 0) from calls) - coalesce((select calls.rowid from facet_place cross join calls using (trace_id)), 0)
    + (select count(*) from (select 1 from facets_due limit ${freshMax})) >= ${freshMax} as is_behind`.execute(
    database,
  );
  return rows[0]?.is_behind === 1n;
}

export function stretchOf({ fromMs, toMs, trace }: CallQuery, before: string | null): Stretch {
  const earliest = traceAt(fromMs - traceSlackMs);
  const latest = toMs === undefined ? afterAllTraces : traceAt(toMs + traceSlackMs);
  const ends = [
    before ?? afterAllTraces,
    latest,
    ...(trace === undefined ? [] : [`${trace}${afterAllTraces}`]),
  ];
  return {
    after: trace !== undefined && trace > earliest ? trace : earliest,
    before: ends.reduce((one, other) => (one < other ? one : other)),
  };
}

/** True of a row of `calls` that the filter lets through. */
export function passes(query: CallQuery): RawBuilder<unknown> {
  const { accountIds, keyId, groupId, surface, model, channelId, tag, status, reason, errorCode } = query;
  const { fromMs, toMs, billed } = query;
  const equals = (column: string, value: string | undefined) =>
    value === undefined ? [] : [sql`${sql.ref(column)} is ${value}`];
  const conditions = [
    sql`started_at_ms >= ${BigInt(fromMs)}`,
    ...(toMs === undefined ? [] : [sql`started_at_ms < ${BigInt(toMs)}`]),
    ...(accountIds === undefined ? [] : [isAmong('account_id', accountIds)]),
    ...equals('key_id', keyId),
    ...equals('group_id', groupId),
    ...equals('surface', surface),
    ...(model === undefined ? [] : [sql`${model} in (model_requested, model_summed)`]),
    ...equals('channel_id', channelId),
    ...equals('tag', tag),
    ...equals('status', status),
    ...equals('unbilled_reason', reason),
    ...equals('error_code', errorCode),
    ...(billed === undefined ? [] : [billedIs(billed)]),
  ];
  return sql`(${sql.join(conditions, sql` and `)})`;
}

/** True of a row of `facets` whose calls may pass; null where all may. Words that callers make up are summed up under one name. */
export function facetPasses(
  query: CallQuery,
  models: 'asked' | 'summed' = 'asked',
): RawBuilder<unknown> | null {
  const { accountIds, keyId, groupId, surface, model, channelId, status, reason, errorCode, billed } = query;
  const equals = (column: string, value: string | undefined) =>
    value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`];
  const conditions = [
    ...(accountIds === undefined ? [] : [isAmong('account_id', accountIds)]),
    ...equals('key_id', keyId),
    ...equals('group_id', groupId),
    ...equals('surface', surface),
    ...(model === undefined ? [] : [isAmong('model', models === 'asked' ? [model, unknownModel] : [model])]),
    ...equals('channel_id', channelId),
    ...equals('status', status),
    ...equals('reason', reason),
    ...equals('error_code', errorCode),
    ...(billed === undefined ? [] : [billed ? sql`reason = ''` : sql`reason <> ''`]),
  ];
  return conditions.length === 0 ? null : sql`(${sql.join(conditions, sql` and `)})`;
}

function isAmong(column: string, values: readonly string[]): RawBuilder<unknown> {
  return sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;
}
