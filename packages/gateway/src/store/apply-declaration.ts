import { type Kysely, sql } from 'kysely';
import type { PriceTier } from '../core/price.ts';
import type {
  ConfigurationChange,
  ConfigurationSource,
  Declaration,
  DeclaredChannel,
  DeclaredModel,
} from '../ports/configuration-store.ts';
import type { Cell } from './call-row.ts';
import {
  accountRow,
  type ConfigurationRow,
  channelRow,
  groupRow,
  keyRow,
  modelRow,
} from './configuration-row.ts';
import { loadChannelModels, loadPrices } from './load-configuration.ts';
import { channelPriceSubject, encodeTiers, modelPriceSubject } from './price-row.ts';
import type { Schema } from './schema.ts';

type Kind = Exclude<ConfigurationChange['kind'], 'price'>;

const tableOf = {
  provider: 'providers',
  account: 'accounts',
  group: 'groups',
  model: 'models',
  channel: 'channels',
  key: 'keys',
} as const satisfies Record<Kind, keyof Schema>;

/** Makes what `source` declares the whole of what it declares, and says what that changed. Runs in one transaction. */
export async function applyDeclaration(
  transaction: Kysely<Schema>,
  source: ConfigurationSource,
  declaration: Declaration,
  nowMs: number,
): Promise<readonly ConfigurationChange[]> {
  const replace = (
    kind: Kind,
    rows: readonly ConfigurationRow[],
    onInsert: Readonly<Record<string, Cell>> = {},
  ) => replaceRows(transaction, kind, source, rows, onInsert);
  const providers = Object.entries(declaration.providers).map(([id, document]) => ({ id, document }));
  const changes = [
    ...(await replace('provider', providers)),
    ...(await replace('account', declaration.accounts.map(accountRow))),
    ...(await replace('group', declaration.groups.map(groupRow))),
    ...(await replace('model', declaration.models.map(modelRow))),
    ...(await replace('channel', declaration.channels.map(channelRow))),
    ...(await replace('key', declaration.keys.map(keyRow), { status: 'active', created_at_ms: nowMs })),
  ];
  const isRefused = (kind: Kind, id: string) =>
    changes.some((change) => change.kind === kind && change.id === id && change.change === 'refused');
  const channels = declaration.channels.filter((channel) => !isRefused('channel', channel.id));
  const models = declaration.models.filter((model) => !isRefused('model', model.id));
  const served = await replaceChannelModels(transaction, channels);
  const isListed = (id: string) => changes.some((change) => change.kind === 'channel' && change.id === id);
  for (const id of served) if (!isListed(id)) changes.push({ kind: 'channel', id, change: 'changed' });
  return [...changes, ...(await versionPrices(transaction, declaredPrices(models, channels), nowMs))];
}

/** What each subject of a price is declared to cost; null withdraws. */
function declaredPrices(
  models: readonly DeclaredModel[],
  channels: readonly DeclaredChannel[],
): ReadonlyMap<string, readonly PriceTier[] | null> {
  return new Map([
    ...models.map((model) => [modelPriceSubject(model.id), model.price] as const),
    ...channels.flatMap((channel) =>
      channel.models.map((model) => [channelPriceSubject(channel.id, model.modelId), model.cost] as const),
    ),
  ]);
}

interface ExistingRow {
  readonly id: string;
  readonly source: string;
  readonly removed: bigint;
  /** Of a key; other rows have none. */
  readonly hash?: string;
  readonly [column: string]: unknown;
}

async function replaceRows(
  transaction: Kysely<Schema>,
  kind: Kind,
  source: ConfigurationSource,
  rows: readonly ConfigurationRow[],
  onInsert: Readonly<Record<string, Cell>>,
): Promise<ConfigurationChange[]> {
  const table = sql.table(tableOf[kind]);
  const stored = (await sql<ExistingRow>`select * from ${table}`.execute(transaction)).rows;
  const existing = new Map(stored.map((row) => [row.id, row]));
  const foreign = new Set(stored.flatMap((row) => (row.source === source ? [] : (row.hash ?? []))));
  const changes: ConfigurationChange[] = [];
  const declared = new Map(
    rows.filter(({ hash }) => hash === undefined || !foreign.has(hash)).map((row) => [row.id, row]),
  );
  for (const { id, source: owner, removed, hash } of stored) {
    if (owner !== source || removed === 1n) continue;
    const row = declared.get(id);
    if (row === undefined) {
      await updateRow(transaction, kind, id, { removed: 1, ...freed(kind, id) });
      changes.push({ kind, id, change: 'removed' });
    } else if (row.hash !== hash) await updateRow(transaction, kind, id, freed(kind, id));
  }
  for (const row of rows) {
    const change = declared.has(row.id) ? changeOf(row, existing.get(row.id), source) : 'refused';
    if (change === null) continue;
    changes.push({ kind, id: row.id, change });
    if (change === 'refused') continue;
    const cells = { ...row, source, removed: 0 };
    if (existing.has(row.id)) await updateRow(transaction, kind, row.id, cells);
    else await insertRow(transaction, kind, { ...cells, ...onInsert });
  }
  return changes;
}

/** A key removed or replaced gives up its hash first, so that the same key may be declared under another id. */
function freed(kind: Kind, id: string): Readonly<Record<string, Cell>> {
  return kind === 'key' ? { hash: `removed:${id}` } : {};
}

function changeOf(
  row: ConfigurationRow,
  existing: ExistingRow | undefined,
  source: ConfigurationSource,
): ConfigurationChange['change'] | null {
  if (existing === undefined) return 'added';
  if (existing.removed === 1n) return 'added';
  if (existing.source !== source) return 'refused';
  const same = Object.entries(row).every(([column, cell]) => isSame(existing[column], cell));
  return same ? null : 'changed';
}

function isSame(stored: unknown, declared: Cell): boolean {
  if (stored === null || declared === null) return stored === declared;
  return String(stored) === String(declared);
}

async function insertRow(
  transaction: Kysely<Schema>,
  kind: Kind,
  cells: Readonly<Record<string, Cell>>,
): Promise<void> {
  const columns = Object.keys(cells).map((column) => sql.ref(column));
  await sql`insert into ${sql.table(tableOf[kind])} (${sql.join(columns)})
    values (${sql.join(Object.values(cells))})`.execute(transaction);
}

async function updateRow(
  transaction: Kysely<Schema>,
  kind: Kind,
  id: string,
  cells: Readonly<Record<string, Cell>>,
): Promise<void> {
  const changes = Object.entries(cells).map(([column, cell]) => sql`${sql.ref(column)} = ${cell}`);
  await sql`update ${sql.table(tableOf[kind])} set ${sql.join(changes)} where id = ${id}`.execute(
    transaction,
  );
}

/** Returns the channels that now serve other models than before, or the same in another way. */
async function replaceChannelModels(
  transaction: Kysely<Schema>,
  channels: readonly DeclaredChannel[],
): Promise<readonly string[]> {
  const before = await loadChannelModels(transaction);
  const changed: string[] = [];
  for (const channel of channels) {
    const models = channel.models.map(({ modelId, upstreamModel, contextWindow, lacks }) => ({
      ...{ modelId, upstreamModel, contextWindow, lacks },
    }));
    if (JSON.stringify(models) === JSON.stringify(before.get(channel.id) ?? [])) continue;
    changed.push(channel.id);
    await transaction.deleteFrom('channel_models').where('channel_id', '=', channel.id).execute();
    if (models.length === 0) continue;
    const rows = models.map((model, position) => ({
      channel_id: channel.id,
      model_id: model.modelId,
      upstream_model: model.upstreamModel,
      position: BigInt(position),
      context_window: model.contextWindow === null ? null : BigInt(model.contextWindow),
      lacks: JSON.stringify(model.lacks),
    }));
    await transaction.insertInto('channel_models').values(rows).execute();
  }
  return changed;
}

/** Adds a version where the declared price differs from the newest one. A price no longer declared is withdrawn. */
async function versionPrices(
  transaction: Kysely<Schema>,
  declared: ReadonlyMap<string, readonly PriceTier[] | null>,
  nowMs: number,
): Promise<readonly ConfigurationChange[]> {
  const versions = Map.groupBy(await loadPrices(transaction), (price) => price.subject);
  const changes: ConfigurationChange[] = [];
  for (const [subject, tiers] of declared) {
    const known = versions.get(subject) ?? [];
    const newest = known.at(-1);
    const next = encodeTiers(tiers ?? []);
    if (next === encodeTiers(newest?.tiers ?? [])) continue;
    // The clock may have gone back, and the newest version must be the one that holds.
    const effectiveFromMs = Math.max(nowMs, newest?.effectiveFromMs ?? nowMs);
    const number = BigInt(known.length + 1);
    const version = `${subject}@${number}`;
    await transaction
      .insertInto('prices')
      .values({ subject, version, number, effective_from_ms: BigInt(effectiveFromMs), tiers: next })
      .execute();
    changes.push({ kind: 'price', id: subject, change: priceChange(known.length, tiers) });
  }
  return changes;
}

function priceChange(known: number, tiers: readonly PriceTier[] | null): ConfigurationChange['change'] {
  if (known === 0) return 'added';
  return tiers === null ? 'removed' : 'changed';
}
