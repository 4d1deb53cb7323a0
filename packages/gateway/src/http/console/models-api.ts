import { z } from 'zod';
import type { AuditTools } from '../../admin/audit.ts';
import {
  costRange,
  type ModelPrice,
  marginRange,
  modelPrices,
  originText,
  outputPrice,
  perMillion,
} from '../../admin/model-prices.ts';
import { listPriceOf, type PriceTools } from '../../admin/operator-prices.ts';
import type { Actor } from '../../admin/people/actor.ts';
import { priceDifferences } from '../../admin/price-differences.ts';
import { listView, viewOf } from '../../admin/price-views.ts';
import { readListed, readPriceBody, readPriceUpload, readRemoval } from '../../admin/price-wishes.ts';
import { setPrices } from '../../admin/set-prices.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Store } from '../../ports/store.ts';
import {
  changesView,
  differencePage,
  listWish,
  modelPage,
  modelQuery,
  modelView,
  priceDraft,
  priceQuery,
  priceRemoval,
  priceUpload,
} from './contract/models.ts';
import { answer, invalid, problem } from './frame/answer.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { page, readCursor } from './frame/pages.ts';

export interface ModelTools extends AuditTools, Omit<PriceTools, 'stored'> {
  readonly store: Pick<Store, 'audit' | 'configuration'>;
  readonly snapshot: Catalogue;
  /** Brings what has been stored into force. */
  readonly bringIn: () => Promise<void>;
}

/** The source of the answers. */
export interface ModelSources {
  /** Tools as of now, for whoever asks. */
  modelTools(actor: Actor): ModelTools;
}

/** A file that names every model of the catalogue is a tenth of it. */
const uploadBytesMax = 4 * 1024 * 1024;

const models = { access: 'operator', tag: 'Models' } as const;

/** Public models, the channels behind them, and their prices. */
export function modelsApi(api: ConsoleApi, { modelTools }: ModelSources): void {
  readingRoutes(api, modelTools);
  settingRoutes(api, modelTools);
}

function readingRoutes(api: ConsoleApi, modelTools: ModelSources['modelTools']): void {
  api.route(
    {
      method: 'get',
      path: '/models',
      ...models,
      summary: 'Models, by id',
      query: modelQuery,
      answer: modelPage,
    },
    async ({ actor, query: { cursor: given, limit, search, unpriced } }) => {
      const cursor = readCursor(given, z.tuple([z.string()]));
      if (!cursor.ok) return cursor.error;
      const [after] = cursor.value ?? [''];
      const tools = modelTools(actor);
      const all = [...tools.snapshot.models.values()];
      const words = search?.toLowerCase() ?? '';
      const rest = all
        .filter(({ id, displayName }) => `${id}\n${displayName}`.toLowerCase().includes(words))
        .filter(({ price }) => unpriced === undefined || price === null)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .filter(({ id }) => id > after)
        .slice(0, limit + 1);
      const { items, next } = page(rest, limit, ({ id }) => [id]);
      const prices = modelPrices(items, await tools.store.configuration.load(), tools.nowMs);
      const lacking = all.filter(({ price }) => price === null).length;
      return answer({ items: prices.map(itemOf), next, unpriced: lacking });
    },
  );
  api.route(
    { method: 'get', path: '/models/{id}', ...models, summary: 'A model and its prices', answer: modelView },
    async ({ actor, params: { id } }) => {
      const tools = modelTools(actor);
      const stored = await tools.store.configuration.load();
      const model = tools.snapshot.models.get(id);
      const [found] = modelPrices(model === undefined ? [] : [model], stored, tools.nowMs);
      if (found === undefined) return problem('not_found', `There is no model "${id}".`);
      const list = listPriceOf({ ...tools, stored }, { model: id, channel: null });
      return answer({ ...viewOf(found), listPrice: list === null ? null : listView(list, tools.nowMs) });
    },
  );
  api.route(
    {
      ...{ method: 'get', path: '/price-differences', ...models, answer: differencePage },
      summary: 'Where prices in force, the list prices and their sources differ',
    },
    async ({ actor }) => {
      const tools = modelTools(actor);
      const items = priceDifferences(await pricesOf(tools), tools.catalogue.prices(), tools.nowMs);
      return answer({ items, next: null });
    },
  );
}

function settingRoutes(api: ConsoleApi, modelTools: ModelSources['modelTools']): void {
  const change = { method: 'post', ...models, query: priceQuery, answer: changesView } as const;
  api.route(
    { ...change, path: '/prices', rawBody: priceDraft, summary: 'Sets prices and costs, all or none' },
    ({ actor, query, body }) => set(modelTools(actor), query, (tools) => readPriceBody(body, tools)),
  );
  api.route(
    {
      ...{ ...change, path: '/prices/import', body: priceUpload, bodyBytesMax: uploadBytesMax },
      summary: 'Sets the prices and costs that a file of YAML, JSON or CSV names, all or none',
    },
    ({ actor, query, body: { name, text } }) =>
      set(modelTools(actor), query, (tools) => readPriceUpload(name, text, tools)),
  );
  api.route(
    {
      ...{ ...change, path: '/prices/remove', body: priceRemoval },
      summary: 'Takes back what was set: the file or the list says the price again',
    },
    ({ actor, query, body: { model, channel = null, planned = false } }) =>
      set(modelTools(actor), query, (tools) => readRemoval({ model, channel }, planned, tools)),
  );
  api.route(
    { ...change, path: '/prices/list', body: listWish, summary: 'Sets the list prices of the catalogue' },
    ({ actor, query, body }) => set(modelTools(actor), query, (tools) => readListed(body.models, tools)),
  );
}

type Awaitable<Value> = Value | Promise<Value>;

async function set(
  tools: ModelTools,
  { preview }: { readonly preview?: 'true' },
  read: (tools: PriceTools) => Awaitable<ReturnType<typeof readPriceBody>>,
) {
  const priceTools = { ...tools, stored: await tools.store.configuration.load() };
  const prices = await read(priceTools);
  if (!prices.ok) return invalid(prices.error);
  const items = await setPrices(priceTools, prices.value, preview === 'true');
  if (preview === undefined) await tools.bringIn();
  return answer({ items, next: null });
}

async function pricesOf({ snapshot, store, nowMs }: ModelTools): Promise<ModelPrice[]> {
  return [...modelPrices(snapshot.models.values(), await store.configuration.load(), nowMs)];
}

function itemOf(price: ModelPrice) {
  const { model, stored, later, costs } = price;
  const classes = model.price?.tiers[0]?.classes;
  const [input, output] = [costRange(costs, 'input'), costRange(costs, 'output')];
  const margin = marginRange(price);
  return {
    id: model.id,
    name: model.displayName,
    channels: costs.map(({ channel }) => channel),
    offered: model.isOffered,
    price:
      classes === undefined
        ? null
        : { input: perMillion(classes.input), output: perMillion(outputPrice(classes)) },
    since: stored === null ? null : new Date(stored.effectiveFromMs).toISOString(),
    from: originText(stored),
    planned: later.length,
    tiers: model.price?.tiers.length ?? 0,
    cost: input === null || output === null ? null : { input: rangeOf(input), output: rangeOf(output) },
    margin: margin === null ? null : { least: margin[0], most: margin[1] },
    contextWindow: model.contextWindow,
  };
}

function rangeOf([least, most]: readonly [bigint, bigint]) {
  return { least: perMillion(least), most: perMillion(most) };
}
