import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDecimal } from '../money/money.ts';
import { discountField, readPercent } from './discount.ts';
import { accountFields, type DeclaredAccount } from './entities.ts';
import { declare } from './fields.ts';
import { isExact, multipliersFinder, roughText } from './multipliers.ts';

test.each([
  ['0', 0n],
  ['12.5', 1250n],
  ['12.50', 1250n],
  ['100', 10_000n],
  ['100.00', 10_000n],
  ['0.01', 1n],
])('%s per cent is read exactly', (text, hundredths) => {
  expect(readPercent(text)).toEqual({ ok: true, value: hundredths });
});

test.each([
  '1e1',
  'NaN',
  '-5',
  '',
  '5%',
  '0x5',
  '1_0',
  '.5',
  '5.',
  '9'.repeat(40),
  '12.345',
  '100.01',
  '101',
])('a percentage of %s is refused, and named', (text) => {
  const read = readPercent(text);
  expect(read).toMatchObject({ ok: false, error: expect.stringContaining(text.slice(0, 40)) as string });
});

function accountOf(discount: DeclaredAccount['discount']): DeclaredAccount {
  return { id: 'a', ...declare(accountFields, 'a', {}), discount };
}

const keptPpm = (percent: string) => {
  const read = readPercent(percent);
  if (!read.ok) throw new Error(read.error);
  return 1_000_000n - read.value * 100n;
};

test('an account without a discount has no multipliers of its own', () => {
  expect(multipliersFinder([accountOf(null)]).find('a', 1_150_000n)).toBeNull();
  expect(multipliersFinder([]).find('a', 1_150_000n)).toBeNull();
});

test('the first entry that names a model holds, and all callers of an account and a group share one object', () => {
  const { find, rough } = multipliersFinder([
    accountOf([
      { keptPpm: keptPpm('50'), models: ['m'] },
      { keptPpm: keptPpm('20'), models: ['m', 'n'] },
      { keptPpm: keptPpm('10'), models: null },
    ]),
  ]);
  const found = find('a', 1_200_000n);
  expect(found?.usualPpm).toBe(1_080_000n);
  expect(found?.byModel).toEqual(
    new Map([
      ['m', 600_000n],
      ['n', 960_000n],
    ]),
  );
  expect(find('a', 1_200_000n)).toBe(found);
  expect(rough).toEqual([]);
});

test('a product of more than six digits is told, and no other', () => {
  const { find, rough } = multipliersFinder([accountOf([{ keptPpm: keptPpm('12.55'), models: null }])]);
  expect(find('a', 1_150_000n)?.usualPpm).toBe(1_005_675n);
  expect(rough).toEqual([]);
  expect(find('a', 1_155_000n)?.usualPpm).toBe(1_010_048n);
  expect(rough.map(roughText)).toEqual([
    '12.55 % off the multiplier 1.155 is 1.0100475, which has more than six digits after the point; shorten one of them',
  ]);
});

test('whatever is written comes back from a column and from an export', () => {
  const percent = fc
    .integer({ min: 0, max: 10_000 })
    .map((hundredths) => formatDecimal(BigInt(hundredths), 2));
  const written = fc.oneof(
    percent,
    fc.array(
      fc.record(
        { percent, models: fc.array(fc.constantFrom('m', 'n/o'), { minLength: 1, maxLength: 2 }) },
        {
          requiredKeys: ['percent'],
        },
      ),
      { minLength: 1, maxLength: 4 },
    ),
  );
  fc.assert(
    fc.property(written, (given) => {
      const read = discountField.fromFile(given);
      expect(discountField.fromFile(discountField.toFile(read))).toEqual(read);
      expect(discountField.cell.read(discountField.cell.write(read))).toEqual(read);
      for (const each of read ?? []) expect(isExact(1_230_000n, each.keptPpm)).toBe(true);
    }),
  );
});
