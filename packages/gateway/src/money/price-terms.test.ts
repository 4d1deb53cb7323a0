import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDecimal, parseDecimal } from './money.ts';
import { type PriceText, readPriceTiers, writePriceTiers } from './price-terms.ts';

describe('decimals', () => {
  test.each([
    ['0.0375', 37_500n],
    ['2.50', 2_500_000n],
    ['15', 15_000_000n],
    ['0.000001', 1n],
    ['1.100000000', 1_100_000n],
    ['999999999999', 999_999_999_999_000_000n],
  ])('%s is %s millionths', (text, units) => {
    expect(parseDecimal(text, 6)).toEqual({ ok: true, value: units });
  });

  test.each([
    '',
    '-1',
    '+1',
    '1e3',
    '.5',
    '1.',
    '0x10',
    'NaN',
    'Infinity',
    '1,5',
    '0.0000001',
    '1234567890123',
  ])('refuses %j', (text) => {
    expect(parseDecimal(text, 6).ok).toBe(false);
  });

  test('what is written reads back exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 17n }), fc.constantFrom(6, 12), (units, digits) => {
        expect(parseDecimal(formatDecimal(units, digits), digits)).toEqual({ ok: true, value: units });
      }),
    );
    expect(formatDecimal(-1_500_000n, 6)).toBe('-1.5');
  });
});

describe('price tiers', () => {
  test('a class without a price follows its nearest plain class', () => {
    const tiers = readPriceTiers([
      { aboveInputTokens: 0, prices: { input: '3', output: '15', cacheWrite5m: '3.75' } },
    ]);
    expect(tiers.ok && tiers.value[0]?.classes).toMatchObject({
      input: 3_000_000n,
      cacheRead: 3_000_000n,
      cacheWrite5m: 3_750_000n,
      cacheWrite1h: 3_750_000n,
      output: 15_000_000n,
      audioOutput: 15_000_000n,
      perImage: 0n,
      perCall: 0n,
    });
  });

  test('a price per image is in dollars, not dollars per million', () => {
    const tiers = readPriceTiers([{ aboveInputTokens: 0, prices: { perImage: '0.04' } }]);
    expect(tiers.ok && tiers.value[0]?.classes.perImage).toBe(40_000_000_000n);
  });

  test('tiers come out ascending and inherit from the first', () => {
    const tiers = readPriceTiers([
      { aboveInputTokens: 0, prices: { input: '1', output: '2', cacheRead: '0.1' } },
      { aboveInputTokens: 500_000, prices: { input: '4' } },
      { aboveInputTokens: 200_000, prices: { input: '2' } },
    ]);
    expect(
      tiers.ok &&
        tiers.value.map((tier) => [tier.aboveInputTokens, tier.classes.input, tier.classes.cacheRead]),
    ).toEqual([
      [0, 1_000_000n, 100_000n],
      [200_000, 2_000_000n, 100_000n],
      [500_000, 4_000_000n, 100_000n],
    ]);
  });

  test.each<[PriceText, PriceText, string]>([
    [{ input: '1', output: '2' }, { input: '2' }, 'output'],
    [{ input: '1', output: '2' }, { output: '4' }, 'input'],
    [{ input: '1', imageOutput: '40' }, { input: '0.5', imageInput: '1' }, 'imageOutput'],
  ])('a service tier is not free where the standard one is not: %j, %j', (standard, prices, forgotten) => {
    const read = readPriceTiers([
      { aboveInputTokens: 0, prices: standard },
      { aboveInputTokens: 0, service: 'priority', prices },
    ]);
    expect(read).toMatchObject({ ok: false, error: { tier: 1, path: [forgotten] } });
  });

  test('a bad number is located', () => {
    expect(readPriceTiers([{ aboveInputTokens: 0, prices: { input: '1', output: '1e-7' } }])).toMatchObject({
      ok: false,
      error: { tier: 0, path: ['output'] },
    });
  });

  test('images are priced by their kind in every tier, and a bad price of one is located', () => {
    const base = { aboveInputTokens: 0, prices: {}, images: [{ quality: 'high', price: '0.25' }] };
    const tiers = readPriceTiers([base, { aboveInputTokens: 9, prices: {} }]);
    const images = [{ size: null, quality: 'high', price: 250_000_000_000n }];
    expect(tiers).toMatchObject({ value: [{ images }, { images }] });
    const wrong = { ...base, images: [...base.images, { size: '1x1', price: '-1' }] };
    expect(readPriceTiers([base, wrong])).toMatchObject({ error: { tier: 1, path: ['images', 1, 'price'] } });
  });

  test('written tiers read back the same', () => {
    const tiers = readPriceTiers([
      {
        aboveInputTokens: 0,
        prices: { input: '1.25', output: '10', perCall: '0.000000000001' },
        images: [{ size: '1024x1024', price: '0.04' }, { quality: 'high', price: '0.167' }, { price: '0' }],
      },
      { aboveInputTokens: 200_000, prices: { input: '2.5' } },
    ]);
    if (!tiers.ok) throw new Error(tiers.error.reason);
    expect(readPriceTiers(writePriceTiers(tiers.value))).toEqual(tiers);
  });
});
