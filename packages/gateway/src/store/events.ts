import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { AlertDetail, AlertKind, Severity } from '../catalogue/alert-kinds.ts';
import type { EventFilter, EventNews, EventPhase, KeptEvent, UnseenEvents } from '../ports/events.ts';
import type { Schema } from './schema.ts';

/** Events are kept for so long after they last happened, and so many at the most: the newest. */
const keptMs = 90 * 86_400_000;
const eventsMax = 20_000;
/** A page of a follower. */
const followMax = 200;

/** Takes news in: what is a part of an event that is there is counted in it. See `EventStore`. */
export function recordEvents(
  database: Kysely<Schema>,
  news: readonly EventNews[],
  nowMs: number,
): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    for (const each of news) {
      // A process that never heard that its news had arrived sends them again.
      if (each.count > 0 && !(await isKnown(transaction, each.id))) await happen(transaction, each);
      if (each.count === 0) await end(transaction, each);
    }
    await forget(transaction, nowMs);
  });
}

async function isKnown(transaction: Kysely<Schema>, id: string): Promise<boolean> {
  const row = await transaction.selectFrom('events').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

async function happen(transaction: Kysely<Schema>, news: EventNews): Promise<void> {
  const { kind, fold, foldMs, firstAtMs, lastAtMs, count } = news;
  const detail = JSON.stringify(news.detail);
  const earlier = await transaction
    .selectFrom('events')
    .select('id')
    .where('kind', '=', kind)
    .where('fold', '=', fold)
    .where('last_at_ms', '>=', BigInt(firstAtMs - foldMs))
    .where((row) => row.or([row('ended_at_ms', 'is', null), row('ended_at_ms', '>', BigInt(firstAtMs))]))
    .orderBy('last_at_ms', 'desc')
    .executeTakeFirst();
  if (earlier !== undefined) {
    await sql`update events set count = count + ${count}, last_at_ms = max(last_at_ms, ${BigInt(lastAtMs)}), detail = ${detail}
      where id = ${earlier.id}`.execute(transaction);
    return;
  }
  const { id, severity, subject, endedAtMs } = news;
  const times = {
    first_at_ms: BigInt(firstAtMs),
    last_at_ms: BigInt(lastAtMs),
    ended_at_ms: endedAtMs === null ? null : BigInt(endedAtMs),
  };
  const change = await nextChange(transaction);
  await transaction
    .insertInto('events')
    .values({ id, change, kind, severity, subject, fold, detail, count: BigInt(count), ...times })
    .execute();
  await announce(transaction, id, 'begun', news);
}

async function end(transaction: Kysely<Schema>, news: EventNews): Promise<void> {
  const { kind, fold, lastAtMs } = news;
  const { rows } = await sql<{ id: string }>`select id from events
    where kind = ${kind} and fold = ${fold} and ended_at_ms is null order by last_at_ms desc`.execute(
    transaction,
  );
  for (const { id } of rows) {
    const change = await nextChange(transaction);
    await transaction
      .updateTable('events')
      .set({ ended_at_ms: BigInt(lastAtMs), change })
      .where('id', '=', id)
      .execute();
    await announce(transaction, id, 'ended', news);
  }
}

/** Followers read by these numbers: each is given once, and never again. */
async function nextChange(transaction: Kysely<Schema>): Promise<bigint> {
  const row = await transaction
    .updateTable('meta')
    .set((meta) => ({ value: meta('value', '+', 1n) }))
    .where('name', '=', 'event_changes')
    .returning('value')
    .executeTakeFirstOrThrow();
  return row.value;
}

async function announce(
  transaction: Kysely<Schema>,
  id: string,
  phase: EventPhase,
  { webhooks, lastAtMs }: EventNews,
): Promise<void> {
  for (const webhook of webhooks) {
    await transaction
      .insertInto('event_deliveries')
      .values({
        ...{ event_id: id, phase, webhook, state: 'waiting', attempts: 0n, due_at_ms: BigInt(lastAtMs) },
        ...{ tried_at_ms: null, problem: null },
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** The messages of an event go with it. */
async function forget(transaction: Kysely<Schema>, nowMs: number): Promise<void> {
  await transaction
    .deleteFrom('events')
    .where('last_at_ms', '<', BigInt(nowMs - keptMs))
    .execute();
  await sql`delete from events where last_at_ms <
    (select last_at_ms from events order by last_at_ms desc limit 1 offset ${eventsMax})`.execute(
    transaction,
  );
}

export async function listEvents(
  database: Kysely<Schema>,
  filter: EventFilter,
  limit: number,
  before: string | null,
): Promise<readonly KeptEvent[]> {
  const conditions = [...matches(filter), ...(before === null ? [] : [sql`id < ${before}`])];
  const { rows } = await sql<EventRow>`select * from events where ${sql.join(conditions, sql` and `)}
    order by id desc limit ${limit}`.execute(database);
  return rows.map(toEvent);
}

/** See `EventStore`. */
export async function followEvents(
  database: Kysely<Schema>,
  filter: EventFilter,
  mark: number | null,
): Promise<{ readonly events: readonly KeptEvent[]; readonly mark: number }> {
  const { value } = await database
    .selectFrom('meta')
    .select('value')
    .where('name', '=', 'event_changes')
    .executeTakeFirstOrThrow();
  if (mark === null) return { events: [], mark: Number(value) };
  const conditions = [...matches(filter), sql`change > ${BigInt(mark)}`];
  const { rows } = await sql<EventRow>`select * from events where ${sql.join(conditions, sql` and `)}
    order by change limit ${followMax}`.execute(database);
  const reached = rows.length < followMax ? value : (rows.at(-1)?.change ?? value);
  return { events: rows.map(toEvent), mark: Number(reached) };
}

/** See `EventStore`. */
export function acknowledgeEvents(
  database: Kysely<Schema>,
  ids: readonly string[],
  by: string,
  nowMs: number,
): Promise<readonly KeptEvent[]> {
  return database.transaction().execute(async (transaction) => {
    const { rows } =
      await sql<EventRow>`update events set acknowledged_at_ms = ${BigInt(nowMs)}, acknowledged_by = ${by}
      where id in (select value from json_each(${JSON.stringify(ids)})) and acknowledged_at_ms is null
      returning *`.execute(transaction);
    return rows.map(toEvent);
  });
}

/** See `EventStore`. */
export async function countUnseen(database: Kysely<Schema>, nowMs: number): Promise<UnseenEvents> {
  const { rows } = await sql<{ readonly severity: Severity; readonly count: bigint }>`
    select severity, count(*) as count from events
    where acknowledged_at_ms is null and not ${isOverAt(nowMs)} group by severity`.execute(database);
  const of = (severity: Severity) => Number(rows.find((row) => row.severity === severity)?.count ?? 0n);
  return { errors: of('error'), warnings: of('warning') };
}

function isOverAt(atMs: number): RawBuilder<unknown> {
  return sql`(ended_at_ms is not null and ended_at_ms <= ${BigInt(atMs)})`;
}

function matches(filter: EventFilter): RawBuilder<unknown>[] {
  const { kind, severity, fromMs = 0, toMs, over, isAcknowledged } = filter;
  return [
    sql`last_at_ms >= ${BigInt(fromMs)}`,
    ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
    ...(severity === undefined ? [] : [sql`severity = ${severity}`]),
    ...(toMs === undefined ? [] : [sql`first_at_ms < ${BigInt(toMs)}`]),
    ...(over === undefined ? [] : [sql`${isOverAt(over.atMs)} = ${over.isOver ? 1n : 0n}`]),
    ...(isAcknowledged === undefined
      ? []
      : [sql`(acknowledged_at_ms is not null) = ${isAcknowledged ? 1n : 0n}`]),
  ];
}

/** A row of `events` as the store gives it back. */
export interface EventRow {
  readonly id: string;
  readonly change: bigint;
  readonly kind: AlertKind;
  readonly severity: Severity;
  readonly subject: string;
  readonly detail: string;
  readonly count: bigint;
  readonly first_at_ms: bigint;
  readonly last_at_ms: bigint;
  readonly ended_at_ms: bigint | null;
  readonly acknowledged_at_ms: bigint | null;
  readonly acknowledged_by: string | null;
}

export function toEvent(row: EventRow): KeptEvent {
  const { id, kind, severity, subject } = row;
  return {
    ...{ id, kind, severity, subject },
    // The store is the only writer of this column.
    detail: JSON.parse(row.detail) as AlertDetail,
    count: Number(row.count),
    firstAtMs: Number(row.first_at_ms),
    lastAtMs: Number(row.last_at_ms),
    endedAtMs: row.ended_at_ms === null ? null : Number(row.ended_at_ms),
    acknowledgedAtMs: row.acknowledged_at_ms === null ? null : Number(row.acknowledged_at_ms),
    acknowledgedBy: row.acknowledged_by,
  };
}
