import { expect, test } from 'vitest';
import { priceOf } from '../../catalogue.fixture.ts';
import { ratesFor, ratesOf } from './price-rates.ts';

test('the tier is that of the input, and an unknown price has none', () => {
  const [low, high] = [priceOf(2n), priceOf(5n)].flatMap(({ tiers }) => tiers);
  if (low === undefined || high === undefined) throw new Error('the fixture has one tier each');
  const tiers = ratesOf({ id: '', effectiveFromMs: 0, tiers: [low, { ...high, aboveInputTokens: 1000 }] });
  expect([0, 1000, 1001].map((tokens) => ratesFor(tiers, tokens)?.input)).toEqual([2, 2, 5]);
  expect(ratesFor([], 10)).toBeNull();
});
