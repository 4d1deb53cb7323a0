import type { Kysely } from 'kysely';
import { timeoutFields } from '../catalogue/channel-way.ts';
import {
  accountFields,
  channelFields,
  channelModelFields,
  credentialFields,
  type DeclaredAccount,
  type DeclaredChannel,
  type DeclaredChannelModel,
  type DeclaredGroup,
  type DeclaredModel,
  groupFields,
  keyFields,
  modelFields,
  routingFields,
  secretFields,
} from '../catalogue/entities.ts';
import { cellReader, type Fields, readCells, type ValuesOf } from '../catalogue/fields.ts';
import type { LaterPrice, PriceOrigin } from '../catalogue/price-book.ts';
import { timelineOf } from '../catalogue/price-timeline.ts';
import { type DeclaredWebhook, webhookFields } from '../catalogue/webhooks.ts';
import type { ImagePrice, PriceClasses, PriceTier, SearchPrice } from '../money/price.ts';
import type { Sourced, StoredConfiguration, StoredKey, StoredPrice } from '../ports/configuration-store.ts';
import { loadConsoleSettings } from './console-settings.ts';
import { loadCredentials } from './credentials.ts';
import type { Declared, Schema } from './schema.ts';
import { loadSigningSecrets } from './signing-secrets.ts';

/** Everything configured, as of one moment. Prices in force at `nowMs` are repeated on their models and channels. */
export function loadConfiguration(database: Kysely<Schema>, nowMs: number): Promise<StoredConfiguration> {
  return database
    .transaction()
    .setAccessMode('read only')
    .execute(async (transaction) => {
      const prices = await loadPrices(transaction);
      const bySubject = Map.groupBy(prices, ({ subject }) => subject);
      const priceOf: PriceLookup = (subject) => repeated(bySubject.get(subject) ?? [], nowMs);
      return {
        revision: await loadRevision(transaction),
        providers: await loadProviders(transaction),
        accounts: await loadAccounts(transaction),
        groups: await loadGroups(transaction),
        models: await loadModels(transaction, priceOf),
        channels: await loadChannels(transaction, priceOf),
        keys: await loadKeys(transaction),
        webhooks: await loadWebhooks(transaction),
        signingSecrets: await loadSigningSecrets(transaction),
        credentials: await loadCredentials(transaction),
        prices,
        settings: await loadConsoleSettings(transaction),
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

/** Every version of every price, or of one subject's, those of one subject in the order in which they were written. */
export async function loadPrices(
  database: Kysely<Schema>,
  subject: string | null = null,
): Promise<readonly StoredPrice[]> {
  const rows = await database
    .selectFrom('prices')
    .selectAll()
    .$if(subject !== null, (query) => query.where('subject', '=', subject))
    .orderBy('number')
    .orderBy('subject')
    .execute();
  return rows.map((row) => ({
    subject: row.subject,
    version: row.version,
    effectiveFromMs: Number(row.effective_from_ms),
    tiers: decodeTiers(row.tiers),
    // The store is its only writer.
    origin: row.origin === null ? null : (JSON.parse(row.origin) as PriceOrigin),
    source: row.source,
    writtenAtMs: Number(row.written_at_ms ?? row.effective_from_ms),
  }));
}

/** A price in force, and those that are planned, as entities repeat them. */
interface RepeatedPrice {
  readonly tiers: readonly PriceTier[] | null;
  readonly origin: PriceOrigin | null;
  readonly later: readonly LaterPrice[];
}

type PriceLookup = (subject: string) => RepeatedPrice;

function repeated(versions: readonly StoredPrice[], nowMs: number): RepeatedPrice {
  const { current, later } = timelineOf(versions, nowMs);
  const said = (price: StoredPrice | null) => ({
    tiers: price?.tiers ?? null,
    origin: price?.origin ?? null,
  });
  return { ...said(current), later: later.map(({ fromMs, price }) => ({ fromMs, ...said(price) })) };
}

async function loadProviders(database: Kysely<Schema>): Promise<Readonly<Record<string, string>>> {
  const rows = await database
    .selectFrom('providers')
    .selectAll()
    .where('removed', '=', 0n)
    .orderBy('id')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.id, row.document]));
}

async function loadEntities<Table extends Fields>(
  database: Kysely<Schema>,
  table: 'accounts' | 'groups' | 'models' | 'channels' | 'webhooks',
  fields: Table,
): Promise<readonly (ValuesOf<Table> & { readonly id: string; readonly row: Declared })[]> {
  const rows = await database.selectFrom(table).selectAll().where('removed', '=', 0n).orderBy('id').execute();
  return rows.map((row) => ({ id: row.id, ...readCells(fields, row), row }));
}

export async function loadAccounts(
  database: Kysely<Schema>,
): Promise<readonly (DeclaredAccount & Sourced)[]> {
  const accounts = await loadEntities(database, 'accounts', accountFields);
  return accounts.map(({ row: { source }, ...account }) => ({ ...account, source }));
}

async function loadWebhooks(database: Kysely<Schema>): Promise<readonly (DeclaredWebhook & Sourced)[]> {
  const webhooks = await loadEntities(database, 'webhooks', webhookFields);
  return webhooks.map(({ row: { source }, ...webhook }) => ({ ...webhook, source }));
}

export async function loadGroups(database: Kysely<Schema>): Promise<readonly (DeclaredGroup & Sourced)[]> {
  const groups = await loadEntities(database, 'groups', groupFields);
  return groups.map(({ row, ...group }) => ({
    ...group,
    routing: readCells(routingFields, row),
    source: row.source,
  }));
}

async function loadModels(
  database: Kysely<Schema>,
  priceOf: PriceLookup,
): Promise<readonly (DeclaredModel & Sourced)[]> {
  const models = await loadEntities(database, 'models', modelFields);
  return models.map(({ row: { source }, ...model }) => {
    const { tiers, origin, later } = priceOf(modelPriceSubject(model.id));
    const planned = later.length === 0 ? {} : { priceLater: later };
    return { ...model, source, price: tiers, priceOrigin: origin, ...planned };
  });
}

async function loadChannels(
  database: Kysely<Schema>,
  priceOf: PriceLookup,
): Promise<readonly (DeclaredChannel & Sourced)[]> {
  const channels = await loadEntities(database, 'channels', channelFields);
  const modelsOf = await loadChannelModels(database);
  return channels.map(({ row, ...channel }) => ({
    ...channel,
    source: row.source,
    ...readCells(credentialFields, row),
    timeouts: readCells(timeoutFields, row),
    models: (modelsOf.get(channel.id) ?? []).map((model) => {
      const { tiers, origin, later } = priceOf(channelPriceSubject(channel.id, model.modelId));
      const planned = later.length === 0 ? {} : { costLater: later };
      return { ...model, cost: tiers, costOrigin: origin, ...planned };
    }),
  }));
}

/** A model of a channel as its row has it; its prices are rows of their own. */
export type ServedModelRow = Omit<DeclaredChannelModel, 'cost' | 'costOrigin' | 'costLater'>;

/** The models that each channel serves, in the order they were declared. */
export async function loadChannelModels(
  database: Kysely<Schema>,
): Promise<ReadonlyMap<string, readonly ServedModelRow[]>> {
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
      models.map((row) => ({ modelId: row.model_id, ...readCells(channelModelFields, row) })),
    ]),
  );
}

/** Row by row: there may be tens of thousands, and no more than one is held as the store writes it. */
async function loadKeys(database: Kysely<Schema>): Promise<readonly StoredKey[]> {
  const [readFields, readSecret] = [cellReader(keyFields), cellReader(secretFields)];
  const keys: StoredKey[] = [];
  for await (const row of database.selectFrom('keys').selectAll().orderBy('id').stream()) {
    keys.push({
      id: row.id,
      ...readFields(row),
      ...readSecret(row),
      status: row.removed === 0n ? row.status : 'revoked',
      source: row.source,
      createdAtMs: Number(row.created_at_ms),
      retiresAtMs: row.retires_at_ms === null ? null : Number(row.retires_at_ms),
      replacedBy: row.replaced_by,
    });
  }
  return keys;
}

/**
 * Tiers as the JSON of a row of `prices`: every price a decimal string, since JSON has no exact integers. The same tiers
 * give the same text.
 */
export function encodeTiers(tiers: readonly PriceTier[]): string {
  const rows = tiers.map(({ aboveInputTokens, service, classes, fees, images, searches, regions }) => ({
    ...{ aboveInputTokens, service, classes, images, fees, searches, regions },
  }));
  return JSON.stringify(rows, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}

type Written<Prices> = {
  readonly [Name in keyof Prices]: Prices[Name] extends bigint | undefined ? string : Prices[Name];
};

interface TierDocument extends Omit<PriceTier, 'classes' | 'fees' | 'images' | 'searches' | 'regions'> {
  readonly classes: Written<PriceClasses>;
  readonly fees?: Written<NonNullable<PriceTier['fees']>>;
  readonly images?: readonly Written<ImagePrice>[];
  readonly searches?: readonly Written<SearchPrice>[];
  readonly regions?: Readonly<Record<string, string>>;
}

function decodeTiers(text: string): readonly PriceTier[] {
  // The store is the only writer of this column, and `encodeTiers` is what it writes.
  const documents = JSON.parse(text) as readonly TierDocument[];
  return documents.map(({ classes, fees, images, searches, regions, ...row }) => ({
    ...row,
    classes: withPrices<PriceClasses>(classes, pricesAreAll),
    ...(fees === undefined ? {} : { fees: withPrices(fees, pricesAreAll) }),
    ...(images === undefined
      ? {}
      : { images: images.map((image) => withPrices<ImagePrice>(image, ['price'])) }),
    ...(searches === undefined
      ? {}
      : { searches: searches.map((search) => withPrices<SearchPrice>(search, ['perCall', 'perWebSearch'])) }),
    ...(regions === undefined ? {} : { regions: withPrices(regions, pricesAreAll) }),
  }));
}

const pricesAreAll = null;

/** The members with those that are prices read; a document has every member that its row had. */
function withPrices<Prices>(written: object, names: readonly string[] | null): Prices {
  const members = Object.entries(written).map(([name, value]: [string, unknown]) => [
    name,
    names === null || names.includes(name) ? BigInt(String(value)) : value,
  ]);
  return Object.fromEntries(members) as Prices;
}

/** Callers pay for a model by this subject. */
export function modelPriceSubject(modelId: string): string {
  return `model:${modelId}`;
}

/** A channel's upstream charges us for a model by this subject. */
export function channelPriceSubject(channelId: string, modelId: string): string {
  return `channel:${channelId}/${modelId}`;
}
