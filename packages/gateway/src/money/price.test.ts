import { noTerms, noUsage, type Usage } from '@headgate/protocols';
import { calcPrice } from '@pydantic/genai-prices';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { picoUsd } from './money.ts';
import { type PriceClasses, type PriceTier, type PriceVersion, priceUsage, unpricedTerms } from './price.ts';

const listPrice = 1_000_000n;

const classNames = [
  'input',
  'cacheRead',
  'cacheWrite5m',
  'cacheWrite1h',
  'output',
  'audioInput',
  'audioOutput',
  'imageInput',
  'imageOutput',
  'perImage',
  'cacheReadAudio',
  'perCall',
] as const satisfies readonly (keyof PriceClasses)[];

/** Which price holds for which part of the usage, written down a second time. */
const partOf = {
  input: 'inputFresh',
  cacheRead: 'inputCacheRead',
  cacheWrite5m: 'inputCacheWrite5m',
  cacheWrite1h: 'inputCacheWrite1h',
  output: 'output',
  audioInput: 'inputAudio',
  audioOutput: 'outputAudio',
  imageInput: 'inputImage',
  imageOutput: 'outputImage',
  perImage: 'images',
  cacheReadAudio: 'inputCacheReadAudio',
} as const satisfies Record<Exclude<keyof PriceClasses, 'perCall' | 'reasoning'>, keyof Usage>;

function classes(prices: Partial<Record<keyof PriceClasses, bigint>>): PriceClasses {
  const price = (name: keyof PriceClasses) => picoUsd(prices[name] ?? 0n);
  return {
    input: price('input'),
    cacheRead: price('cacheRead'),
    cacheWrite5m: price('cacheWrite5m'),
    cacheWrite1h: price('cacheWrite1h'),
    output: price('output'),
    audioInput: price('audioInput'),
    audioOutput: price('audioOutput'),
    imageInput: price('imageInput'),
    imageOutput: price('imageOutput'),
    perImage: price('perImage'),
    perCall: price('perCall'),
    cacheReadAudio: price('cacheReadAudio'),
  };
}

function version(...tiers: readonly PriceTier[]): PriceVersion {
  return { id: 'model:any@1', effectiveFromMs: 0, tiers };
}

const flat = (prices: Partial<Record<keyof PriceClasses, bigint>>) =>
  version({ aboveInputTokens: 0, classes: classes(prices) });

describe('priceUsage', () => {
  test('a million tokens at $0.0375 per million cost $0.0375', () => {
    expect(priceUsage({ ...noUsage, inputFresh: 1_000_000 }, flat({ input: 37_500n }), listPrice)).toBe(
      37_500_000n,
    );
  });

  test('each class of usage has its own price', () => {
    for (const [index, name] of Object.keys(partOf).entries()) {
      const prices = Object.fromEntries(classNames.map((each, at) => [each, BigInt(at + 1) * 1_000n]));
      const part = Object.values(partOf)[index] ?? 'images';
      const alone = flat({ [name]: prices[name] ?? 0n });
      expect(priceUsage({ ...noUsage, [part]: 7 }, alone, listPrice)).toBe(BigInt(index + 1) * 7n);
      expect(priceUsage({ ...noUsage, [part]: 0 }, alone, listPrice)).toBe(0n);
    }
  });

  test('images are priced by the first price that fits their kind, or else by the plain one', () => {
    const images = [
      { size: '1024x1024', quality: 'high', price: picoUsd(7_000n) },
      { size: null, quality: 'high', price: picoUsd(5_000n) },
      { size: '512x512', quality: null, price: picoUsd(3_000n) },
    ];
    const byKind = version({ aboveInputTokens: 0, classes: classes({ perImage: 1_000n }), images });
    const priceOf = (size: string | null, quality: string | null) =>
      priceUsage({ ...noUsage, images: 2 }, byKind, listPrice, { ...noTerms, size, quality });
    expect(priceOf('1024x1024', 'high')).toBe(14n);
    expect(priceOf('1536x1024', 'high')).toBe(10n);
    expect(priceOf(null, 'high')).toBe(10n);
    expect(priceOf('512x512', null)).toBe(6n);
    expect(priceOf('1024x1024', 'low')).toBe(2n);
    expect(priceUsage({ ...noUsage, images: 2 }, byKind, listPrice)).toBe(2n);
  });

  test('a price per call is charged once, whatever was used', () => {
    expect(priceUsage(noUsage, flat({ perCall: 5_000n }), listPrice)).toBe(5n);
  });

  test('reasoning is part of the output, not beside it', () => {
    const usage = { ...noUsage, output: 10, outputReasoning: 8 };
    expect(priceUsage(usage, flat({ output: 1_000n }), listPrice)).toBe(10n);
  });

  test.each([
    [1, 0n],
    [3, 2n],
    [5, 2n],
    [7, 4n],
  ])('rounds the sum once, halves to even: %i half nano-dollars are %s', (units, nano) => {
    const usage = { ...noUsage, inputFresh: units };
    expect(priceUsage(usage, flat({ input: 500n }), listPrice)).toBe(nano);
  });

  test('rounds the sum and not its parts', () => {
    const usage = { ...noUsage, inputFresh: 1, output: 1, images: 1 };
    expect(priceUsage(usage, flat({ input: 400n, output: 400n, perImage: 400n }), listPrice)).toBe(1n);
  });

  test.each([
    [1_000, 1n],
    [1_001, 2n],
    [5_000, 2n],
    [5_001, 3n],
  ])('a total input of %i tokens takes the whole call to its tier', (input, perToken) => {
    const tier = (aboveInputTokens: number, price: bigint) => ({
      aboveInputTokens,
      classes: classes({ output: price * 1_000n }),
    });
    const tiered = version(tier(0, 1n), tier(1_000, 2n), tier(5_000, 3n));
    const usage = { ...noUsage, inputFresh: input - 600, inputCacheRead: 500, inputAudio: 100, output: 10 };
    expect(priceUsage(usage, tiered, listPrice)).toBe(perToken * 10n);
  });

  test.each(['constructor', 'toString', '__proto__', 'mars'])('a region named %s has no factor', (region) => {
    const price = version({
      aboveInputTokens: 0,
      classes: classes({ input: listPrice }),
      regions: { us: 2_000_000n },
    });
    const usage = { ...noUsage, inputFresh: 1_000 };
    expect(priceUsage(usage, price, 1_000_000n, { ...noTerms, region })).toBe(1_000_000n);
    expect(priceUsage(usage, price, 1_000_000n, { ...noTerms, region: 'us' })).toBe(2_000_000n);
    expect(unpricedTerms(usage, price, { ...noTerms, region })).toEqual(['region']);
  });

  test('a version without tiers is a bug, not a free call', () => {
    expect(() => priceUsage(noUsage, version(), listPrice)).toThrow();
  });

  test('equals the definition, computed as an exact fraction', () => {
    const units = fc.nat(5_000_000);
    const usages = fc.record(
      Object.fromEntries(Object.keys(noUsage).map((part) => [part, units])) as Record<
        keyof Usage,
        typeof units
      >,
    );
    const price = fc.bigInt({ min: 0n, max: 10n ** 12n });
    const prices = fc.record(
      Object.fromEntries(classNames.map((name) => [name, price])) as Record<keyof PriceClasses, typeof price>,
    );
    fc.assert(
      fc.property(usages, prices, fc.bigInt({ min: 0n, max: 10_000_000n }), (usage, priceList, ppm) => {
        let thousandBillionths = priceList.perCall;
        for (const [name, part] of Object.entries(partOf)) {
          // The entries of a table keep its key types only by assertion.
          thousandBillionths += priceList[name as keyof PriceClasses] * BigInt(usage[part]);
        }
        const charge = priceUsage(usage, flat(priceList), ppm);
        const error = 2n * (thousandBillionths * ppm - charge * 10n ** 9n);
        expect(error <= 10n ** 9n && error >= -(10n ** 9n)).toBe(true);
      }),
    );
  });
});

describe('against an independent calculator', () => {
  const exact = (dollarsPerMillion: number) => BigInt(Math.round(dollarsPerMillion * 1_000_000));

  /** The calculator's own price of the model, in our terms. */
  function theirPrice(model: string, provider: string): PriceVersion {
    const price = calcPrice({ input_tokens: 1, output_tokens: 1 }, model, {
      providerId: provider,
    })?.model_price;
    if (price === undefined) throw new Error(`${model} is not known`);
    const at = (name: string, tier: number) => {
      const value = price[name];
      if (value === undefined) return 0n;
      if (typeof value === 'number') return exact(value);
      return exact(tier === 0 ? value.base : (value.tiers[tier - 1]?.price ?? value.base));
    };
    const input = price['input_mtok'];
    const starts = typeof input === 'object' ? input.tiers.map((tier) => tier.start) : [];
    const tiers = [0, ...starts].map((aboveInputTokens, tier) => ({
      aboveInputTokens,
      classes: classes({
        input: at('input_mtok', tier),
        cacheRead: at('cache_read_mtok', tier),
        cacheWrite5m: at('cache_write_mtok', tier),
        output: at('output_mtok', tier),
      }),
    }));
    return version(...tiers);
  }

  test.each([
    ['gpt-4o', 'openai', false],
    ['gpt-4o-mini', 'openai', false],
    ['claude-sonnet-4-5', 'anthropic', true],
    ['gemini-2.5-pro', 'google', false],
  ])('prices %s as it does, to a nano-dollar', (model, provider, writesCache) => {
    const ours = theirPrice(model, provider);
    const tokens = fc.nat(400_000);
    fc.assert(
      fc.property(tokens, tokens, tokens, fc.nat(64_000), (fresh, read, written, output) => {
        const write = writesCache ? written : 0;
        const theirs = calcPrice(
          {
            input_tokens: fresh + read + write,
            cache_read_tokens: read,
            cache_write_tokens: write,
            output_tokens: output,
          },
          model,
          { providerId: provider },
        );
        const usage = {
          ...noUsage,
          inputFresh: fresh,
          inputCacheRead: read,
          inputCacheWrite5m: write,
          output,
        };
        const nano = Number(priceUsage(usage, ours, listPrice));
        expect(Math.abs(nano - (theirs?.total_price ?? -1) * 1e9)).toBeLessThan(1.5);
      }),
    );
  });
});
