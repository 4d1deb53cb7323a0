import { expect, test } from 'vitest';
import type { OwnerKind, OwnerLimits } from '../catalogue/limits.ts';
import type { Standing } from '../ports/holds.ts';
import { limitsView } from './usage-limits.ts';

const dayEnd = Date.UTC(2026, 10, 24);

/** The standings that a view is made of are all it reads of limits, but for whose amounts may be told. */
function ownerOf(owner: OwnerKind, isShown: boolean): OwnerLimits {
  return {
    ...{ owner, id: owner, isShown, creditLimitNanoUsd: null, budgets: [], rates: [] },
    ...{ timeZone: 'UTC', alertAtPpm: 800_000 },
  };
}

function standingOf(owner: OwnerKind, kind: Standing['kind'], amount: bigint, remaining: bigint): Standing {
  return {
    owner,
    id: owner,
    kind,
    model: null,
    amount,
    remaining,
    resetsAtMs: kind === 'day' ? dayEnd : null,
  };
}

/** As callers get it. */
function viewOf(shown: readonly OwnerKind[], standings: readonly Standing[]) {
  const owners = (['account', 'group', 'key'] as const).map((owner) => ownerOf(owner, shown.includes(owner)));
  return JSON.parse(JSON.stringify(limitsView(owners, standings))) as Record<string, unknown>;
}

test('a caller without limits is unrestricted', () => {
  expect(viewOf([], [])).toEqual({
    ...{ mode: 'unrestricted', status: 'active', remaining: null, remaining_nano_usd: null },
    ...{ quota: null, budgets: [], rate_limits: [], exhausted: [] },
  });
});

test('the quota is the budget with the least left, and what remains is the least of all money', () => {
  const standings = [
    standingOf('account', 'balance', 1_500_000_000n, 1_500_000_000n),
    standingOf('key', 'day', 3_000_000_000n, 2_000_000_001n),
    standingOf('key', 'total', 90_000_000_000n, 80_000_000_000n),
  ];
  const day = {
    ...{ of: 'key', kind: 'day', limit: '3', limit_nano_usd: 3_000_000_000 },
    ...{ used: '0.999999999', used_nano_usd: 999_999_999 },
    ...{ remaining: '2.000000001', remaining_nano_usd: 2_000_000_001, reset_at: '2026-11-24T00:00:00.000Z' },
  };
  const seen = viewOf(['account', 'key'], standings);
  expect(seen).toMatchObject({ mode: 'quota_limited', status: 'active', remaining: '1.5', exhausted: [] });
  expect(seen['quota']).toEqual({ ...day, unit: 'USD' });
  expect(seen['budgets']).toMatchObject([day, { kind: 'total', reset_at: null }]);
});

test('amounts of owners that a key shares are told only where they show them, but that they are used up is', () => {
  const standings = [
    standingOf('account', 'balance', 0n, 0n),
    standingOf('group', 'month', 5n, 3n),
    standingOf('group', 'requests-per-minute', 10n, 0n),
    standingOf('key', 'tokens-per-minute', 1_000n, 400n),
  ];
  const seen = viewOf(['key'], standings);
  expect(seen).toEqual({
    ...{ mode: 'unrestricted', status: 'exhausted', remaining: '0', remaining_nano_usd: 0 },
    ...{ quota: null, budgets: [] },
    rate_limits: [
      {
        ...{ of: 'key', kind: 'tokens-per-minute', model: null, window: '1m' },
        ...{ limit: 1_000, used: 600, remaining: 400, reset_at: null },
      },
    ],
    exhausted: [
      { of: 'account', kind: 'balance', model: null, reset_at: null },
      { of: 'group', kind: 'requests-per-minute', model: null, reset_at: null },
    ],
  });
  expect(viewOf(['account', 'key'], standings)).toMatchObject({ mode: 'quota_limited', remaining: '0' });
});

test.each([
  ['requests-per-minute', '1m'],
  ['images-per-minute', '1m'],
  ['requests-per-day', '1d'],
  ['concurrent-calls', null],
] as const)('%s counts over %s', (kind, window) => {
  const seen = viewOf(['key'], [{ ...standingOf('key', kind, 9n, 9n), model: 'alpha', resetsAtMs: dayEnd }]);
  expect(seen['rate_limits']).toMatchObject([
    { kind, window, model: 'alpha', used: 0, reset_at: '2026-11-24T00:00:00.000Z' },
  ]);
});
