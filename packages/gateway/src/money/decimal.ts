import { fail, type Result, succeed } from '@headgate/protocols';

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
