import { noTerms, noUsage, type Usage, type UsageTerms } from '@headgate/protocols';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { divideHalfEven } from './money.ts';
import { type PricedPart, type PriceVersion, priceUsage } from './price.ts';
import { priceTerms } from './price-formula.ts';
import { type PriceTierText, priceClassNames, readPriceTiers } from './price-terms.ts';

const decimal = fc.integer({ min: 0, max: 99_999_999 }).map((n) => `${n / 100}`);
const classes = fc
  .tuple(
    ...priceClassNames.map((name) =>
      fc.option(decimal, { nil: undefined }).map((text) => [name, text] as const),
    ),
  )
  .map((all) => Object.fromEntries(all.filter(([, text]) => text !== undefined)));

const tiers = fc
  .tuple(classes, classes, classes, decimal)
  .map(([base, large, quick, factor]): readonly PriceTierText[] => [
    {
      aboveInputTokens: 0,
      prices: { input: '1', ...base },
      images: [{ size: '1024x1024', price: '0.04' }],
      searches: [{ context: 'high', perCall: '0.012' }],
      regions: { eu: factor },
    },
    { aboveInputTokens: 1000, prices: large },
    { aboveInputTokens: 0, service: 'priority', prices: { input: '3', output: '4', ...quick } },
  ]);

const amount = fc.integer({ min: 0, max: 2_000 });
const usages = fc
  .record(Object.fromEntries(Object.keys(noUsage).map((part) => [part, amount])))
  .map((parts): Usage => {
    const usage = { ...noUsage, ...parts };
    return { ...usage, outputReasoning: Math.min(usage.output, usage.outputReasoning) };
  });

const words = fc.record({
  service: fc.constantFrom(null, 'priority', 'flex'),
  region: fc.constantFrom(null, 'eu', 'us'),
  searchContext: fc.constantFrom(null, 'high', 'low'),
  size: fc.constantFrom(null, '1024x1024'),
  promptTokens: fc.constantFrom(null, 10, 5000),
});

function versionOf(texts: readonly PriceTierText[]): PriceVersion {
  const read = readPriceTiers(texts);
  if (!read.ok) throw new Error(read.error.reason);
  return { id: 'v', effectiveFromMs: 0, tiers: read.value };
}

test('the products add up to the charge, whatever was used at whatever price', () => {
  fc.assert(
    fc.property(
      tiers,
      tiers,
      usages,
      usages,
      words,
      fc.boolean(),
      fc.bigInt({ min: 0n, max: 3_000_000n }),
      (price, other, usage, part, said, isParted, multiplier) => {
        const terms: UsageTerms = { ...noTerms, ...said };
        const version = versionOf(price);
        const parts: PricedPart[] | null = isParted
          ? [
              { price: version, usage: part },
              { price: versionOf(other), usage },
            ]
          : null;
        const sum = priceTerms(usage, version, terms, parts).reduce(
          (total, { units, price: each, factorPpm }) => total + units * each * factorPpm,
          0n,
        );
        const charge = divideHalfEven(sum * multiplier, 1_000_000_000_000_000n);
        expect(charge).toBe(priceUsage(usage, version, multiplier, terms, parts));
      },
    ),
  );
});
