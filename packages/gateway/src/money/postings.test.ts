import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nanoUsd } from './money.ts';
import { type BookedCall, brokenRule, foldBalances, postingsFor } from './postings.ts';

function call(changes: Partial<BookedCall> = {}): BookedCall {
  return {
    accountId: 'a',
    status: 'complete',
    unbilledReason: null,
    chargeNanoUsd: nanoUsd(100n),
    attempts: [],
    ...changes,
  };
}

const attempt = (result: string, cost: bigint, channelId = 'c') => ({
  channelId,
  result,
  costNanoUsd: nanoUsd(cost),
});

describe('postingsFor', () => {
  test('the charge goes from the account to revenue', () => {
    expect(postingsFor(call())).toEqual([{ debit: 'account:a', credit: 'revenue', amountNanoUsd: 100n }]);
  });

  test('what served is an expense of its channel, what failed an expense of failing', () => {
    const attempts = [
      attempt('refused', 3n, 'c1'),
      attempt('timed_out', 0n, 'c2'),
      attempt('answered', 7n, 'c3'),
    ];
    expect(postingsFor(call({ chargeNanoUsd: nanoUsd(0n), attempts }))).toEqual([
      { debit: 'expense:failed-attempts:c1', credit: 'payable:channel:c1', amountNanoUsd: 3n },
      { debit: 'expense:channel:c3', credit: 'payable:channel:c3', amountNanoUsd: 7n },
    ]);
  });

  test('an attempt that the caller broke off had served', () => {
    for (const result of ['caller_gone', 'limit_reached'])
      expect(postingsFor(call({ attempts: [attempt(result, 7n)] }))[1]?.debit).toBe('expense:channel:c');
  });

  test('debits equal credits, and nobody but the caller pays the charge', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 15n });
    const attempts = fc.array(
      fc.tuple(
        fc.constantFrom('answered', 'refused', 'cut_after_content'),
        amount,
        fc.constantFrom('c', 'd'),
      ),
    );
    fc.assert(
      fc.property(amount, attempts, (charge, list) => {
        const booked = call({
          chargeNanoUsd: nanoUsd(charge),
          attempts: list.map(([result, cost, channel]) => attempt(result, cost, channel)),
        });
        const balances = foldBalances(postingsFor(booked));
        expect([...balances.values()].reduce((sum, balance) => sum + balance, 0n)).toBe(0n);
        expect(balances.get('account:a') ?? 0n).toBe(-charge);
        expect(balances.get('revenue') ?? 0n).toBe(charge);
      }),
    );
  });
});

describe('brokenRule', () => {
  test.each([
    call(),
    call({ status: 'caller_gone' }),
    call({ status: 'limit_reached' }),
    call({ status: 'failed', unbilledReason: 'upstream_failed', chargeNanoUsd: nanoUsd(0n) }),
    call({ chargeNanoUsd: nanoUsd(2n ** 63n - 1n) }),
  ])('a sound call breaks none', (sound) => {
    expect(brokenRule(sound)).toBeNull();
  });

  test.each([
    call({ status: 'failed' }),
    call({ status: 'timed_out' }),
    call({ unbilledReason: 'zero_completion' }),
    call({ chargeNanoUsd: nanoUsd(-1n) }),
    call({ chargeNanoUsd: nanoUsd(2n ** 63n) }),
    call({ attempts: [attempt('answered', -1n)] }),
    call({ status: 'failed', unbilledReason: null, chargeNanoUsd: nanoUsd(0n) }),
  ])('a broken one is named', (broken) => {
    expect(brokenRule(broken)).toEqual(expect.any(String));
  });
});
