import { readdirSync } from 'node:fs';
import { protocols } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ListedModels, priceAt } from '../catalogue/price-book.ts';
import { toProvider } from '../config/provider-document.ts';
import { priceUsage } from '../money/price.ts';
import { priceClassNames } from '../money/price-terms.ts';
import { openCatalogueFiles } from './catalogue-files.ts';

const files = openCatalogueFiles();
const root = new URL('../../../../catalogue/', import.meta.url);
const seedNames = readdirSync(new URL('prices/', root)).map((file) => file.replace('.json', ''));
const nowMs = Date.parse('2026-11-21T00:00:00Z');

const decimal = z.string().regex(/^\d+(\.\d{1,12})?$/);

const tiersShape = z
  .array(
    z.strictObject({
      aboveInputTokens: z.int().min(0),
      service: z
        .string()
        .regex(/^[a-z]+$/)
        .exactOptional(),
      prices: z.partialRecord(z.enum(priceClassNames), decimal),
      searches: z
        .array(z.strictObject({ context: z.enum(['low', 'medium', 'high']), perCall: decimal }))
        .exactOptional(),
      regions: z.record(z.string(), decimal).exactOptional(),
    }),
  )
  .min(1);

const seedShape = z.record(
  z.string().min(1),
  z.strictObject({
    name: z.string().min(1),
    contextWindow: z.int().positive().nullable(),
    equals: z.array(z.string().min(1)),
    versions: z.array(z.strictObject({ from: z.iso.date().nullable(), tiers: tiersShape })).min(1),
    source: z.string().min(1),
    disputed: z.record(z.string().min(1), tiersShape).exactOptional(),
  }),
) satisfies z.ZodType<ListedModels>;

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
      expect(Object.keys(files.priceList(provider.prices ?? '').models), provider.id).not.toHaveLength(0);
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
    expect(seedShape.safeParse(files.priceList(name).models).error).toBeUndefined();
  });

  test.each(seedNames)('%s reads to sane integer prices', (name) => {
    for (const [id, model] of Object.entries(files.priceList(name).models)) {
      for (const { from } of model.versions) {
        const tiers = priceAt(model, from === null ? 0 : Date.parse(from)) ?? [];
        expect(tiers[0]?.aboveInputTokens, id).toBe(0);
        for (const { classes, fees } of tiers) {
          for (const price of Object.values({ ...classes, ...fees })) expect(typeof price, id).toBe('bigint');
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

  test.each(seedNames)('%s gives no class away beside others that cost something', (name) => {
    for (const [id, model] of Object.entries(files.priceList(name).models)) {
      for (const { prices } of model.versions.flatMap(({ tiers }) => tiers)) {
        const { input, output, cacheWrite5m, cacheWrite1h, perImage } = prices;
        if (input !== '0')
          expect([cacheWrite5m, cacheWrite1h], `${name} ${id}: cache writes`).not.toContain('0');
        if (input === '0' && output === '0')
          expect(perImage, `${name} ${id}: pieces beside tokens`).toBeUndefined();
      }
    }
  });

  test('what its maker gives away is sold at the price of those who host it', () => {
    const found = files.prices().find('google/gemma-3-27b-it', nowMs);
    expect(found?.list.isVendor).toBe(false);
    expect(found === null ? null : priceAt(found.model, nowMs)?.[0]?.classes.input).toBeGreaterThan(0n);
    expect(files.prices().find('gpt-oss-120b', nowMs)?.list.isVendor).toBe(false);
  });

  test('research is charged for its thought, which no completion contains', () => {
    const perplexity = files.provider('perplexity');
    const model = files.priceList('perplexity').find('sonar-deep-research');
    const tiers = model === null ? null : priceAt(model, nowMs);
    if (perplexity === null || tiers === null) throw new Error('the catalogue has lost it');
    const body = {
      choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 30,
        completion_tokens: 10_000,
        total_tokens: 10_030,
        citation_tokens: 20_000,
        num_search_queries: 20,
        reasoning_tokens: 200_000,
      },
    };
    const { dialect } = toProvider(perplexity);
    const answer = protocols['chat-completions'].readAnswer(
      new TextEncoder().encode(JSON.stringify(body)),
      dialect,
      'answer',
    );
    if (answer.kind !== 'answer' || answer.reading.usage === null) throw new Error(answer.kind);
    const price = { id: 'p', effectiveFromMs: 0, tiers };
    // 30 · $2 + 10,000 · $8 + 200,000 · $3 + 20,000 · $2 a million, and 20 searches at half a cent.
    expect(priceUsage(answer.reading.usage, price, 1_000_000n)).toBe(820_060_000n);
  });

  test('versions ascend and the one in force is chosen by date', () => {
    const model = files.priceList('google').find('gemini-3.6-flash');
    if (model === null) throw new Error('the seed has lost a model');
    expect(priceAt(model, nowMs)?.[0]?.classes.input).toBe(750_000n);
    expect(priceAt(model, Date.parse('2027-06-01T00:00:00Z'))?.[0]?.classes.input).toBe(1_500_000n);
  });

  const tiersOf = (list: string, id: string) => {
    const model = files.priceList(list).find(id);
    return model === null ? null : priceAt(model, nowMs);
  };

  test('context tiers survive, in each service tier', () => {
    const tiers = tiersOf('google', 'gemini-2.5-pro');
    const priority = tiers?.filter(({ service }) => service === 'priority');
    expect(priority?.map((tier) => [tier.aboveInputTokens, tier.classes.input])).toEqual([
      [0, 2_250_000n],
      [200_000, 4_500_000n],
    ]);
    expect(
      tiers
        ?.filter(({ service }) => service === undefined)
        .map((tier) => [tier.aboveInputTokens, tier.classes.input]),
    ).toEqual([
      [0, 1_250_000n],
      [200_000, 2_500_000n],
    ]);
  });

  test('what vendors bill by beside tokens is known', () => {
    const openai = tiersOf('openai', 'gpt-5.4');
    expect(openai?.map(({ service = 'standard' }) => service)).toContain('flex');
    expect(openai?.[0]?.fees).toMatchObject({
      perWebSearch: 10_000_000_000n,
      perCodeSession: 30_000_000_000n,
    });
    const opus = tiersOf('anthropic', 'claude-opus-4-8');
    expect(opus?.[0]?.regions).toEqual({ us: 1_100_000n });
    expect(opus?.find(({ service }) => service === 'fast')?.classes.output).toBe(50_000_000n);
    expect(tiersOf('google', 'gemini-2.5-pro')?.[0]?.fees).toMatchObject({ perGrounding: 35_000_000_000n });
    expect(tiersOf('google', 'gemini-3-flash-preview')?.[0]?.fees).toMatchObject({
      perWebSearch: 14_000_000_000n,
    });
    expect(tiersOf('perplexity', 'sonar')?.[0]?.searches?.map(({ perCall }) => perCall)).toEqual([
      5_000_000_000n,
      8_000_000_000n,
      12_000_000_000n,
    ]);
    const research = tiersOf('perplexity', 'sonar-deep-research')?.[0];
    expect([research?.fees?.citation, research?.classes.reasoning]).toEqual([2_000_000n, 3_000_000n]);
    expect(tiersOf('openai', 'gpt-image-1')?.[0]?.classes.imageOutput).toBe(40_000_000n);
  });

  test('a dated model id finds its model, and another beginning of a name nothing', () => {
    const list = files.priceList('anthropic');
    expect(list.find('claude-sonnet-4-5-20250929')?.name).toBe('Claude Sonnet 4.5');
    expect(list.find('Claude-Sonnet-4.5')?.name).toBe('Claude Sonnet 4.5');
    // Prices were found by the longest beginning: a model that comes after another one was sold at its price.
    for (const other of ['claude-sonnet-4-5-max', 'claude-haiku-4-5x', 'nothing-like-it', '__proto__'])
      expect(list.find(other), other).toBeNull();
    expect(files.priceList('google').find('gemini-3.7-flash-image')).toBeNull();
    expect(files.priceList('nobody').find('gpt-5')).toBeNull();
  });
});

describe('sources of prices', () => {
  test('where two differ the one with the newer data is right, and the other is noted with its day', () => {
    const lists = seedNames.map((name) => files.priceList(name));
    const disputed = lists.flatMap((list) =>
      Object.values(list.models).flatMap((model) =>
        list.disputed(model).map(({ source, asOf }) => ({ source, asOf, taken: list.asOf(model) })),
      ),
    );
    expect(disputed.length).toBeGreaterThan(5);
    for (const { asOf, taken } of disputed) expect(asOf < taken).toBe(true);
  });

  test('every price is dated', () => {
    for (const list of seedNames.map((name) => files.priceList(name)))
      for (const model of Object.values(list.models))
        expect(list.asOf(model), model.name).toMatch(/^20\d\d-/);
  });

  test('image models are priced, by their tokens or by the piece and never by both', () => {
    const classesOf = (list: string, id: string) => {
      const model = files.priceList(list).find(id);
      return model === null ? undefined : priceAt(model, nowMs)?.[0]?.classes;
    };
    expect(classesOf('openai', 'gpt-image-1')).toMatchObject({
      imageInput: 10_000_000n,
      imageOutput: 40_000_000n,
    });
    expect(classesOf('google', 'gemini-2.5-flash-image')).toMatchObject({ imageOutput: 30_000_000n });
    expect(classesOf('xai', 'grok-imagine-image')).toMatchObject({ perImage: 20_000_000_000n, output: 0n });
    for (const name of seedNames)
      for (const [id, model] of Object.entries(files.priceList(name).models))
        for (const { prices } of model.versions.flatMap(({ tiers }) => tiers))
          expect(prices.perImage === undefined || prices.imageOutput === undefined, `${name} ${id}`).toBe(
            true,
          );
  });
});

describe('list prices', () => {
  const found = (id: string) => {
    const price = files.prices().find(id, nowMs);
    return price === null ? null : [price.list.id, priceAt(price.model, nowMs)?.[0]?.classes.input];
  };

  test("are the maker's, whoever serves the model and however its name is written", () => {
    for (const id of ['gpt-5', 'openai/gpt-5', 'gpt-5-2025-08-07', 'GPT-5'])
      expect(found(id), id).toEqual(['openai', 1_250_000n]);
    expect(found('anthropic/claude-sonnet-4.5')).toEqual(['anthropic', 3_000_000n]);
  });

  test('are those of the dearest host where no maker sells the model', () => {
    const hosts = readdirSync(new URL('prices/', root)).map((file) =>
      files.priceList(file.replace('.json', '')),
    );
    const asked = hosts
      .flatMap((list) => list.find('openai/gpt-oss-120b') ?? [])
      .map((model) => priceAt(model, nowMs)?.[0]?.classes);
    const dearest = asked.reduce((most, classes) => {
      const sum = (classes?.input ?? 0n) + (classes?.output ?? 0n);
      return sum > most ? sum : most;
    }, 0n);
    const price = files.prices().find('openai/gpt-oss-120b', nowMs);
    const classes = price === null ? undefined : priceAt(price.model, nowMs)?.[0]?.classes;
    expect(asked.length).toBeGreaterThan(2);
    expect((classes?.input ?? 0n) + (classes?.output ?? 0n)).toBeGreaterThanOrEqual(dearest);
    expect(found('brand-new')).toBeNull();
  });
});
