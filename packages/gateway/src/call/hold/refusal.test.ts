import { describe, expect, test } from 'vitest';
import { nanoUsd } from '../../money/money.ts';
import type { Demand, HoldRefusal, Standing } from '../../ports/holds.ts';
import { ownerOf } from './holds.fixture.ts';
import { faultOfHold } from './refusal.ts';

const demand: Demand = { model: 'm', chargeNanoUsd: nanoUsd(520_000_000n), tokens: 5_000, images: 0 };
const midnight = Date.UTC(2026, 10, 24);

function refused(limit: Partial<Standing>, retryAfterMs: number | null = null): HoldRefusal {
  const usual = { owner: 'key', id: 'k', kind: 'day', model: null, amount: 5_000_000_000n } as const;
  const standing = { ...usual, remaining: 100_000_000n, resetsAtMs: midnight, ...limit };
  return { kind: 'exceeded', limit: standing, retryAfterMs };
}

describe('money', () => {
  test('a key is told all of its own', () => {
    expect(faultOfHold(refused({}), [], demand)).toMatchObject({
      code: 'insufficient_balance',
      status: 402,
      retryAfterMs: null,
      limit: { kind: 'budget-per-day', owner: 'key', model: null },
      message:
        'The daily budget of this key does not cover this call, which may cost up to $0.52: $0.1 of $5 is left. It begins anew at 2026-11-24T00:00:00Z.',
    });
  });

  test.each(['group', 'account'] as const)('the amounts of its %s belong to others as well', (owner) => {
    const { message } = faultOfHold(refused({ owner, kind: 'month' }), [ownerOf({ owner })], demand);
    expect(message).toBe(
      `The monthly budget of this key's ${owner} does not cover this call, which may cost up to $0.52. It begins anew at 2026-11-24T00:00:00Z.`,
    );
  });

  test('an account that shows its balance shows what is left of it', () => {
    const owners = [{ ...ownerOf({ owner: 'account', isShown: true }), id: 'a' }];
    const limit = { owner: 'account', id: 'a', kind: 'balance', resetsAtMs: null } as const;
    expect(faultOfHold(refused(limit), owners, demand).message).toBe(
      "The balance of this key's account does not cover this call, which may cost up to $0.52: $0.1 is left. Only the operator can add to it.",
    );
  });

  test('an answer that ends in its midst says why', () => {
    const { code, message } = faultOfHold(refused({ kind: 'total', resetsAtMs: null }), [], null);
    expect(code).toBe('insufficient_balance');
    expect(message).toContain('is used up, so the answer ends here');
  });
});

describe('rates', () => {
  test('say how long to wait', () => {
    const refusal = refused({ kind: 'requests-per-minute', amount: 60n }, 11_001);
    expect(faultOfHold(refusal, [], demand)).toMatchObject({
      code: 'rate_limited',
      status: 429,
      retryAfterMs: 11_001,
      limit: { kind: 'requests-per-minute' },
      message: 'The limit of 60 requests per minute of this key is reached. Try again in 12 s.',
    });
  });

  test('say for which model, and that a call is too large for ever', () => {
    const refusal = refused({ kind: 'tokens-per-minute', owner: 'group', model: 'm' });
    expect(faultOfHold(refusal, [], demand).message).toBe(
      "The limit on tokens per minute of this key's group for the model 'm' is reached, and this call may use 5000. The same call will not be possible later either, but one that allows fewer tokens may be.",
    );
  });
});

test('a store that cannot be reached is no fault of the caller', () => {
  expect(faultOfHold({ kind: 'store-unavailable' }, [], demand)).toMatchObject({
    code: 'store_unavailable',
    status: 503,
  });
});
