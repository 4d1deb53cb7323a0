import type { OwnerLimits, RateKind } from '../catalogue/limits.ts';
import { nanoUsd } from '../money/money.ts';
import type { Standing } from '../ports/holds.ts';
import { rateWindowMs } from '../ports/leases.ts';
import { amount, isoTime } from './usage-views.ts';

/** The members of an answer that tell a key what it may still spend and ask. */
export interface LimitsView {
  readonly mode: 'quota_limited' | 'unrestricted';
  readonly status: 'active' | 'exhausted';
  readonly [member: string]: unknown;
}

/**
 * How a caller's limits stand, in words for it. The amounts of an owner that it shares are told where that shows them; that one of them is
 * used up is told in any case, as a refusal would tell it too.
 */
export function limitsView(limits: readonly OwnerLimits[], standings: readonly Standing[]): LimitsView {
  const shownOwners = new Set(limits.filter(({ isShown }) => isShown).map(({ owner }) => owner));
  const shown = standings.filter(({ owner }) => shownOwners.has(owner));
  const [money, ofShown] = [standings.filter(isMoney), shown.filter(isMoney)];
  const isSpent = money.some(({ remaining }) => remaining === 0n);
  const least = leastOf(ofShown);
  const budgets = ofShown.filter(({ kind }) => kind !== 'balance');
  const tightest = leastOf(budgets);
  return {
    mode: ofShown.length > 0 ? 'quota_limited' : 'unrestricted',
    status: isSpent ? 'exhausted' : 'active',
    ...remainingView(isSpent ? 0n : (least?.remaining ?? null)),
    quota: tightest === null ? null : { ...moneyView(tightest), unit: 'USD' },
    budgets: budgets.map(moneyView),
    rate_limits: shown.filter((standing) => !isMoney(standing)).map(rateView),
    exhausted: standings.filter(({ remaining }) => remaining === 0n).map(nameView),
  };
}

/** The windows of rates, as callers read them. */
const windowNames: ReadonlyMap<number | null, string> = new Map([
  [60_000, '1m'],
  [86_400_000, '1d'],
]);

function isMoney({ kind }: Standing): boolean {
  return !(kind in rateWindowMs);
}

function leastOf(standings: readonly Standing[]): Standing | null {
  return standings.reduce<Standing | null>(
    (least, standing) => (least === null || standing.remaining < least.remaining ? standing : least),
    null,
  );
}

function remainingView(remaining: bigint | null): Record<string, unknown> {
  if (remaining === null) return { remaining: null, remaining_nano_usd: null };
  return amount('remaining', nanoUsd(remaining));
}

function nameView({ owner, kind, model, resetsAtMs }: Standing) {
  return { of: owner, kind, model, reset_at: isoTime(resetsAtMs) };
}

function moneyView(standing: Standing): Record<string, unknown> {
  const { owner, kind, amount: limit, remaining, resetsAtMs } = standing;
  return {
    of: owner,
    kind,
    ...amount('limit', nanoUsd(limit)),
    ...amount('used', nanoUsd(limit - remaining)),
    ...amount('remaining', nanoUsd(remaining)),
    reset_at: isoTime(resetsAtMs),
  };
}

function rateView({ owner, kind, model, amount: limit, remaining, resetsAtMs }: Standing) {
  return {
    of: owner,
    kind,
    model,
    // A limit is of money or a rate.
    window: windowNames.get(rateWindowMs[kind as RateKind]) ?? null,
    limit: Number(limit),
    used: Number(limit - remaining),
    remaining: Number(remaining),
    reset_at: isoTime(resetsAtMs),
  };
}
