import { expect, test } from 'vitest';
import { RetryBudget } from './retry-budget.ts';

function spendAll(budget: RetryBudget): number {
  let spent = 0;
  for (; budget.canSpend; spent++) budget.spend();
  return spent;
}

test('grows by a fifth for each call and by one each second, up to fifty', () => {
  const budget = new RetryBudget();
  expect(spendAll(budget)).toBe(10);
  for (let n = 0; n < 100; n++) budget.called(0);
  expect(spendAll(budget)).toBeGreaterThanOrEqual(19);
  budget.called(30_000);
  expect(spendAll(budget)).toBeGreaterThanOrEqual(30);
  budget.called(3_600_000);
  expect(spendAll(budget)).toBe(50);
});
