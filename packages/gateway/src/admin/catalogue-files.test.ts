import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { findSeedModel, type PriceSeed, seedPriceAt } from '../catalogue/price-seed.ts';
import { toProvider } from '../config/provider-document.ts';
import { priceClassNames } from '../money/price-terms.ts';
import { openCatalogueFiles } from './catalogue-files.ts';

const files = openCatalogueFiles();
const root = new URL('../../../../catalogue/', import.meta.url);
const seedNames = readdirSync(new URL('prices/', root)).map((file) => file.replace('.json', ''));
const nowMs = Date.parse('2026-11-21T00:00:00Z');

const seedShape = z.record(
  z.string().min(1),
  z.strictObject({
    name: z.string().min(1),
    contextWindow: z.int().positive().nullable(),
    equals: z.array(z.string().min(1)),
    startsWith: z.array(z.string().min(1)),
    versions: z
      .array(
        z.strictObject({
          from: z.iso.date().nullable(),
          tiers: z
            .array(
              z.strictObject({
                aboveInputTokens: z.int().min(0),
                prices: z.partialRecord(z.enum(priceClassNames), z.string().regex(/^\d+(\.\d{1,6})?$/)),
              }),
            )
            .min(1),
        }),
      )
      .min(1),
  }),
) satisfies z.ZodType<PriceSeed>;

describe('providers', () => {
  test('there are more than a hundred, and each file is named after its id', () => {
    expect(files.providerIds.length).toBeGreaterThan(100);
    for (const id of files.providerIds) expect(files.provider(id)?.id).toBe(id);
  });

  test('each speaks a protocol, names its variables when it takes a credential, and is https unless it is local', () => {
    for (const id of files.providerIds) {
      const document = files.provider(id);
      if (document === null) throw new Error(id);
      const provider = toProvider(document);
      expect(Object.keys(provider.protocols), id).not.toHaveLength(0);
      expect(provider.baseUrl, id).toMatch(/^(https:\/\/|\{\w+\}\/|http:\/\/(localhost|127\.0\.0\.1):)/);
    }
  });

  test('an automatic provider has variables, prices and a base URL without gaps', () => {
    const automatic = files.automaticProviders();
    expect(automatic.map((provider) => provider.id)).toContain('openai');
    for (const provider of automatic) {
      expect(provider.environment, provider.id).not.toHaveLength(0);
      expect(Object.keys(files.priceSeed(provider.prices ?? '')), provider.id).not.toHaveLength(0);
      expect(provider.baseUrl, provider.id).not.toContain('{');
    }
  });

  test('no two automatic providers claim the same variable', () => {
    const names = files.automaticProviders().flatMap((provider) => provider.environment ?? []);
    expect(new Set(names).size).toBe(names.length);
  });

  test('the compatibility endpoints of a vendor with a native one are there for who asks for them by name', () => {
    const others = [
      ['anthropic-chat', 'anthropic'],
      ['google-chat', 'google'],
    ] as const;
    for (const [compatible, native] of others) {
      expect(files.provider(compatible)).toMatchObject({ credential: { scheme: 'bearer' } });
      expect(Object.keys(files.provider(compatible)?.protocols ?? {})).toEqual(['chat-completions']);
      expect(files.provider(compatible)?.automatic).not.toBe(true);
      expect(files.provider(native)?.automatic).toBe(true);
    }
  });

  test('every price seed a provider names exists', () => {
    for (const id of files.providerIds) {
      const seed = files.provider(id)?.prices;
      if (seed !== undefined) expect(seedNames, id).toContain(seed);
    }
  });

  test('an id that is not in the catalogue, or tries to leave it, finds nothing', () => {
    expect(files.provider('nobody')).toBeNull();
    expect(files.provider('../prices/openai')).toBeNull();
  });
});

describe('price seed', () => {
  test.each(seedNames)('%s has the shape the loader relies on', (name) => {
    expect(seedShape.safeParse(files.priceSeed(name)).error).toBeUndefined();
  });

  test.each(seedNames)('%s reads to sane integer prices', (name) => {
    for (const [id, model] of Object.entries(files.priceSeed(name))) {
      for (const { from } of model.versions) {
        const tiers = seedPriceAt(model, from === null ? 0 : Date.parse(from)) ?? [];
        expect(tiers[0]?.aboveInputTokens, id).toBe(0);
        for (const { classes } of tiers) {
          for (const priceClass of priceClassNames) expect(typeof classes[priceClass], id).toBe('bigint');
          // No model costs a thousand dollars per million tokens; one that did would be a misplaced decimal point.
          expect(classes.output, id).toBeLessThan(1_000_000_000n);
          expect(
            classes.cacheRead <= classes.input,
            `${name} ${id}: a cache read costs more than fresh input`,
          ).toBe(true);
        }
      }
    }
  });

  test('versions ascend and the one in force is chosen by date', () => {
    const model = findSeedModel(files.priceSeed('google'), 'gemini-3.6-flash');
    if (model === null) throw new Error('the seed has lost a model');
    expect(seedPriceAt(model, nowMs)?.[0]?.classes.input).toBe(750_000n);
    expect(seedPriceAt(model, Date.parse('2027-06-01T00:00:00Z'))?.[0]?.classes.input).toBe(1_500_000n);
  });

  test('context tiers survive', () => {
    const model = findSeedModel(files.priceSeed('google'), 'gemini-2.5-pro');
    const tiers = model === null ? null : seedPriceAt(model, nowMs);
    expect(tiers?.map((tier) => [tier.aboveInputTokens, tier.classes.input])).toEqual([
      [0, 1_250_000n],
      [200_000, 2_500_000n],
    ]);
  });

  test('a dated model id finds its family, an unknown one nothing', () => {
    const seed = files.priceSeed('anthropic');
    expect(findSeedModel(seed, 'claude-sonnet-4-5-20250929')?.name).toBe('Claude Sonnet 4.5');
    expect(findSeedModel(seed, 'nothing-like-it')).toBeNull();
    expect(findSeedModel(seed, '__proto__')).toBeNull();
  });
});
