import { fail, type Result, succeed } from '@headgate/protocols';

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

const decimalPattern = /^(\d{1,12})(?:\.(\d+))?$/;

/**
 * Reads a plain decimal exactly, as an integer of its smallest unit: `parseDecimal('0.0375', 6)` is `37500n`. No sign,
 * no exponent, and no more digits after the point than `digits`, because rounding a price silently is how money goes missing.
 */
export function parseDecimal(text: string, digits: number): Result<bigint, string> {
  const match = decimalPattern.exec(text.trim());
  if (match === null) return fail(`"${text}" is not a plain decimal number such as 2.50`);
  const [, whole = '', fraction = ''] = match;
  const kept = fraction.replace(/0+$/, '');
  if (kept.length > digits) return fail(`"${text}" has more than ${digits} digits after the point`);
  return succeed(BigInt(whole + kept.padEnd(digits, '0')));
}

/** The inverse: the shortest plain decimal for an integer of units of 10^-digits. */
export function formatDecimal(units: bigint, digits: number): string {
  const sign = units < 0n ? '-' : '';
  const all = (units < 0n ? -units : units).toString().padStart(digits + 1, '0');
  const fraction = all.slice(all.length - digits).replace(/0+$/, '');
  const whole = all.slice(0, all.length - digits);
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

/** A thousand million dollars: sums of many such amounts fit an int64. */
const nanoUsdMax = 1_000_000_000n * 1_000_000_000n;

/** An amount in dollars as an operator writes it: exact, and never below zero. The error says what is wrong with it. */
export function readUsd(text: string): Result<NanoUsd, string> {
  if (text.length > 40) return fail('has more than 40 characters; write an amount in USD such as 12.50');
  const read = parseDecimal(text, 9);
  if (!read.ok) return read;
  return read.value <= nanoUsdMax
    ? succeed(nanoUsd(read.value))
    : fail(`"${text}" is more than ${formatDecimal(nanoUsdMax, 9)} USD`);
}

/** An amount that somebody else states in dollars, to the nearest nano-dollar; null when it is no plain decimal. */
export function readNanoUsd(text: string): NanoUsd | null {
  const match = decimalPattern.exec(text);
  if (match === null) return null;
  const [, whole = '', fraction = ''] = match;
  const digits = fraction.padEnd(9, '0');
  return nanoUsd(divideHalfEven(BigInt(whole + digits), 10n ** BigInt(digits.length - 9)));
}
