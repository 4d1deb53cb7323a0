import { type Kysely, sql } from 'kysely';
import type {
  DeliveryPlace,
  DeliveryRecord,
  DeliveryResult,
  EventDelivery,
  EventPhase,
  WebhookStanding,
} from '../ports/events.ts';
import { type EventRow, toEvent } from './events.ts';
import type { Schema } from './schema.ts';

/** One webhook is sent so many messages at a time by a process. */
const claimedMax = 4;

/** See `EventStore`. One that nobody concludes is due again at `untilMs`: whoever took it may have died. */
export async function claimDeliveries(
  database: Kysely<Schema>,
  webhooks: readonly string[],
  nowMs: number,
  untilMs: number,
): Promise<readonly EventDelivery[]> {
  // Most looks find nothing, and a transaction that writes would make others wait.
  const due = await database
    .selectFrom('event_deliveries')
    .select('event_id')
    .where('due_at_ms', '<=', BigInt(nowMs))
    .where('webhook', 'in', webhooks)
    .limit(1)
    .execute();
  if (due.length === 0) return [];
  return database.transaction().execute(async (transaction) => {
    const claimed: EventDelivery[] = [];
    for (const webhook of webhooks) {
      const { rows } = await sql<ClaimedRow>`select events.*, delivery.phase, delivery.attempts
        from event_deliveries as delivery join events on events.id = delivery.event_id
        where delivery.webhook = ${webhook} and delivery.due_at_ms <= ${BigInt(nowMs)}
        order by delivery.due_at_ms, delivery.event_id limit ${claimedMax}`.execute(transaction);
      for (const row of rows) {
        await transaction
          .updateTable('event_deliveries')
          .set({ due_at_ms: BigInt(untilMs) })
          .where('event_id', '=', row.id)
          .where('phase', '=', row.phase)
          .where('webhook', '=', webhook)
          .execute();
        const attempts = Number(row.attempts);
        // Receivers hear what has happened, and not who has seen it here.
        const { acknowledgedAtMs: _, acknowledgedBy: __, ...event } = toEvent(row);
        claimed.push({ webhook, phase: row.phase, attempts, event });
      }
    }
    return claimed;
  });
}

interface ClaimedRow extends EventRow {
  readonly phase: EventPhase;
  readonly attempts: bigint;
}

export function concludeDeliveries(
  database: Kysely<Schema>,
  results: readonly DeliveryResult[],
): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    for (const { eventId, phase, webhook, state, dueAtMs, triedAtMs, problem } of results) {
      await transaction
        .updateTable('event_deliveries')
        .set((row) => ({
          state,
          attempts: row('attempts', '+', 1n),
          due_at_ms: state === 'waiting' ? BigInt(dueAtMs) : null,
          tried_at_ms: BigInt(triedAtMs),
          problem,
        }))
        .where('event_id', '=', eventId)
        .where('phase', '=', phase)
        .where('webhook', '=', webhook)
        .execute();
    }
  });
}

/** See `EventStore`. */
export async function listDeliveries(
  database: Kysely<Schema>,
  webhook: string,
  limit: number,
  before: DeliveryPlace | null,
): Promise<readonly DeliveryRecord[]> {
  const behind =
    before === null
      ? sql`true`
      : sql`(delivery.event_id, delivery.phase) < (${before.eventId}, ${before.phase})`;
  const { rows } = await sql<DeliveryRow>`select events.*, delivery.phase, delivery.state, delivery.attempts,
      delivery.due_at_ms, delivery.tried_at_ms, delivery.problem
    from event_deliveries as delivery join events on events.id = delivery.event_id
    where delivery.webhook = ${webhook} and ${behind}
    order by delivery.event_id desc, delivery.phase desc limit ${limit}`.execute(database);
  return rows.map((row) => ({
    ...{ event: toEvent(row), phase: row.phase, state: row.state, attempts: Number(row.attempts) },
    ...{ dueAtMs: numberOf(row.due_at_ms), triedAtMs: numberOf(row.tried_at_ms), problem: row.problem },
  }));
}

interface DeliveryRow extends ClaimedRow {
  readonly state: DeliveryRecord['state'];
  readonly due_at_ms: bigint | null;
  readonly tried_at_ms: bigint | null;
  readonly problem: string | null;
}

/** See `EventStore`. */
export async function redeliver(
  database: Kysely<Schema>,
  webhook: string,
  { eventId, phase }: DeliveryPlace,
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('event_deliveries')
    .set({ state: 'waiting', attempts: 0n, due_at_ms: BigInt(nowMs) })
    .where('event_id', '=', eventId)
    .where('phase', '=', phase)
    .where('webhook', '=', webhook)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function webhookStandings(database: Kysely<Schema>): Promise<readonly WebhookStanding[]> {
  const { rows } = await sql<StandingRow>`select webhook,
    sum(state = 'waiting') as waiting, sum(state = 'delivered') as delivered, sum(state = 'given-up') as given_up,
    max(tried_at_ms) as tried_at_ms, max(case when state = 'delivered' then tried_at_ms end) as delivered_at_ms,
    (select problem from event_deliveries as last where last.webhook = event_deliveries.webhook and tried_at_ms is not null
      order by tried_at_ms desc limit 1) as problem
    from event_deliveries group by webhook order by webhook`.execute(database);
  return rows.map((row) => ({
    webhook: row.webhook,
    waiting: Number(row.waiting),
    delivered: Number(row.delivered),
    givenUp: Number(row.given_up),
    lastTriedAtMs: numberOf(row.tried_at_ms),
    lastDeliveredAtMs: numberOf(row.delivered_at_ms),
    problem: row.problem,
  }));
}

type StandingRow = Readonly<Record<'waiting' | 'delivered' | 'given_up', bigint>> & {
  readonly webhook: string;
  readonly tried_at_ms: bigint | null;
  readonly delivered_at_ms: bigint | null;
  readonly problem: string | null;
};

function numberOf(cell: bigint | null): number | null {
  return cell === null ? null : Number(cell);
}
