import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { readConfigurationFile } from '../config/configuration-file.ts';
import { environmentOf } from '../config.ts';
import type { StoredConfiguration, StoredKey } from '../ports/configuration-store.ts';
import { sampleKey } from '../store/contract/samples.ts';
import { openCatalogueFiles } from './catalogue-files.ts';
import { declareFile } from './declare/declare-file.ts';
import { exportConfiguration } from './export-configuration.ts';
import { keyHashes } from './keys.ts';
import type { Peppers } from './owner-files.ts';

const nowMs = Date.UTC(2027, 0, 1);
const pepperOf = (letter: string): Peppers => [{ version: 1, secret: Buffer.from(letter.repeat(40)) }];
const here = keyHashes(pepperOf('a'));

const time = fc.option(fc.integer({ min: -5, max: 5 }).map((days) => nowMs + days * 86_400_000));
const keys = fc.uniqueArray(
  fc.record({
    id: fc.stringMatching(/^[a-z][a-z0-9-]{0,10}$/),
    status: fc.constantFrom('active' as const, 'active' as const, 'disabled' as const, 'revoked' as const),
    expiresAtMs: time,
    retiresAtMs: time,
    strict: fc.boolean(),
    hash: fc.stringMatching(/^[0-9a-f]{64}$/),
  }),
  { selector: ({ id }) => id, maxLength: 8 },
);

function storedWith(given: readonly Partial<StoredKey>[]): StoredConfiguration {
  const stored = given.map((key): StoredKey => {
    const plain = { ...sampleKey(key.id ?? ''), groupId: 'team', accountId: 'default', models: null };
    const state = { source: 'operator', createdAtMs: 0, replacedBy: null } as const;
    return { ...plain, status: 'active', retiresAtMs: null, ...state, ...key };
  });
  const routing = declaredFile('groups: { team: { platform: completions } }').groups;
  return {
    ...declaredFile('groups: {}'),
    accounts: [],
    webhooks: [],
    groups: routing.map(sourced),
    channels: [],
    models: [],
    keys: stored,
    prices: [],
    credentials: [],
    revision: 1,
  };
}

function sourced<Row>(row: Row) {
  return { ...row, source: 'file' as const };
}

function read(text: string, { hashKey, olderHashes, fingerprints } = here) {
  const file = readConfigurationFile(text, 'exported.yaml');
  if (!file.ok) throw new Error(JSON.stringify(file.error));
  const tools = { catalogue: openCatalogueFiles(), environment: environmentOf({}), nowMs };
  return declareFile(file.value, { ...tools, hashKey, olderHashes, fingerprints });
}

function declaredFile(text: string) {
  const declared = read(text);
  if (!declared.ok) throw new Error(JSON.stringify(declared.error));
  return declared.value;
}

test('an export declares each key that works, for as long as it does, and no other', () => {
  fc.assert(
    fc.property(keys, (given) => {
      const { keys: declared } = declaredFile(
        exportConfiguration(storedWith(given), here.fingerprints, nowMs),
      );
      const never = Number.POSITIVE_INFINITY;
      const working = given.flatMap(({ id, status, hash, strict, expiresAtMs, retiresAtMs }) => {
        const untilMs = Math.min(expiresAtMs ?? never, retiresAtMs ?? never);
        if (status !== 'active' || untilMs <= nowMs) return [];
        return [{ id, hash, strict, expiresAtMs: untilMs === never ? null : untilMs }];
      });
      expect(declared).toMatchObject(working);
      expect(declared).toHaveLength(working.length);
    }),
  );
});

test('an export names its pepper, and is refused under another one, which is no secret', () => {
  const text = exportConfiguration(
    storedWith([{ id: 'laptop', hash: 'a'.repeat(64) }]),
    here.fingerprints,
    nowMs,
  );
  expect(text).toContain(here.fingerprints[0]);
  expect(text).not.toContain('aaaa'.repeat(17));
  const elsewhere = read(text, keyHashes(pepperOf('b')));
  expect(elsewhere).toMatchObject({ ok: false, error: [{ path: 'peppers' }] });
  expect(JSON.stringify(elsewhere)).toContain('under another pepper');
  expect(read(text, keyHashes([...pepperOf('c'), ...pepperOf('a')] as unknown as Peppers)).ok).toBe(true);
});

interface Written {
  readonly prices: Readonly<Record<string, object>>;
  readonly channels: Readonly<Record<string, { readonly models: Readonly<Record<string, object>> }>>;
}

// It is what was just exported.
const parse = (text: string) => parseYaml(text) as Written;

/** Prices of every kind of origin: written whole, in part, left to the list, sold at another one's list price. */
const priced = `
channels:
  main:
    provider: openai
    models:
      gpt-5-mini:
      gpt-5: { cost: { output: 5 } }
      own: { upstream: gpt-5-nano, cost: { input: 0, output: 0 } }
      like: { upstream: gpt-5-nano }
      o3:
models: { like: { pricedAs: gpt-5-mini } }
prices:
  gpt-5: { output: 12.50, services: { priority: { input: 4, output: 30 } } }
  own: { input: 0.10, output: 0.20, tiers: [{ aboveInputTokens: 1000, input: 0.30 }], regions: { us: 1.1 } }
  o3: { perWebSearch: 0.02 }
  gpt-5-mini:
    - { from: 2037-01-01, output: 3 }
    - { from: 2037-06-01T08:00:00+08:00 }
    - { from: 2038-01-01, whole: true, input: 1, output: 4 }
`;

test('what the catalogue says of a price an export leaves to the catalogue, and what the operator says it keeps', () => {
  const declared = declaredFile(priced);
  const stored = {
    ...storedWith([]),
    models: declared.models.map(sourced),
    channels: declared.channels.map(sourced),
  };
  const text = exportConfiguration(stored, here.fingerprints, nowMs);
  const again = declaredFile(text);
  expect(again.models).toEqual(declared.models);
  expect(again.channels).toEqual(declared.channels);
  expect(declared.models.map(({ id, priceOrigin }) => [id, priceOrigin?.by])).toEqual([
    ['gpt-5-mini', 'catalogue'],
    ['gpt-5', 'both'],
    ['own', 'operator'],
    ['like', 'catalogue'],
    ['o3', 'both'],
  ]);
  expect(Object.keys(parse(text).prices)).toEqual(['gpt-5-mini', 'gpt-5', 'own', 'o3']);
  expect(parse(text).prices['gpt-5-mini']).toEqual([
    { from: '2037-01-01T00:00:00.000Z', output: '3' },
    { from: '2037-06-01T00:00:00.000Z' },
    { from: '2038-01-01T00:00:00.000Z', input: '1', output: '4', whole: true },
  ]);
  expect(parse(text).prices['o3']).toEqual({ perWebSearch: '0.02' });
  expect(parse(text).channels['main']?.models['gpt-5-mini']).not.toHaveProperty('cost');
  expect(parse(text).channels['main']?.models['gpt-5']).toMatchObject({ cost: { output: '5' } });
});

test('a price of which nobody noted who says it is exported whole', () => {
  const declared = declaredFile(priced);
  const models = declared.models.map((model) => sourced({ ...model, priceOrigin: null }));
  const stored = { ...storedWith([]), models, channels: declared.channels.map(sourced) };
  const again = declaredFile(exportConfiguration(stored, here.fingerprints, nowMs));
  expect(again.models.map(({ price }) => price)).toEqual(declared.models.map(({ price }) => price));
  expect(again.models.every(({ priceOrigin }) => priceOrigin?.by === 'operator')).toBe(true);
});
