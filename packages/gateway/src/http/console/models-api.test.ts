import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openCatalogueFiles } from '../../admin/catalogue-files.ts';
import { readForm } from '../../admin/channels/channel-form.ts';
import { commandLine } from '../../admin/people/actor.ts';
import { buildCatalogue } from '../../catalogue/build.ts';
import { toProvider } from '../../config/provider-document.ts';
import type { AuditRow } from '../../ports/audit.ts';
import type { StoredConfiguration } from '../../ports/configuration-store.ts';
import type { Store } from '../../ports/store.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../store/sqlite/same-thread-lane.ts';
import { testApi } from './frame/test-api.fixture.ts';
import { modelsApi } from './models-api.ts';

const catalogue = openCatalogueFiles();
let directory = '';
let store: Store;
let nowMs = Date.UTC(2026, 10, 23);
let ask: ReturnType<typeof testApi>;
let stored: StoredConfiguration;
let audited: () => Promise<readonly AuditRow[]>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-models-'));
  store = await openSqliteStore({
    openLane: (...lane) => new SameThreadLane(...lane),
    ...{ file: join(directory, 'headgate.sqlite'), durability: 'strict', onAlarm: () => undefined },
    clock: { now: () => nowMs, monotonic: () => nowMs },
  });
  const form = {
    provider: 'openai',
    models: { 'gpt-5-mini': {}, house: { cost: { input: '0.5', output: '2' } } },
  };
  const wish = readForm('c', form, { stored: { providers: {}, models: [] }, catalogue, nowMs });
  if (!wish.ok) throw new Error(JSON.stringify(wish.error));
  await store.configuration.putChannel(wish.value, await store.configuration.revision(), nowMs);
  stored = await store.configuration.load();
  audited = () => store.audit.list({ accounts: 'all' }, 50, null);
  const snapshot = () =>
    buildCatalogue({
      ...{ stored, book: catalogue.models(), nowMs, unpricedModels: 'refuse' },
      provider: (id) => {
        const document = catalogue.provider(id);
        return document === null ? null : toProvider(document);
      },
      ...{ secret: () => ({ ok: true, value: 'sk' }), proxyFor: () => null, variable: () => undefined },
    }).catalogue;
  const bringIn = async () => {
    nowMs += 1;
    stored = await store.configuration.load();
  };
  const modelTools = () => ({
    ...{ store, catalogue, bringIn, actor: commandLine, nowMs },
    snapshot: snapshot(),
  });
  ask = testApi((api) => modelsApi(api, { modelTools }), { nowMs });
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

test('models are listed with price, cost, margin, and those without a price by themselves', async () => {
  expect(await ask('GET', '/models')).toMatchObject({
    json: {
      unpriced: 1,
      items: [
        {
          ...{ id: 'gpt-5-mini', offered: true, channels: ['c'], price: { input: '0.25', output: '2.00' } },
          cost: { input: { least: '0.25', most: '0.25' } },
          margin: { least: 0, most: 0 },
        },
        { id: 'house', offered: false, price: null, margin: null, cost: { output: { least: '2.00' } } },
      ],
    },
  });
  expect(await ask('GET', '/models?unpriced=true')).toMatchObject({ json: { items: [{ id: 'house' }] } });
  expect(await ask('GET', '/models?search=MINI')).toMatchObject({ json: { items: [{ id: 'gpt-5-mini' }] } });
  expect(await ask('GET', '/models/nope')).toMatchObject({ status: 404 });
});

test('a price is previewed, set for now and for a day, shown with its history, and taken back', async () => {
  const wish = { prices: { house: { input: '1', output: '4' } } };
  const preview = await ask('POST', '/prices?preview=true', wish);
  expect(preview.json['items']).toContainEqual({
    subject: 'model:house',
    from: null,
    what: 'input',
    before: null,
    after: '1',
  });
  expect(stored.prices.filter(({ subject }) => subject === 'model:house')).toEqual([]);
  expect(await ask('POST', '/prices', wish)).toMatchObject({ status: 200 });
  await ask('POST', '/prices', { prices: { house: { from: '2027-01-01', input: '2', output: '8' } } });
  expect(await ask('GET', '/models/house')).toMatchObject({
    json: {
      ...{ offered: true, source: 'operator', listPrice: null },
      planned: [{ from: '2027-01-01T00:00:00.000Z', tiers: [{ prices: { input: '2' } }] }],
    },
  });
  expect((await audited()).map(({ action }) => action)).toEqual(['price.change', 'price.change']);
  await ask('POST', '/prices/remove', { model: 'house' });
  expect(await ask('GET', '/models/house')).toMatchObject({ json: { offered: false, planned: [] } });
});

test('the list price takes the place of another one', async () => {
  await ask('POST', '/prices', { prices: { 'gpt-5-mini': { input: '9', output: '9' } } });
  const differences = await ask('GET', '/price-differences');
  expect(differences.json['items']).toContainEqual(
    expect.objectContaining({ model: 'gpt-5-mini', what: 'input', inForce: '9', other: '0.25' }),
  );
  await ask('POST', '/prices/list', { models: ['gpt-5-mini'] });
  expect(await ask('GET', '/models?search=mini')).toMatchObject({
    json: { items: [{ price: { input: '0.25' } }] },
  });
  expect(await ask('POST', '/prices/list', { models: ['house'] })).toMatchObject({
    status: 400,
    json: { errors: [{ field: 'models.0' }] },
  });
});

test.each([
  [{ prices: { nope: { input: '1', output: '2' } } }, 'prices.nope'],
  [{ prices: { house: { input: 'x', output: '2' } } }, 'prices.house.input'],
  [{ prices: { house: { from: '2020-01-01', input: '1', output: '2' } } }, 'prices.house.from'],
  [{ costs: { c: { nope: { input: '1', output: '2' } } } }, 'costs.c.nope'],
  [{ prics: {} }, 'prics'],
])('%j is refused by its member', async (body, field) => {
  const refused = await ask('POST', '/prices', body);
  expect(refused.status).toBe(400);
  expect(refused.json['errors']).toContainEqual(expect.objectContaining({ field }));
});
