import { type Kysely, sql } from 'kysely';
import type { Schema } from './schema.ts';

const servedByConsole = sql`select channel_models.model_id from channel_models
  join channels on channels.id = channel_models.channel_id
  where channels.removed = 0 and channels.source = 'console'`;

/** The console's models are there as long as one of its channels serves them. */
export async function dropUnserved(transaction: Kysely<Schema>): Promise<void> {
  await sql`update models set removed = 1
    where source = 'console' and removed = 0 and id not in (${servedByConsole})`.execute(transaction);
}

/** A source that names a model no more leaves it to the channels of the console that serve it. */
export async function keepServed(transaction: Kysely<Schema>): Promise<void> {
  await sql`update models set removed = 0, source = 'console'
    where removed = 1 and id in (${servedByConsole})`.execute(transaction);
}
