import { fail, type Result, succeed } from '@headgate/protocols';
import { type Kysely, sql } from 'kysely';
import { accountFields, type DeclaredAccount } from '../catalogue/entities.ts';
import { type Fields, readCells, writeCells } from '../catalogue/fields.ts';
import { limitFieldsOf } from '../catalogue/limit-fields.ts';
import { type LimitPatch, patched } from '../catalogue/limit-patch.ts';
import type { OwnerKind } from '../catalogue/limits.ts';
import type { AmendRefusal } from '../ports/configuration-store.ts';
import { raiseRevision } from './revision.ts';
import { insertInto, updateRow } from './rows.ts';
import type { Schema } from './schema.ts';

const tableOf = { account: 'accounts', group: 'groups', key: 'keys' } as const satisfies Record<
  OwnerKind,
  keyof Schema
>;

/** Adds an account of the operator's. One that nobody declares any more comes back, with its balance. False when there is one. */
export function insertAccount(database: Kysely<Schema>, account: DeclaredAccount): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    const known = await transaction
      .selectFrom('accounts')
      .select('removed')
      .where('id', '=', account.id)
      .executeTakeFirst();
    if (known?.removed === 0n) return false;
    const cells = { ...writeCells(accountFields, account), source: 'operator', removed: 0 };
    if (known === undefined) await insertInto(transaction, 'accounts', { id: account.id, ...cells });
    else await updateRow(transaction, 'accounts', account.id, cells);
    await raiseRevision(transaction);
    return true;
  });
}

/** Changes the limits of an owner as it is now, unless a file declares it. */
export function amendLimits(
  database: Kysely<Schema>,
  owner: OwnerKind,
  id: string,
  patch: LimitPatch,
): Promise<Result<null, AmendRefusal>> {
  return database.transaction().execute(async (transaction): Promise<Result<null, AmendRefusal>> => {
    const table = tableOf[owner];
    const { rows } = await sql<{ readonly source: string; readonly removed: bigint }>`
      select * from ${sql.table(table)} where id = ${id}`.execute(transaction);
    const [row] = rows;
    if (row === undefined || row.removed === 1n) return fail({ kind: 'unknown' });
    if (row.source === 'file') return fail({ kind: 'declared' });
    const fields: Fields = limitFieldsOf[owner];
    const amended = patched(fields, id, readCells(fields, row), patch);
    if (!amended.ok) return fail({ kind: 'mistaken', mistakes: amended.error });
    await updateRow(transaction, table, id, writeCells(fields, amended.value));
    await raiseRevision(transaction);
    return succeed(null);
  });
}
