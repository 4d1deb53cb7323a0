import { hidesOthersText, readPercent, type WrittenDiscount } from '../../catalogue/discount.ts';
import type { DeclaredAccount, DeclaredGroup, DeclaredKey } from '../../catalogue/entities.ts';
import { isExact, roughText } from '../../catalogue/multipliers.ts';
import type { YamlPath } from '../../config/yaml-source.ts';
import { complain, type Declaring, requireKnown } from './declaring.ts';

/** An account with its percentages as they were written; those that are wrong are complained of and left out. */
export function exactDiscount<Shape extends object>(
  declaring: Declaring,
  owner: YamlPath,
  shape: Shape,
  modelIds: readonly string[],
): Shape {
  // The file's schema has held the member against its field.
  const { discount } = shape as { readonly discount?: WrittenDiscount };
  if (discount === undefined) return shape;
  const path = [...owner, 'discount'];
  const before = declaring.problems.length;
  const written = Array.isArray(discount)
    ? discount.map((entry, at) => {
        checkModels(declaring, [...path, at], discount, at, modelIds);
        return { ...entry, percent: percentAt(declaring, [...path, at, 'percent']) };
      })
    : percentAt(declaring, path);
  return { ...shape, discount: declaring.problems.length > before ? undefined : written };
}

function percentAt(declaring: Declaring, path: YamlPath): string {
  const text = declaring.file.source.exactText(path) ?? '';
  const read = readPercent(text);
  if (!read.ok) complain(declaring, path, read.error);
  return text;
}

function checkModels(
  declaring: Declaring,
  path: YamlPath,
  entries: Extract<WrittenDiscount, readonly unknown[]>,
  at: number,
  modelIds: readonly string[],
): void {
  const { models } = entries[at] ?? {};
  if (models === undefined && at < entries.length - 1) complain(declaring, path, hidesOthersText);
  for (const [index, model] of (models ?? []).entries())
    requireKnown(declaring, [...path, 'models', index], 'model', model, modelIds);
}

/** An entry has six digits for the factor of its charge: a group and an account that need more of them are refused by their names. */
export function refuseRoughDiscounts(
  declaring: Declaring,
  keys: readonly DeclaredKey[],
  groups: readonly DeclaredGroup[],
  accounts: readonly DeclaredAccount[],
): void {
  const [multipliers, discounts] = [
    new Map(groups.map(({ id, multiplierPpm }) => [id, multiplierPpm])),
    new Map(accounts.map(({ id, discount }) => [id, discount])),
  ];
  const pairs = new Map(keys.map((key) => [`${key.groupId} ${key.accountId}`, key]));
  for (const { groupId, accountId } of pairs.values()) {
    const multiplierPpm = multipliers.get(groupId);
    const found = discounts.get(accountId)?.find(({ keptPpm }) => !isExact(multiplierPpm ?? 0n, keptPpm));
    if (multiplierPpm === undefined || found === undefined) continue;
    const text = roughText({ ...found, multiplierPpm });
    complain(declaring, ['accounts', accountId, 'discount'], `beside group "${groupId}": ${text}`);
  }
}
