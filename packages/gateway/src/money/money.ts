import { formatDecimal } from './decimal.ts';

declare const nanoUsdBrand: unique symbol;
declare const picoUsdBrand: unique symbol;

/** An amount in nano-dollars (10⁻⁹ USD). Signed; fits an int64 in the store. */
export type NanoUsd = bigint & { readonly [nanoUsdBrand]: true };

/** A price per single unit in pico-dollars (10⁻¹² USD); the same number is micro-dollars per million units. */
export type PicoUsd = bigint & { readonly [picoUsdBrand]: true };

export const zeroNanoUsd = nanoUsd(0n);

/** The constructor of the branded type: the one place that may assert it. */
export function nanoUsd(amount: bigint): NanoUsd {
  return amount as NanoUsd;
}

export function picoUsd(price: bigint): PicoUsd {
  return price as PicoUsd;
}

/** The shortest exact decimal of an amount in dollars: `formatNanoUsd(nanoUsd(1_500_000_000n))` is `1.5`. */
export function formatNanoUsd(amount: NanoUsd): string {
  return formatDecimal(amount, 9);
}

/** Divides two non-negative integers; a quotient halfway between two integers goes to the even one (IEEE 754, 4.3.1). */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twiceRemainder = (dividend - quotient * divisor) * 2n;
  if (twiceRemainder < divisor) return quotient;
  if (twiceRemainder > divisor) return quotient + 1n;
  return quotient + (quotient & 1n);
}
