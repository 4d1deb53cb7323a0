import type { NanoUsd } from '../money/money.ts';

/** An amount in dollars to so many digits, rounded for the eye; `--json` and `--csv` have it exact. */
export function usd(amount: NanoUsd, digits: number): string {
  const unit = 10n ** BigInt(9 - digits);
  const size = amount < 0n ? -amount : amount;
  const rounded = (size + unit / 2n) / unit;
  const all = rounded.toString().padStart(digits + 1, '0');
  const whole = BigInt(all.slice(0, all.length - digits)).toLocaleString('en');
  return `${amount < 0n && rounded > 0n ? '-' : ''}${whole}.${all.slice(all.length - digits)}`;
}

/** How much of a charge is left, in per cent; null where nothing was charged. */
export function marginPercent(charge: NanoUsd, cost: NanoUsd): number | null {
  return charge === 0n ? null : Number(((charge - cost) * 1000n) / charge) / 10;
}
