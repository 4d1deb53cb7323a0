import { divideHalfEven, formatDecimal } from '../money/money.ts';
import { type Discount, percentText, wholePpm } from './discount.ts';
import type { DeclaredAccount } from './entities.ts';

/** The factors on list prices that the calls of a caller are charged by, in parts per million. */
export interface Multipliers {
  readonly usualPpm: bigint;
  readonly byModel: ReadonlyMap<string, bigint>;
}

/** A discount and a multiplier whose product has more digits than an entry holds. */
export interface RoughDiscount {
  readonly accountId: string;
  readonly keptPpm: bigint;
  readonly multiplierPpm: bigint;
}

/** Finds the multipliers of callers; null where their account has no discount. Callers of one account and one group share them. */
export function multipliersFinder(accounts: readonly DeclaredAccount[]) {
  const discounts = new Map(accounts.map(({ id, discount }) => [id, discount]));
  const known = new Map<string, Multipliers>();
  const rough: RoughDiscount[] = [];
  const find = (accountId: string, multiplierPpm: bigint): Multipliers | null => {
    const discount = discounts.get(accountId) ?? null;
    if (discount === null) return null;
    const name = `${accountId} ${multiplierPpm}`;
    const found = known.get(name);
    if (found !== undefined) return found;
    for (const { keptPpm } of discount)
      if (!isExact(multiplierPpm, keptPpm)) rough.push({ accountId, keptPpm, multiplierPpm });
    const made = multipliersOf(multiplierPpm, discount);
    known.set(name, made);
    return made;
  };
  return { find, rough };
}

function multipliersOf(multiplierPpm: bigint, discounts: readonly Discount[]): Multipliers {
  const product = (keptPpm: bigint) => divideHalfEven(multiplierPpm * keptPpm, wholePpm);
  const general = discounts.find(({ models }) => models === null);
  const byModel = new Map<string, bigint>();
  for (const { keptPpm, models } of discounts.toReversed())
    for (const model of models ?? []) byModel.set(model, product(keptPpm));
  return { usualPpm: general === undefined ? multiplierPpm : product(general.keptPpm), byModel };
}

/** True where the entry's factor, in parts per million, is all of the product: then the charge is rounded once, at its end. */
export function isExact(multiplierPpm: bigint, keptPpm: bigint): boolean {
  return (multiplierPpm * keptPpm) % wholePpm === 0n;
}

/** Says that a product has too many digits, and what to do. */
export function roughText({ keptPpm, multiplierPpm }: Omit<RoughDiscount, 'accountId'>): string {
  const [multiplier, product] = [formatDecimal(multiplierPpm, 6), formatDecimal(multiplierPpm * keptPpm, 12)];
  return `${percentText(keptPpm)} % off the multiplier ${multiplier} is ${product}, which has more than six digits after the point; shorten one of them`;
}
