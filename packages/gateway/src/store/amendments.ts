import { fail, type Result, succeed } from '@headgate/protocols';
import { type Kysely, sql } from 'kysely';
import { changeableFieldsOf } from '../catalogue/changeable-fields.ts';
import {
  accountFields,
  type DeclaredAccount,
  type DeclaredGroup,
  groupFields,
  routingFields,
} from '../catalogue/entities.ts';
import { type Cells, exported, type Fields, readCells, writeCells } from '../catalogue/fields.ts';
import { type LimitPatch, patched, patchedRouting } from '../catalogue/limit-patch.ts';
import type { OwnerKind } from '../catalogue/limits.ts';
import type { Amendment, AmendRefusal, GroupRemovalRefusal } from '../ports/configuration-store.ts';
import { raiseRevision } from './revision.ts';
import { insertInto, updateRow } from './rows.ts';
import type { Schema } from './schema.ts';

const tableOf = { account: 'accounts', group: 'groups', key: 'keys' } as const satisfies Record<
  OwnerKind,
  keyof Schema
>;

/** Adds an account of the operator's. One that nobody declares any more comes back, with its balance. False when there is one. */
export function insertAccount(database: Kysely<Schema>, account: DeclaredAccount): Promise<boolean> {
  return insertOwner(database, 'accounts', account.id, writeCells(accountFields, account));
}

function insertOwner(
  database: Kysely<Schema>,
  table: 'accounts' | 'groups',
  id: string,
  fields: Cells,
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    const known = await transaction
      .selectFrom(table)
      .select('removed')
      .where('id', '=', id)
      .executeTakeFirst();
    if (known?.removed === 0n) return false;
    const cells = { ...fields, source: 'operator', removed: 0 };
    if (known === undefined) await insertInto(transaction, table, { id, ...cells });
    else await updateRow(transaction, table, id, cells);
    await raiseRevision(transaction);
    return true;
  });
}

/** As `insertAccount`. */
export function insertGroup(
  database: Kysely<Schema>,
  { routing, ...group }: DeclaredGroup,
): Promise<boolean> {
  return insertOwner(database, 'groups', group.id, {
    ...writeCells(groupFields, group),
    ...writeCells(routingFields, routing),
  });
}

/** Takes a group away that no key belongs to any more. */
export function removeGroup(
  database: Kysely<Schema>,
  id: string,
): Promise<Result<null, GroupRemovalRefusal>> {
  return database.transaction().execute(async (transaction): Promise<Result<null, GroupRemovalRefusal>> => {
    const { rows } = await sql<{ readonly source: string; readonly keys: bigint }>`
      select source, (select count(*) from keys where group_id = ${id} and removed = 0 and status <> 'revoked') as keys
      from groups where id = ${id} and removed = 0`.execute(transaction);
    const [row] = rows;
    if (row === undefined) return fail('unknown');
    if (row.source === 'file') return fail('declared');
    if (row.keys > 0n) return fail('in-use');
    await updateRow(transaction, 'groups', id, { removed: 1 });
    await raiseRevision(transaction);
    return succeed(null);
  });
}

/** Changes an owner as it is now, unless a file declares it. */
export function amendLimits(
  database: Kysely<Schema>,
  owner: OwnerKind,
  id: string,
  patch: LimitPatch,
): Promise<Result<Amendment, AmendRefusal>> {
  return database.transaction().execute(async (transaction): Promise<Result<Amendment, AmendRefusal>> => {
    const table = tableOf[owner];
    const row = await rowOf(transaction, owner, id);
    if (row === null || row.removed === 1n) return fail({ kind: 'unknown' });
    if (row.source === 'file') return fail({ kind: 'declared' });
    const { routing, ...others } = patch;
    const fields: Fields = changeableFieldsOf[owner];
    const amended = patched(fields, id, readCells(fields, row), others);
    if (!amended.ok) return fail({ kind: 'mistaken', mistakes: amended.error });
    const rerouted =
      routing === undefined
        ? {}
        : writeCells(routingFields, patchedRouting(id, readCells(routingFields, row), routing));
    await updateRow(transaction, table, id, { ...writeCells(fields, amended.value), ...rerouted });
    await raiseRevision(transaction);
    const after = (await rowOf(transaction, owner, id)) ?? row;
    const membersOf = (of: OwnerRow) => namedMembers(owner, of, Object.keys(patch));
    const accountId = owner === 'account' ? id : (row.account_id ?? null);
    return succeed({ name: after.name, accountId, before: membersOf(row), after: membersOf(after) });
  });
}

interface OwnerRow {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  readonly removed: bigint;
  /** Only keys have one. */
  readonly account_id?: string;
}

async function rowOf(transaction: Kysely<Schema>, owner: OwnerKind, id: string): Promise<OwnerRow | null> {
  const { rows } = await sql<OwnerRow>`select * from ${sql.table(tableOf[owner])} where id = ${id}`.execute(
    transaction,
  );
  return rows[0] ?? null;
}

/** Members of an owner as a file would say them; null of what it would leave out. */
function namedMembers(
  owner: OwnerKind,
  row: OwnerRow,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  const fields: Fields = changeableFieldsOf[owner];
  const written = new Map<string, unknown>(Object.entries(exported(fields, row.id, readCells(fields, row))));
  if (owner === 'group')
    written.set('routing', exported(routingFields, row.id, readCells(routingFields, row)));
  return Object.fromEntries(names.map((name) => [name, written.get(name) ?? null]));
}
