import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { AuditFilter, AuditMembers, AuditRow } from '../ports/audit.ts';
import type { AuditTable, Schema } from './schema.ts';

/** See `AuditStore`. */
export async function writeAuditRow(database: Kysely<Schema>, row: AuditRow): Promise<void> {
  const { id, atMs, actor, action, target, accountId, before, after, address } = row;
  await database
    .insertInto('audit')
    .values({
      ...{ id, at_ms: BigInt(atMs), action, address, account_id: accountId },
      ...{ actor_kind: actor.kind, person_id: actor.personId, actor_name: actor.name },
      ...{ target_kind: target.kind, target_id: target.id, target_name: target.name },
      ...{ before: jsonOf(before), after: jsonOf(after) },
    })
    .execute();
}

function jsonOf(members: AuditMembers | null): string | null {
  return members === null ? null : JSON.stringify(members);
}

export async function listAuditRows(
  database: Kysely<Schema>,
  filter: AuditFilter,
  limit: number,
  before: string | null,
): Promise<readonly AuditRow[]> {
  const conditions = [...conditionsOf(filter), ...(before === null ? [] : [sql`id < ${before}`]), sql`true`];
  const { rows } = await sql<AuditTable>`select * from audit where ${sql.join(conditions, sql` and `)}
    order by id desc limit ${limit}`.execute(database);
  return rows.map(toRow);
}

function conditionsOf(filter: AuditFilter): RawBuilder<unknown>[] {
  const { accounts, action, targetKind, targetId, personId, fromMs, toMs } = filter;
  return [
    ...(accounts === 'all'
      ? []
      : [sql`account_id in (select value from json_each(${JSON.stringify(accounts)}))`]),
    ...(action === undefined ? [] : [sql`action = ${action}`]),
    ...(targetKind === undefined ? [] : [sql`target_kind = ${targetKind}`]),
    ...(targetId === undefined ? [] : [sql`target_id = ${targetId}`]),
    ...(personId === undefined ? [] : [sql`person_id = ${personId}`]),
    // Ids begin with their times.
    ...(fromMs === undefined ? [] : [sql`id >= ${idAt(fromMs)}`]),
    ...(toMs === undefined ? [] : [sql`id < ${idAt(toMs)}`]),
  ];
}

function idAt(atMs: number): string {
  return atMs.toString(16).padStart(12, '0');
}

function toRow(row: AuditTable): AuditRow {
  return {
    id: row.id,
    atMs: Number(row.at_ms),
    actor: { kind: row.actor_kind, personId: row.person_id, name: row.actor_name },
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id, name: row.target_name },
    accountId: row.account_id,
    before: membersOf(row.before),
    after: membersOf(row.after),
    address: row.address,
  };
}

/** The store is the only writer of these columns. */
function membersOf(json: string | null): AuditMembers | null {
  return json === null ? null : (JSON.parse(json) as AuditMembers);
}
