import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { divideHalfEven, formatNanoUsd, type NanoUsd, nanoUsd, type PicoUsd, picoUsd } from './money.ts';

describe('divideHalfEven', () => {
  test.each([
    [0n, 2n, 0n],
    [1n, 2n, 0n],
    [3n, 2n, 2n],
    [5n, 2n, 2n],
    [7n, 2n, 4n],
    [14n, 10n, 1n],
    [16n, 10n, 2n],
    [25n, 10n, 2n],
    [2_500_000_001n, 1_000_000_000n, 3n],
  ])('%s / %s is %s', (dividend, divisor, quotient) => {
    expect(divideHalfEven(dividend, divisor)).toBe(quotient);
  });

  test('is never further than a half from the truth, and even when exactly there', () => {
    const natural = fc.bigInt({ min: 0n, max: 2n ** 80n });
    fc.assert(
      fc.property(natural, fc.bigInt({ min: 1n, max: 2n ** 40n }), (dividend, divisor) => {
        const quotient = divideHalfEven(dividend, divisor);
        const twiceError = 2n * (dividend - quotient * divisor);
        expect(twiceError <= divisor && twiceError >= -divisor).toBe(true);
        if (twiceError === divisor || twiceError === -divisor) expect(quotient % 2n).toBe(0n);
      }),
    );
  });
});

test.each([
  [0n, '0'],
  [1n, '0.000000001'],
  [1_500_000_000n, '1.5'],
  [-37_500_000n, '-0.0375'],
  [9_223_372_036_854_775_807n, '9223372036.854775807'],
])('formats %s nano-dollars as %s', (amount, text) => {
  expect(formatNanoUsd(nanoUsd(amount))).toBe(text);
});

test('money is neither a number, nor a plain bigint, nor a price', () => {
  expectTypeOf<number>().not.toExtend<NanoUsd>();
  expectTypeOf<bigint>().not.toExtend<NanoUsd>();
  expectTypeOf<PicoUsd>().not.toExtend<NanoUsd>();
  expectTypeOf<NanoUsd>().not.toExtend<PicoUsd>();
  expectTypeOf<NanoUsd>().toExtend<bigint>();
  expectTypeOf(nanoUsd).parameter(0).toEqualTypeOf<bigint>();
  expectTypeOf(picoUsd).parameter(0).toEqualTypeOf<bigint>();
});
