import { type Kysely, sql } from 'kysely';
import type { Cells } from '../catalogue/fields.ts';
import type { Schema } from './schema.ts';

/** Inserts a row whose columns a field table names. */
export async function insertInto(
  transaction: Kysely<Schema>,
  table: keyof Schema,
  cells: Cells,
): Promise<void> {
  const columns = Object.keys(cells).map((column) => sql.ref(column));
  await sql`insert into ${sql.table(table)} (${sql.join(columns)})
    values (${sql.join(Object.values(cells))})`.execute(transaction);
}

/** Changes columns of the row of this id. */
export async function updateRow(
  transaction: Kysely<Schema>,
  table: keyof Schema,
  id: string,
  cells: Cells,
): Promise<void> {
  const changes = Object.entries(cells).map(([column, cell]) => sql`${sql.ref(column)} = ${cell}`);
  await sql`update ${sql.table(table)} set ${sql.join(changes)} where id = ${id}`.execute(transaction);
}
