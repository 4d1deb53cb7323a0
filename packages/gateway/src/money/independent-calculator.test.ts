import { noTerms, type Usage, type UsageTerms } from '@headgate/protocols';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tries } from '../../../../test/support/slow-form.ts';
import { accountFields } from '../catalogue/entities.ts';
import { declare } from '../catalogue/fields.ts';
import { multipliersFinder } from '../catalogue/multipliers.ts';
import { calculate, type PricePage } from './independent-calculator.fixture.ts';
import { parseDecimal } from './money.ts';
import { priceUsage } from './price.ts';
import { type PriceClass, type PriceText, priceClassNames, readPriceTiers } from './price-terms.ts';

const decimal = (digits: number, max: number) =>
  fc
    .tuple(fc.nat(max), fc.nat(10 ** digits - 1))
    .map(([whole, rest]) => `${whole}.${String(rest).padStart(digits, '0')}`);

const tokenPrice = decimal(6, 200);
const piecePrice = decimal(9, 1);

const others = priceClassNames.filter((name) => name !== 'input' && name !== 'output');
const pricesOf = (names: readonly PriceClass[]): fc.Arbitrary<PriceText> =>
  fc
    .tuple(
      tokenPrice,
      tokenPrice,
      fc.subarray([...names]),
      fc.array(tokenPrice, { minLength: 20, maxLength: 20 }),
      piecePrice,
    )
    .map(([input, output, chosen, tokens, piece]) => ({
      input,
      output,
      ...Object.fromEntries(chosen.map((name, at) => [name, name.startsWith('per') ? piece : tokens[at]])),
    }));

const rows = (service: string | undefined) =>
  fc
    .tuple(
      pricesOf(others),
      fc.uniqueArray(fc.integer({ min: 1, max: 600_000 }), { maxLength: 2 }),
      fc.array(pricesOf(others), { minLength: 2, maxLength: 2 }),
    )
    .map(([base, sizes, above]) =>
      [0, ...sizes].map((aboveInputTokens, at) => ({
        aboveInputTokens,
        ...(service === undefined ? {} : { service }),
        prices: at === 0 ? base : (above[at - 1] ?? {}),
      })),
    );

const contexts = ['low', 'medium', 'high'];

const page: fc.Arbitrary<PricePage> = fc
  .tuple(
    rows(undefined),
    fc.tuple(rows('priority'), rows('flex')),
    fc.subarray([0, 1]),
    fc.record(
      {
        searches: fc.array(
          fc.record(
            { context: fc.constantFrom(...contexts), perCall: piecePrice, perWebSearch: piecePrice },
            { requiredKeys: ['context'] },
          ),
          { minLength: 1, maxLength: 3 },
        ),
        regions: fc.record({ us: decimal(6, 2), eu: decimal(6, 2) }),
        images: fc.array(
          fc.record(
            {
              size: fc.constantFrom('1024x1024', '512x512'),
              quality: fc.constantFrom('high', 'low'),
              price: piecePrice,
            },
            { requiredKeys: ['price'] },
          ),
          { minLength: 1, maxLength: 3 },
        ),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([[base, ...above], services, chosen, lists]) => [
    { ...(base ?? { aboveInputTokens: 0, prices: {} }), ...lists },
    ...above,
    ...chosen.flatMap((at) => services[at] ?? []),
  ]);

const tokens = fc.oneof(fc.constant(0), fc.nat(400_000));
const pieces = fc.oneof(fc.constant(0), fc.nat(40));
const usage: fc.Arbitrary<Usage> = fc
  .record({
    inputFresh: tokens,
    inputCacheRead: tokens,
    inputCacheWrite5m: tokens,
    inputCacheWrite1h: tokens,
    inputAudio: tokens,
    inputImage: tokens,
    output: tokens,
    outputReasoning: fc.nat(400_000),
    outputAudio: tokens,
    outputImage: tokens,
    images: pieces,
    inputCacheReadAudio: tokens,
    citation: tokens,
    webSearches: pieces,
    fileSearches: pieces,
    codeSessions: pieces,
    groundings: fc.nat(1),
    pages: pieces,
  })
  .map((any) => ({ ...any, outputReasoning: Math.min(any.output, any.outputReasoning) }));

const word = <Word extends string>(...words: Word[]) => fc.option(fc.constantFrom(...words), { nil: null });
const terms: fc.Arbitrary<UsageTerms> = fc.record({
  service: word('priority', 'flex', 'scale'),
  region: word('us', 'eu', 'ap'),
  searchContext: word('low', 'medium', 'high', 'none'),
  size: word('1024x1024', '512x512', '64x64'),
  quality: word('high', 'low', 'hd'),
  promptTokens: fc.option(fc.nat(700_000), { nil: null }),
});

function charge(
  texts: PricePage,
  used: Usage,
  factorPpm: bigint,
  given: UsageTerms,
  prompts: readonly Usage[] | null,
): bigint {
  const tiers = readPriceTiers(texts);
  if (!tiers.ok) throw new Error('a price that was made up cannot be read');
  const version = { id: 'any', effectiveFromMs: 0, tiers: tiers.value };
  const parts = prompts === null ? null : prompts.map((each) => ({ price: version, usage: each }));
  return priceUsage(used, version, factorPpm, given, parts);
}

/** A multiplier and a discount that a file may have beside each other: together they have six digits at the most. */
const factors = fc.oneof(
  fc.tuple(decimal(6, 3), fc.constant('0')),
  fc.tuple(decimal(2, 3), fc.nat(10_000).map(hundredths)),
  fc.tuple(decimal(4, 3), fc.nat(100).map(String)),
);

function hundredths(count: number): string {
  return `${Math.floor(count / 100)}.${String(count % 100).padStart(2, '0')}`;
}

test('10,000 calls of any usage, terms, prices and discounts are charged to the nano-dollar as an independent calculator says', {
  timeout: 120_000,
}, () => {
  const prompts = fc.option(fc.array(usage, { minLength: 1, maxLength: 3 }), { nil: null, freq: 4 });
  const property = fc.property(
    page,
    usage,
    factors,
    terms,
    prompts,
    (texts, used, [multiplier, off], given, several) => {
      expect(charge(texts, used, factorOf(multiplier, off), given, several)).toBe(
        calculate(texts, used, multiplier, given, several, off),
      );
    },
  );
  fc.assert(property, { numRuns: tries(10_000), seed: 10 });
});

/** The factor of a caller as the catalogue finds it: what a file says of its group and its account. */
function factorOf(multiplier: string, off: string): bigint {
  const ppm = parseDecimal(multiplier, 6);
  if (!ppm.ok) throw new Error('a multiplier that was made up cannot be read');
  const account = { id: 'a', ...declare(accountFields, 'a', off === '0' ? {} : { discount: off }) };
  const { find, rough } = multipliersFinder([account]);
  const found = find('a', ppm.value);
  expect(rough).toEqual([]);
  return found?.usualPpm ?? ppm.value;
}

test('the calculator is right about a price page that was worked out by hand', () => {
  const texts = [{ aboveInputTokens: 0, prices: { input: '2.5', output: '10' } }];
  const used = { inputFresh: 1_000_000, output: 500_000 };
  const all = { ...emptyUsage(), ...used };
  // 2.50 + 5.00 dollars, and a half more.
  expect(calculate(texts, all, '1.5', noTerms)).toBe(11_250_000_000n);
  expect(calculate(texts, all, '1.5', noTerms, null, '12.5')).toBe(9_843_750_000n);
});

function emptyUsage(): Usage {
  const [sample] = fc.sample(usage, 1);
  if (sample === undefined) throw new Error('there is always a sample');
  return Object.fromEntries(Object.keys(sample).map((part) => [part, 0])) as unknown as Usage; // Its parts are those of a usage.
}
