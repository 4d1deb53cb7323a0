import { type Kysely, sql } from 'kysely';
import type { KeyStatus } from '../catalogue/catalogue.ts';
import { timeoutFields } from '../catalogue/channel-way.ts';
import {
  accountFields,
  channelFields,
  channelModelFields,
  credentialFields,
  type DeclaredAccount,
  type DeclaredChannel,
  type DeclaredGroup,
  type DeclaredKey,
  type DeclaredModel,
  groupFields,
  keyFields,
  modelFields,
  routingFields,
  secretFields,
} from '../catalogue/entities.ts';
import { type Cells, writeCells } from '../catalogue/fields.ts';
import { type DeclaredWebhook, webhookFields } from '../catalogue/webhooks.ts';
import type {
  ConfigurationChange,
  ConfigurationSource,
  Declaration,
  OperatorPrice,
  Removal,
} from '../ports/configuration-store.ts';
import { loadChannelModels, type ServedModelRow } from './load-configuration.ts';
import { declaredPrices, versionOwnPrices, versionPrices } from './price-versions.ts';
import { raiseRevision } from './revision.ts';
import { noteRevoked, revivedKeys } from './revoked-secrets.ts';
import { insertInto, updateRow } from './rows.ts';
import type { Schema } from './schema.ts';
import { keepServed } from './served-models.ts';

const nothing: Declaration = {
  providers: {},
  accounts: [],
  groups: [],
  models: [],
  channels: [],
  keys: [],
};

/** The changes of the control plane. Each is one transaction and raises the revision if it changed anything. */
export class ConfigurationWriter {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  apply(
    source: ConfigurationSource,
    declaration: Declaration,
    nowMs: number,
    withdrawn: readonly ConfigurationSource[] = [],
  ): Promise<readonly ConfigurationChange[]> {
    return this.#database.transaction().execute(async (transaction) => {
      const changes: ConfigurationChange[] = [];
      for (const earlier of withdrawn)
        changes.push(...(await applyDeclaration(transaction, earlier, nothing, nowMs)));
      changes.push(...(await applyDeclaration(transaction, source, declaration, nowMs)));
      await keepServed(transaction);
      if (changes.some(({ change }) => change !== 'refused')) await raiseRevision(transaction);
      return changes;
    });
  }

  removals(
    source: ConfigurationSource,
    declaration: Declaration,
    withdrawn: readonly ConfigurationSource[] = [],
  ): Promise<readonly Removal[]> {
    const declared = [
      { kind: 'channel', names: declaration.channels.map(({ id }) => [id]) },
      { kind: 'key', names: declaration.keys.map(({ id, hash }) => [id, hash]) },
    ] as const;
    return Promise.all(
      declared.map(async ({ kind, names }) => {
        const kept = new Set(names.flat());
        const inForce = (await storedRows(this.#database, kind)).filter(
          ({ removed, source, ...row }) =>
            removed === 0n && row['status'] !== 'revoked' && !withdrawn.some((name) => name === source),
        );
        const own = inForce.filter((row) => row.source === source);
        const removed = own.filter(({ id, hash }) => !kept.has(id) && !kept.has(hash ?? '')).length;
        const added = names.length - (own.length - removed);
        return { kind, removed, added, inForce: inForce.length };
      }),
    );
  }

  setPrices(prices: readonly OperatorPrice[], nowMs: number): Promise<readonly ConfigurationChange[]> {
    return this.#database.transaction().execute(async (transaction) => {
      const changes = await versionOwnPrices(transaction, prices, nowMs);
      if (changes.length > 0) await raiseRevision(transaction);
      return changes;
    });
  }

  async insertKey(key: DeclaredKey, nowMs: number): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await insertKey(transaction, key, nowMs);
      await raiseRevision(transaction);
    });
  }

  setKeyStatus(id: string, status: KeyStatus): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('keys')
        .set({ status })
        .where('id', '=', id)
        .where('status', '!=', 'revoked')
        .where('removed', '=', 0n)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      if (status === 'revoked') await noteRevoked(transaction, id);
      await raiseRevision(transaction);
      return true;
    });
  }

  rotateKey(id: string, successor: DeclaredKey, retiresAtMs: number, nowMs: number): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable('keys')
        .set({ retires_at_ms: BigInt(retiresAtMs), replaced_by: successor.id })
        .where('id', '=', id)
        .where('status', '=', 'active')
        .where('removed', '=', 0n)
        .where('replaced_by', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await insertKey(transaction, successor, nowMs);
      await raiseRevision(transaction);
      return true;
    });
  }
}

async function insertKey(transaction: Kysely<Schema>, key: DeclaredKey, nowMs: number): Promise<void> {
  const state = { source: 'operator', removed: 0, status: 'active', created_at_ms: nowMs };
  await insertInto(transaction, 'keys', { ...keyRow(key), ...state });
}

/** An entity as the cells of its columns, beside `source` and `removed`. */
export type EntityRow = Cells & { readonly id: string; readonly hash?: string };

const accountRow = (account: DeclaredAccount): EntityRow => ({
  id: account.id,
  ...writeCells(accountFields, account),
});

const groupRow = (group: DeclaredGroup): EntityRow => ({
  id: group.id,
  ...writeCells(groupFields, group),
  ...writeCells(routingFields, group.routing),
});

export const modelRow = (model: DeclaredModel): EntityRow => ({
  id: model.id,
  ...writeCells(modelFields, model),
});

export const channelRow = (channel: DeclaredChannel): EntityRow => ({
  id: channel.id,
  ...writeCells(channelFields, channel),
  ...writeCells(credentialFields, channel),
  ...writeCells(timeoutFields, channel.timeouts),
});

export const webhookRow = (webhook: DeclaredWebhook): EntityRow => ({
  id: webhook.id,
  ...writeCells(webhookFields, webhook),
});

/** A key is looked for by its hash, too. */
const keyRow = (key: DeclaredKey) => ({
  id: key.id,
  ...writeCells(keyFields, key),
  ...writeCells(secretFields, key),
  hash: key.hash,
});

type Kind = Exclude<ConfigurationChange['kind'], 'price'>;

const tableOf = {
  provider: 'providers',
  account: 'accounts',
  group: 'groups',
  model: 'models',
  channel: 'channels',
  key: 'keys',
  webhook: 'webhooks',
} as const satisfies Record<Kind, keyof Schema>;

/** Makes what `source` declares the whole of what it declares, and says what that changed. Runs in one transaction. */
async function applyDeclaration(
  transaction: Kysely<Schema>,
  source: ConfigurationSource,
  declaration: Declaration,
  nowMs: number,
): Promise<readonly ConfigurationChange[]> {
  const revived = await revivedKeys(transaction, declaration.keys);
  const replace = (kind: Kind, rows: readonly EntityRow[], onInsert: Cells = {}) =>
    replaceRows(transaction, kind, source, rows, onInsert, kind === 'key' ? revived : nobody);
  const providers = Object.entries(declaration.providers).map(([id, document]) => ({ id, document }));
  const changes = [
    ...(await replace('provider', providers)),
    ...(await replace('account', declaration.accounts.map(accountRow))),
    ...(await replace('group', declaration.groups.map(groupRow))),
    ...(await replace('model', declaration.models.map(modelRow))),
    ...(await replace('channel', declaration.channels.map(channelRow))),
    ...(await replace('webhook', (declaration.webhooks ?? []).map(webhookRow))),
    ...(await replace('key', declaration.keys.map(keyRow), { status: 'active', created_at_ms: nowMs })),
  ];
  const isRefused = (kind: Kind, id: string) =>
    changes.some((change) => change.kind === kind && change.id === id && change.change === 'refused');
  const channels = declaration.channels.filter((channel) => !isRefused('channel', channel.id));
  const models = declaration.models.filter((model) => !isRefused('model', model.id));
  const served = await replaceChannelModels(transaction, channels);
  const isListed = (id: string) => changes.some((change) => change.kind === 'channel' && change.id === id);
  for (const id of served) if (!isListed(id)) changes.push({ kind: 'channel', id, change: 'changed' });
  return [...changes, ...(await versionPrices(transaction, source, declaredPrices(models, channels), nowMs))];
}

interface ExistingRow {
  readonly id: string;
  readonly source: string;
  readonly removed: bigint;
  /** Only rows of keys have one. */
  readonly hash?: string;
  readonly [column: string]: unknown;
}

/** Every row of a kind, those that were removed among them. */
async function storedRows(database: Kysely<Schema>, kind: Kind): Promise<readonly ExistingRow[]> {
  return (await sql<ExistingRow>`select * from ${sql.table(tableOf[kind])}`.execute(database)).rows;
}

const nobody: ReadonlySet<string> = new Set();

async function replaceRows(
  transaction: Kysely<Schema>,
  kind: Kind,
  source: ConfigurationSource,
  rows: readonly EntityRow[],
  onInsert: Cells,
  refused: ReadonlySet<string>,
): Promise<ConfigurationChange[]> {
  const stored = await storedRows(transaction, kind);
  const existing = new Map(stored.map((row) => [row.id, row]));
  const foreign = new Set(stored.flatMap((row) => (row.source === source ? [] : (row.hash ?? []))));
  const changes: ConfigurationChange[] = [];
  const declared = new Map(
    rows
      .filter(({ id, hash }) => !refused.has(id) && (hash === undefined || !foreign.has(hash)))
      .map((row) => [row.id, row]),
  );
  for (const { id, source: owner, removed, hash } of stored) {
    if (owner !== source || removed === 1n) continue;
    const row = declared.get(id);
    if (row === undefined) {
      await updateRow(transaction, tableOf[kind], id, { removed: 1, ...freed(kind, id) });
      changes.push({ kind, id, change: 'removed' });
    } else if (row.hash !== hash) await updateRow(transaction, tableOf[kind], id, freed(kind, id));
  }
  for (const row of rows) {
    const change = declared.has(row.id)
      ? changeOf(row, foundOf(kind, existing.get(row.id)), source)
      : 'refused';
    if (change === null) continue;
    changes.push({ kind, id: row.id, change });
    if (change === 'refused') continue;
    const cells = { ...row, source, removed: 0 };
    if (existing.has(row.id)) await updateRow(transaction, tableOf[kind], row.id, cells);
    else await insertInto(transaction, tableOf[kind], { ...cells, ...onInsert });
  }
  return changes;
}

/** A key removed or replaced gives up its hash first, so that the same key may be declared under another id. */
function freed(kind: Kind, id: string): Cells {
  return kind === 'key' ? { hash: `removed:${id}` } : {};
}

/** The console has models because its channels serve them: whoever names one has it. */
function foundOf(kind: Kind, row: ExistingRow | undefined): ExistingRow | undefined {
  return kind === 'model' && row?.source === 'console' ? undefined : row;
}

function changeOf(
  row: EntityRow,
  existing: ExistingRow | undefined,
  source: ConfigurationSource,
): ConfigurationChange['change'] | null {
  if (existing === undefined) return 'added';
  if (existing.removed === 1n) return 'added';
  if (existing.source !== source) return 'refused';
  const same = Object.entries(row).every(([column, cell]) => isSame(existing[column], cell));
  return same ? null : 'changed';
}

function isSame(stored: unknown, declared: Cells[string]): boolean {
  if (stored === null || declared === null) return stored === declared;
  return String(stored) === String(declared);
}

/** Returns the channels that now serve other models than before, or the same in another way. */
export async function replaceChannelModels(
  transaction: Kysely<Schema>,
  channels: readonly DeclaredChannel[],
): Promise<readonly string[]> {
  const before = await loadChannelModels(transaction);
  const changed: string[] = [];
  for (const channel of channels) {
    const models = channel.models.map(modelCells);
    if (JSON.stringify(models) === JSON.stringify((before.get(channel.id) ?? []).map(modelCells))) continue;
    changed.push(channel.id);
    await transaction.deleteFrom('channel_models').where('channel_id', '=', channel.id).execute();
    if (models.length === 0) continue;
    for (const [position, cells] of models.entries())
      await insertInto(transaction, 'channel_models', { channel_id: channel.id, position, ...cells });
  }
  return changed;
}

function modelCells(model: ServedModelRow): Cells {
  return { model_id: model.modelId, ...writeCells(channelModelFields, model) };
}
