import { type Kysely, type RawBuilder, sql } from 'kysely';
import { periodOf } from '../catalogue/budget-period.ts';
import { keyFields, secretFields } from '../catalogue/entities.ts';
import { readCells } from '../catalogue/fields.ts';
import { budgetSpans, type DeclaredBudgets } from '../catalogue/limit-fields.ts';
import { nanoUsd } from '../money/money.ts';
import type {
  AccountScope,
  DaySpend,
  KeyChoices,
  KeyCounts,
  KeyFilter,
  KeyOrder,
  KeyPlace,
  KeyState,
  ListedKey,
  SpentBudget,
} from '../ports/key-directory.ts';
import { spentIn } from './accounts.ts';
import { loadAccounts, loadGroups } from './load-configuration.ts';
import { slotMs, slotOf, spanMs, startOf } from './reports.ts';
import type { KeysTable, Schema } from './schema.ts';

interface KeyRow extends KeysTable {
  readonly state: KeyState;
  readonly place: bigint | string;
  readonly account_name: string | null;
  readonly group_name: string | null;
  readonly platform: ListedKey['platform'] | null;
  readonly time_zone: string | null;
  readonly last_used_at_ms: bigint | null;
  readonly spent_day: bigint;
  readonly spent_month: bigint;
}

/** The keys that are looked for, one page of them: only theirs is summed, unless the sums are what they are ordered by. */
export async function listKeys(
  database: Kysely<Schema>,
  nowMs: number,
  scope: AccountScope,
  filter: KeyFilter,
  order: KeyOrder,
  limit: number,
  after: KeyPlace | null,
): Promise<readonly ListedKey[]> {
  const { value, isDescending } = orderOf(order, nowMs);
  const beyond = sql.raw(isDescending ? '<' : '>');
  const direction = sql.raw(isDescending ? 'desc' : 'asc');
  const place = after === null ? sql`true` : sql`(place, id) ${beyond} (${placeValue(after)}, ${after[1]})`;
  const page = sql`select id, place from (select id, ${value} as place from keys where ${isIn(scope)} and ${passes(filter, nowMs)})
    where ${place} order by place ${direction}, id ${direction} limit ${limit}`;
  const { rows } = await sql<KeyRow>`with page as materialized (${page})
    select keys.*, page.place, ${shown(nowMs)} from page join keys on keys.id = page.id
    ${ownersOfKeys} order by page.place ${direction}, page.id ${direction}`.execute(database);
  const keys: ListedKey[] = [];
  for (const row of rows) keys.push(await toListedKey(database, row, nowMs));
  return keys;
}

/** Null also where its account is not in the scope. */
export async function findListedKey(
  database: Kysely<Schema>,
  nowMs: number,
  scope: AccountScope,
  id: string,
): Promise<ListedKey | null> {
  const { rows } = await sql<KeyRow>`select keys.*, 0 as place, ${shown(nowMs)} from keys ${ownersOfKeys}
    where keys.id = ${id} and ${isIn(scope)}`.execute(database);
  return rows[0] === undefined ? null : toListedKey(database, rows[0], nowMs);
}

function orderOf(order: KeyOrder, nowMs: number): { value: RawBuilder<unknown>; isDescending: boolean } {
  switch (order) {
    case 'name':
      return { value: sql`lower(name)`, isDescending: false };
    case '-created':
      return { value: sql`created_at_ms`, isDescending: true };
    case '-lastUsed':
      return { value: sql`coalesce(${lastUsed}, 0)`, isDescending: true };
    case '-spend30d':
      return { value: spentSince(spanMs.day, monthAgo(nowMs)), isDescending: true };
  }
}

/** Numbers come back from a cursor as numbers, which are bound as integers. */
function placeValue([value]: KeyPlace): string | bigint {
  return typeof value === 'number' ? BigInt(value) : value;
}

function monthAgo(nowMs: number): number {
  return startOf(nowMs, spanMs.day) - 29 * spanMs.day;
}

/** Sums of the owner's charges, which the store keeps by slot and by day. */
function spentSince(widthMs: number, sinceMs: number): RawBuilder<unknown> {
  return sql`(select coalesce(sum(charge_nano_usd), 0) from spending
    where subject = 'key:' || keys.id and width_ms = ${sql.lit(widthMs)} and start_ms >= ${BigInt(sinceMs)})`;
}

const lastUsed = sql`(select max(slot_start_ms) from usage_slots where key_id = keys.id)`;

function shown(nowMs: number): RawBuilder<unknown> {
  return sql`${stateOf(nowMs)} as state, accounts.name as account_name, accounts.time_zone as time_zone,
    groups.name as group_name, groups.platform as platform, ${lastUsed} as last_used_at_ms,
    ${spentSince(slotMs, slotOf(nowMs - spanMs.day))} as spent_day,
    ${spentSince(spanMs.day, monthAgo(nowMs))} as spent_month`;
}

const ownersOfKeys = sql`left join accounts on accounts.id = keys.account_id left join groups on groups.id = keys.group_id`;

function stateOf(nowMs: number): RawBuilder<unknown> {
  const now = BigInt(nowMs);
  return sql`case when keys.removed = 1 or keys.status = 'revoked' then 'revoked'
    when keys.retires_at_ms <= ${now} then 'replaced'
    when keys.expires_at_ms <= ${now} then 'expired'
    when keys.status = 'disabled' then 'disabled'
    when keys.replaced_by is not null then 'retiring' else 'active' end`;
}

function isIn(scope: AccountScope): RawBuilder<unknown> {
  return scope === 'all'
    ? sql`true`
    : sql`keys.account_id in (select value from json_each(${JSON.stringify(scope)}))`;
}

function passes({ text, state, accountId, groupId }: KeyFilter, nowMs: number): RawBuilder<unknown> {
  const conditions = [
    state === undefined ? sql`${stateOf(nowMs)} <> 'revoked'` : sql`${stateOf(nowMs)} = ${state}`,
    ...(accountId === undefined ? [] : [sql`keys.account_id = ${accountId}`]),
    ...(groupId === undefined ? [] : [sql`keys.group_id = ${groupId}`]),
    ...(text === undefined || text === '' ? [] : [containsText(text)]),
  ];
  return sql.join(conditions, sql` and `);
}

function containsText(text: string): RawBuilder<unknown> {
  const escaped = text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);
  const within = `%${escaped}%`;
  return sql`(keys.name like ${within} escape '\\' or keys.hint like ${within} escape '\\' or keys.id like ${`${escaped}%`} escape '\\')`;
}

async function toListedKey(database: Kysely<Schema>, row: KeyRow, nowMs: number): Promise<ListedKey> {
  const { hint } = readCells(secretFields, row);
  const fields = readCells(keyFields, row);
  const place = typeof row.place === 'string' ? row.place : Number(row.place);
  return {
    ...fields,
    ...{ id: row.id, hint, source: row.source, state: row.state, status: row.status },
    createdAtMs: Number(row.created_at_ms),
    retiresAtMs: row.retires_at_ms === null ? null : Number(row.retires_at_ms),
    replacedBy: row.replaced_by,
    accountName: row.account_name ?? row.account_id,
    groupName: row.group_name ?? fields.groupId,
    platform: row.platform ?? 'completions',
    lastUsedAtMs: row.last_used_at_ms === null ? null : Number(row.last_used_at_ms),
    spentDayNanoUsd: nanoUsd(row.spent_day),
    spentMonthNanoUsd: nanoUsd(row.spent_month),
    budgetsSpent: await budgetsSpent(
      database,
      nowMs,
      `key:${row.id}`,
      fields.budgets,
      row.time_zone ?? 'UTC',
    ),
    place: [place, row.id],
  };
}

/** The budgets that are set, each with what was spent in its day, its month, or in all. */
export async function budgetsSpent(
  database: Kysely<Schema>,
  nowMs: number,
  subject: string,
  budgets: DeclaredBudgets | null,
  timeZone: string,
): Promise<readonly SpentBudget[]> {
  const set = budgetSpans.flatMap((span) => {
    const amountNanoUsd = budgets?.[span] ?? null;
    return amountNanoUsd === null ? [] : [{ span, amountNanoUsd, period: periodOf(span, timeZone, nowMs) }];
  });
  if (set.length === 0) return [];
  const periods = set.map(({ period }) => period);
  const spent = await spentIn(database, subject, periods);
  return set.map(({ span, amountNanoUsd, period }, at) => ({
    ...{ span, amountNanoUsd, spentNanoUsd: spent[at] ?? nanoUsd(0n) },
    resetsAtMs: period === null ? null : period.toMs,
  }));
}

/** Keys of these accounts can be made of this. */
export async function loadKeyChoices(database: Kysely<Schema>, scope: AccountScope): Promise<KeyChoices> {
  const accounts = await loadAccounts(database);
  const { rows } = await sql<{
    account_id: string;
    group_id: string;
  }>`select distinct account_id, group_id from keys
    where removed = 0 and status <> 'revoked' and ${isIn(scope)} order by 1, 2`.execute(database);
  const inUse = Map.groupBy(rows, (row) => row.account_id);
  return {
    accounts: accounts.filter(({ id }) => scope === 'all' || scope.includes(id)),
    groups: await loadGroups(database),
    modelIds: await idsIn(database, 'models'),
    channelIds: await idsIn(database, 'channels'),
    groupsInUse: new Map([...inUse].map(([id, of]) => [id, of.map((row) => row.group_id)])),
  };
}

/** Keys that may be used. */
export async function countKeys(database: Kysely<Schema>): Promise<KeyCounts> {
  const { rows } = await sql<{ account_id: string; group_id: string; keys: bigint }>`
    select account_id, group_id, count(*) as keys from keys where removed = 0 and status = 'active' group by 1, 2`.execute(
    database,
  );
  const sums = (column: 'account_id' | 'group_id') => {
    const counted = new Map<string, number>();
    for (const row of rows) counted.set(row[column], (counted.get(row[column]) ?? 0) + Number(row.keys));
    return counted;
  };
  return { byAccount: sums('account_id'), byGroup: sums('group_id') };
}

async function idsIn(database: Kysely<Schema>, table: 'models' | 'channels'): Promise<readonly string[]> {
  const rows = await database
    .selectFrom(table)
    .select('id')
    .where('removed', '=', 0n)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Days that have charges, the oldest first. */
export async function spendByDay(
  database: Kysely<Schema>,
  subject: string,
  sinceMs: number,
): Promise<readonly DaySpend[]> {
  const { rows } = await sql<{ start_ms: bigint; charge: bigint }>`
    select start_ms, charge_nano_usd as charge from spending
    where subject = ${subject} and width_ms = ${sql.lit(spanMs.day)} and start_ms >= ${BigInt(startOf(sinceMs, spanMs.day))}
    order by start_ms`.execute(database);
  return rows.map((row) => ({ startMs: Number(row.start_ms), chargeNanoUsd: nanoUsd(row.charge) }));
}
