import type { Kysely } from 'kysely';
import type { DeclaredWebhook } from '../catalogue/webhooks.ts';
import type { NewSigningSecret } from '../ports/configuration-store.ts';
import { webhookRow } from './configuration.ts';
import { putRow } from './console-channels.ts';
import { loadRevision } from './load-configuration.ts';
import { raiseRevision } from './revision.ts';
import { updateRow } from './rows.ts';
import type { Schema } from './schema.ts';
import { dropSigningSecrets, keepSigningSecret } from './signing-secrets.ts';

/** Makes a webhook of the console's. Messages that were for another of its name are not sent to its receiver. */
export function insertWebhook(
  database: Kysely<Schema>,
  webhook: DeclaredWebhook,
  secret: NewSigningSecret,
  revision: number,
  nowMs: number,
): Promise<boolean> {
  return changeAt(database, revision, async (transaction) => {
    await clearWebhook(transaction, webhook.id);
    await putRow(transaction, 'webhooks', webhookRow(webhook));
    await keepSigningSecret(transaction, secret, nowMs, nowMs);
  });
}

export function putWebhook(
  database: Kysely<Schema>,
  webhook: DeclaredWebhook,
  revision: number,
): Promise<boolean> {
  return changeAt(database, revision, (transaction) => putRow(transaction, 'webhooks', webhookRow(webhook)));
}

export function removeWebhook(database: Kysely<Schema>, id: string, revision: number): Promise<boolean> {
  return changeAt(database, revision, async (transaction) => {
    await clearWebhook(transaction, id);
    await updateRow(transaction, 'webhooks', id, { removed: 1 });
  });
}

export function rotateSigningSecret(
  database: Kysely<Schema>,
  secret: NewSigningSecret,
  retiresAtMs: number,
  revision: number,
  nowMs: number,
): Promise<boolean> {
  return changeAt(database, revision, (transaction) =>
    keepSigningSecret(transaction, secret, retiresAtMs, nowMs),
  );
}

/** Its secrets, and its messages: those that wait would be sent to the next webhook of its name. */
async function clearWebhook(transaction: Kysely<Schema>, id: string): Promise<void> {
  await dropSigningSecrets(transaction, id);
  await transaction.deleteFrom('event_deliveries').where('webhook', '=', id).execute();
}

/** One transaction, and nothing where something was configured since whoever asks has looked. */
function changeAt(
  database: Kysely<Schema>,
  revision: number,
  change: (transaction: Kysely<Schema>) => Promise<void>,
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    if ((await loadRevision(transaction)) !== revision) return false;
    await change(transaction);
    await raiseRevision(transaction);
    return true;
  });
}
