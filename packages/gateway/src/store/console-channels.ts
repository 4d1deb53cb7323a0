import type { Kysely } from 'kysely';
import type { ChannelWish } from '../ports/configuration-store.ts';
import { channelRow, type EntityRow, modelRow, replaceChannelModels } from './configuration.ts';
import { loadRevision } from './load-configuration.ts';
import { declaredPrices, versionPrices } from './price-versions.ts';
import { raiseRevision } from './revision.ts';
import { insertInto, updateRow } from './rows.ts';
import type { Schema } from './schema.ts';
import { dropUnserved } from './served-models.ts';

/** Puts a channel of the console's in its place. Models that a source has named are that source's; the others become the console's. */
export function putChannel(
  database: Kysely<Schema>,
  { channel, models }: ChannelWish,
  revision: number,
  nowMs: number,
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    if ((await loadRevision(transaction)) !== revision) return false;
    await putRow(transaction, 'channels', channelRow(channel));
    await replaceChannelModels(transaction, [channel]);
    for (const model of models) await putRow(transaction, 'models', modelRow(model));
    await dropUnserved(transaction);
    await versionPrices(transaction, 'console', declaredPrices(models, [channel]), nowMs);
    await raiseRevision(transaction);
    return true;
  });
}

/** Takes a channel away; its row stays for the ledger's sake. */
export function removeChannel(database: Kysely<Schema>, id: string, revision: number): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    if ((await loadRevision(transaction)) !== revision) return false;
    await updateRow(transaction, 'channels', id, { removed: 1 });
    await transaction.deleteFrom('credentials').where('channel_id', '=', id).execute();
    await dropUnserved(transaction);
    await raiseRevision(transaction);
    return true;
  });
}

/** Writes a row of the console's in the place of what is stored under its id. */
export async function putRow(
  transaction: Kysely<Schema>,
  table: 'channels' | 'models' | 'webhooks',
  row: EntityRow,
): Promise<void> {
  const known = await transaction.selectFrom(table).select('id').where('id', '=', row.id).executeTakeFirst();
  const cells = { ...row, source: 'console', removed: 0 };
  if (known === undefined) await insertInto(transaction, table, cells);
  else await updateRow(transaction, table, row.id, cells);
}
