import { keyFields } from '../../catalogue/entities.ts';
import { exported } from '../../catalogue/fields.ts';
import { formatDecimal, formatNanoUsd, nanoUsd } from '../../money/money.ts';
import type { ListedKey, SpentBudget } from '../../ports/key-directory.ts';
import type { KeyItem, KeyView } from './contract/keys.ts';
import type { BudgetView } from './contract/owners.ts';

function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}

/** A budget as it stands. */
export function budgetViewOf({ span, amountNanoUsd, spentNanoUsd, resetsAtMs }: SpentBudget): BudgetView {
  const left = spentNanoUsd > amountNanoUsd ? 0n : amountNanoUsd - spentNanoUsd;
  return {
    ...{ span, amount: formatNanoUsd(amountNanoUsd), spent: formatNanoUsd(spentNanoUsd) },
    ...{ remaining: formatNanoUsd(nanoUsd(left)), resetsAt: isoTime(resetsAtMs) },
  };
}

export function keyItemOf(key: ListedKey): KeyItem {
  const { id, name, hint, state, accountName, groupName, platform, source } = key;
  const ends = [key.expiresAtMs, key.retiresAtMs].filter((time) => time !== null);
  return {
    ...{ id, name, hint, state, accountName, groupName, platform, source },
    ...{ account: key.accountId, group: key.groupId, declared: source === 'file' },
    createdAt: new Date(key.createdAtMs).toISOString(),
    expiresAt: ends.length === 0 ? null : isoTime(Math.min(...ends)),
    lastUsedAt: isoTime(key.lastUsedAtMs),
    spend24h: formatNanoUsd(key.spentDayNanoUsd),
    spend30d: formatNanoUsd(key.spentMonthNanoUsd),
    budgets: key.budgetsSpent.map(budgetViewOf),
  };
}

export function keyViewOf(key: ListedKey): KeyView {
  const { models, strict, addressRanges, limits, replacedBy, budgets } = key;
  return {
    ...keyItemOf(key),
    ...{ models: models === null ? null : [...models], strict, limits, replacedBy },
    addressRanges: addressRanges === null ? null : [...addressRanges],
    expires: isoTime(key.expiresAtMs),
    alertAt: budgets === null ? null : formatDecimal(BigInt(budgets.alertAtPpm), 6),
    retiresAt: isoTime(key.retiresAtMs),
  };
}

/** All that a change may overwrite. */
export function keySettings(key: ListedKey): object {
  return { ...exported(keyFields, key.id, key), status: key.status };
}
