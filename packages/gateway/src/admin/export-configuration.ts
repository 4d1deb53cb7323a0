import { setImmediate as nextTurn } from 'node:timers/promises';
import { stringify } from 'yaml';
import { timeoutFields } from '../catalogue/channel-way.ts';
import {
  accountFields,
  channelFields,
  channelModelFields,
  type DeclaredChannel,
  type DeclaredModel,
  groupFields,
  keyFields,
  modelFields,
  routingFields,
} from '../catalogue/entities.ts';
import { exported } from '../catalogue/fields.ts';
import type { LaterPrice, PriceOrigin } from '../catalogue/price-book.ts';
import { type SecretSource, writeSecretSource } from '../catalogue/secret-source.ts';
import { type DeclaredWebhook, webhookFields } from '../catalogue/webhooks.ts';
import type { ProviderDocument } from '../config/provider-document.ts';
import type { PriceTier } from '../money/price.ts';
import {
  type PriceTierText,
  priceClassNames,
  readPriceTiers,
  writePriceTiers,
} from '../money/price-terms.ts';
import type { StoredConfiguration, StoredKey } from '../ports/configuration-store.ts';
import { exportSettings } from './settings/export-settings.ts';

/**
 * Everything configured as a configuration file that declares the same again. Keys are written as hashes, which mean
 * something only under the same pepper: `fingerprints` name it, so that no other takes them in. Keys that do not work any more
 * are left out; one that was rotated works until its grace is over, and expires then.
 */
export function exportConfiguration(
  stored: StoredConfiguration,
  fingerprints: readonly string[],
  nowMs: number,
): string {
  return [...exportPieces(stored, fingerprints, nowMs)].join('');
}

/** Pieces that are made in one turn of the event loop: less than a millisecond. */
const piecesPerTurn = 4;

/** The same text, made a few rows in a turn of the event loop: ten thousand keys at once would hold the calls up. */
export async function exportInTurns(
  stored: StoredConfiguration,
  fingerprints: readonly string[],
  nowMs: number,
): Promise<string> {
  const pieces: string[] = [];
  for (const piece of exportPieces(stored, fingerprints, nowMs))
    if (pieces.push(piece) % piecesPerTurn === 0) await nextTurn();
  return pieces.join('');
}

/** The same text in pieces of one row, each made when it is asked for. */
function* exportPieces(
  stored: StoredConfiguration,
  fingerprints: readonly string[],
  nowMs: number,
): Generator<string> {
  const keys = stored.keys.filter((key) => key.status === 'active' && worksUntilMs(key) > nowMs);
  for (const part of exportSettings(stored.settings ?? [])) yield stringify(part, { lineWidth: 0 });
  yield* section('providers', Object.entries(stored.providers), ([id, json]) => [id, providerMembers(json)]);
  yield* section('models', stored.models, (model) => named(exportModel(model)));
  yield* section('prices', stored.models, ({ id, price, priceOrigin, priceLater }) => {
    const written = exportPrices(price, priceOrigin, priceLater);
    return written === null ? null : [id, written];
  });
  yield* section('channels', stored.channels, (channel) => named(exportChannel(channel)));
  yield* section('accounts', stored.accounts, (account) => [
    account.id,
    exported(accountFields, account.id, account),
  ]);
  yield* section('groups', stored.groups, (group) => {
    const routing = exported(routingFields, group.id, group.routing);
    const routed = Object.keys(routing).length === 0 ? {} : { routing };
    return [group.id, { ...exported(groupFields, group.id, group), ...routed }];
  });
  if (keys.length > 0) yield stringify({ peppers: fingerprints });
  yield* section('keys', keys, (key) => named(exportKey(key)));
  const webhooks = exportWebhooks(stored.webhooks ?? []);
  if (Object.keys(webhooks).length > 0) yield stringify(webhooks, { lineWidth: 0 });
}

/** A member of the file with a row for each thing; `{}` where there is none. */
function* section<Row>(
  name: string,
  rows: readonly Row[],
  write: (row: Row) => readonly [string, object] | null,
): Generator<string> {
  let isEmpty = true;
  for (const row of rows) {
    const written = write(row);
    if (written === null) continue;
    const text = stringify({ [name]: { [written[0]]: written[1] } }, { lineWidth: 0 });
    yield isEmpty ? text : text.slice(text.indexOf('\n') + 1);
    isEmpty = false;
  }
  if (isEmpty) yield `${name}: {}\n`;
}

function named<Row extends { readonly id: string }>({ id, ...row }: Row): [string, object] {
  return [id, row];
}

/** Stored documents have been validated when they were declared; what they are now is the reader's to check again. */
export function providerMembers(json: string): object {
  const { $schema: _, id: __, automatic: ___, ...members } = JSON.parse(json) as ProviderDocument;
  return members;
}

/** The places of their secrets are written, and no secret: the store's own are left out. */
function exportWebhooks(webhooks: readonly DeclaredWebhook[]): object {
  if (webhooks.length === 0) return {};
  return { alerts: { webhooks: webhooks.map(exportWebhook) } };
}

export function exportWebhook({ id, ...webhook }: DeclaredWebhook) {
  return { name: id, ...exported(webhookFields, id, webhook) };
}

function exportModel(model: DeclaredModel) {
  return { id: model.id, ...exported(modelFields, model.id, model) };
}

export function exportChannel(channel: DeclaredChannel) {
  return {
    id: channel.id,
    ...exported(channelFields, channel.id, channel),
    ...exportTimeouts(channel),
    ...exportCredentials(channel.credentials),
    models: Object.fromEntries(
      channel.models.map((model) => {
        const cost = exportPrices(model.cost, model.costOrigin, model.costLater);
        const fields = exported(channelModelFields, model.modelId, model);
        return [model.modelId, { ...fields, ...(cost === null ? {} : { cost }) }];
      }),
    ),
  };
}

function exportTimeouts({ id, timeouts }: DeclaredChannel): object {
  const written = exported(timeoutFields, id, timeouts);
  return Object.keys(written).length === 0 ? {} : { timeouts: written };
}

/** The places of the secrets, as they were said; what the store keeps of a channel is never written out. */
function exportCredentials(sources: readonly SecretSource[]): object {
  const [first, ...others] = sources.map(writeSecretSource);
  if (first === undefined) return {};
  return others.length === 0 ? { credential: first } : { credentials: [first, ...others] };
}

function exportKey(key: StoredKey) {
  const { id, hash, hint } = key;
  const untilMs = worksUntilMs(key);
  const expiresAtMs = Number.isFinite(untilMs) ? untilMs : null;
  return { id, ...exported(keyFields, id, { ...key, expiresAtMs }), secret: { hash, hint } };
}

function worksUntilMs({ expiresAtMs, retiresAtMs }: StoredKey): number {
  const never = Number.POSITIVE_INFINITY;
  return Math.min(expiresAtMs ?? never, retiresAtMs ?? never);
}

/** A price as it is written, with those that are planned; null where the catalogue says all of them. */
function exportPrices(
  tiers: readonly PriceTier[] | null,
  origin: PriceOrigin | null,
  later: readonly LaterPrice[] = [],
): object | null {
  const current = exportPrice(tiers, origin);
  const entries: object[] = current === null ? [] : [current];
  let before = JSON.stringify(current);
  for (const { fromMs, ...price } of later) {
    const written = exportPrice(price.tiers, price.origin);
    // A change of the list alone is left to the list of whoever imports it.
    if (JSON.stringify(written) !== before)
      entries.push({ from: new Date(fromMs).toISOString(), ...written });
    before = JSON.stringify(written);
  }
  return entries.length > 1 ? entries : (entries[0] ?? null);
}

/**
 * The operator's words of a price, and null where the catalogue says all of it: whoever imports the file has a catalogue, too. A
 * price of which nobody noted who says it is written whole.
 */
function exportPrice(tiers: readonly PriceTier[] | null, origin: PriceOrigin | null): object | null {
  if (tiers === null || origin?.by === 'catalogue') return null;
  if (origin?.by === 'both' && origin.own !== undefined) return priceMembers(origin.own);
  return { ...priceMembers(shortest(writePriceTiers(tiers))), whole: true };
}

function priceMembers(written: readonly PriceTierText[]): object {
  const services = Map.groupBy(written, ({ service }) => service);
  const [base] = written;
  const { images, searches, regions } = base ?? {};
  const others = [...services].flatMap(([service, rows]) =>
    service === undefined ? [] : [[service, exportRows(rows)] as const],
  );
  return {
    ...exportRows(services.get(undefined) ?? []),
    ...(others.length === 0 ? {} : { services: Object.fromEntries(others) }),
    ...(searches === undefined ? {} : { searches }),
    ...(regions === undefined ? {} : { regions }),
    ...(images === undefined ? {} : { images }),
  };
}

function exportRows([base, ...further]: readonly PriceTierText[]): object {
  const tiers = further.map(({ aboveInputTokens, prices }) => ({ aboveInputTokens, ...prices }));
  return { ...base?.prices, ...(tiers.length === 0 ? {} : { tiers }) };
}

/** A file may not leave these out unless it says nothing of tokens. */
const alwaysWritten: readonly string[] = ['input', 'output'];

function shortest(tiers: readonly PriceTierText[]): readonly PriceTierText[] {
  const whole = comparable(tiers);
  let kept = tiers;
  for (const index of tiers.keys()) {
    for (const name of priceClassNames) {
      const without = kept.map((tier, at) =>
        at === index && !alwaysWritten.includes(name) ? withoutClass(tier, name) : tier,
      );
      if (comparable(without) === whole) kept = without;
    }
  }
  return kept;
}

function withoutClass(tier: PriceTierText, name: string): PriceTierText {
  return {
    ...tier,
    prices: Object.fromEntries(Object.entries(tier.prices).filter(([priceClass]) => priceClass !== name)),
  };
}

function comparable(tiers: readonly PriceTierText[]): string {
  const read = readPriceTiers(tiers);
  return read.ok ? JSON.stringify(writePriceTiers(read.value)) : '';
}
