import type { Kysely } from 'kysely';
import type { PriceTier } from '../core/price.ts';
import type {
  DeclaredAccount,
  DeclaredChannel,
  DeclaredGroup,
  DeclaredModel,
  StoredConfiguration,
  StoredKey,
  StoredPrice,
} from '../ports/configuration-store.ts';
import { decodeNames, decodeNeeds, decodeOptionalNames } from './configuration-row.ts';
import { channelPriceSubject, decodeTiers, modelPriceSubject } from './price-row.ts';
import type { Schema } from './schema.ts';

/** Everything configured, as of one moment. Prices in force at `nowMs` are repeated on their models and channels. */
export function loadConfiguration(database: Kysely<Schema>, nowMs: number): Promise<StoredConfiguration> {
  return database
    .transaction()
    .setAccessMode('read only')
    .execute(async (transaction) => {
      const prices = await loadPrices(transaction);
      const inForce = pricesInForce(prices, nowMs);
      const priceOf: PriceLookup = (subject) => inForce.get(subject)?.tiers ?? null;
      return {
        revision: await loadRevision(transaction),
        providers: await loadProviders(transaction),
        accounts: await loadAccounts(transaction),
        groups: await loadGroups(transaction),
        models: await loadModels(transaction, priceOf),
        channels: await loadChannels(transaction, priceOf),
        keys: await loadKeys(transaction),
        prices,
      };
    });
}

export async function loadRevision(database: Kysely<Schema>): Promise<number> {
  const row = await database
    .selectFrom('meta')
    .select('value')
    .where('name', '=', 'configuration_revision')
    .executeTakeFirstOrThrow();
  return Number(row.value);
}

/** Every version of every price, oldest first. */
export async function loadPrices(database: Kysely<Schema>): Promise<readonly StoredPrice[]> {
  const rows = await database
    .selectFrom('prices')
    .selectAll()
    .orderBy('effective_from_ms')
    .orderBy('number')
    .execute();
  return rows.map((row) => ({
    subject: row.subject,
    version: row.version,
    effectiveFromMs: Number(row.effective_from_ms),
    tiers: decodeTiers(row.tiers),
  }));
}

/** The newest version of each subject whose time has come; a withdrawn price is in force no more. */
function pricesInForce(prices: readonly StoredPrice[], nowMs: number): ReadonlyMap<string, StoredPrice> {
  const newest = new Map<string, StoredPrice>();
  for (const price of prices) {
    if (price.effectiveFromMs > nowMs) continue;
    if (price.tiers.length === 0) newest.delete(price.subject);
    else newest.set(price.subject, price);
  }
  return newest;
}

type PriceLookup = (subject: string) => readonly PriceTier[] | null;

async function loadProviders(database: Kysely<Schema>): Promise<Readonly<Record<string, string>>> {
  const rows = await database
    .selectFrom('providers')
    .selectAll()
    .where('removed', '=', 0n)
    .orderBy('id')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.id, row.document]));
}

function loadAccounts(database: Kysely<Schema>): Promise<DeclaredAccount[]> {
  return database
    .selectFrom('accounts')
    .select(['id', 'name'])
    .where('removed', '=', 0n)
    .orderBy('id')
    .execute();
}

async function loadGroups(database: Kysely<Schema>): Promise<readonly DeclaredGroup[]> {
  const rows = await database
    .selectFrom('groups')
    .selectAll()
    .where('removed', '=', 0n)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    platform: row.platform,
    multiplierPpm: row.multiplier_ppm,
    models: decodeOptionalNames(row.models),
    routing: {
      preset: row.routing_preset,
      channels: decodeOptionalNames(row.routing_channels),
      hedging: row.hedging === 1n,
    },
  }));
}

async function loadModels(database: Kysely<Schema>, priceOf: PriceLookup): Promise<readonly DeclaredModel[]> {
  const rows = await database
    .selectFrom('models')
    .selectAll()
    .where('removed', '=', 0n)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    displayName: row.display_name,
    ownedBy: row.owned_by,
    created: Number(row.created),
    contextWindow: toNumber(row.context_window),
    maxOutputTokens: toNumber(row.max_output_tokens),
    inputModalities: decodeNames(row.input_modalities),
    outputModalities: decodeNames(row.output_modalities),
    capabilities: decodeNames(row.capabilities),
    reasoning: row.reasoning === 1n,
    price: priceOf(modelPriceSubject(row.id)),
  }));
}

async function loadChannels(
  database: Kysely<Schema>,
  priceOf: PriceLookup,
): Promise<readonly DeclaredChannel[]> {
  const rows = await database
    .selectFrom('channels')
    .selectAll()
    .where('removed', '=', 0n)
    .orderBy('id')
    .execute();
  const modelsOf = await loadChannelModels(database);
  return rows.map((row) => ({
    id: row.id,
    alias: row.alias,
    providerId: row.provider_id,
    baseUrl: row.base_url,
    credentialEnvironments: decodeNames(row.credential_environments),
    priority: Number(row.priority),
    enabled: row.enabled === 1n,
    allowPrivate: row.allow_private === 1n,
    drain: row.drain === 1n,
    maxConcurrency: toNumber(row.max_concurrency),
    models: (modelsOf.get(row.id) ?? []).map((model) => ({
      ...model,
      cost: priceOf(channelPriceSubject(row.id, model.modelId)),
    })),
  }));
}

/** What each channel serves, in the order it was declared. */
export async function loadChannelModels(
  database: Kysely<Schema>,
): Promise<ReadonlyMap<string, readonly Omit<DeclaredChannel['models'][number], 'cost'>[]>> {
  const rows = await database
    .selectFrom('channel_models')
    .selectAll()
    .orderBy('channel_id')
    .orderBy('position')
    .execute();
  const groups = Map.groupBy(rows, (row) => row.channel_id);
  return new Map(
    [...groups].map(([channelId, models]) => [
      channelId,
      models.map((row) => ({
        modelId: row.model_id,
        upstreamModel: row.upstream_model,
        contextWindow: toNumber(row.context_window),
        lacks: decodeNeeds(row.lacks),
      })),
    ]),
  );
}

async function loadKeys(database: Kysely<Schema>): Promise<readonly StoredKey[]> {
  const rows = await database.selectFrom('keys').selectAll().orderBy('id').execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    accountId: row.account_id,
    groupId: row.group_id,
    hash: row.hash,
    hint: row.hint,
    models: decodeOptionalNames(row.models),
    expiresAtMs: toNumber(row.expires_at_ms),
    strict: row.strict !== 0n,
    status: row.removed === 0n ? row.status : 'revoked',
    source: row.source,
    createdAtMs: Number(row.created_at_ms),
    retiresAtMs: toNumber(row.retires_at_ms),
    replacedBy: row.replaced_by,
  }));
}

function toNumber(integer: bigint | null): number | null {
  return integer === null ? null : Number(integer);
}
