import { expect, test } from 'vitest';
import { Demand, RetryBudget } from './traffic.ts';

test('calls become like those seen', () => {
  const demand = new Demand();
  for (let n = 0; n < 500; n++) demand.used(100, 40);
  expect(demand.inputTokens).toBeCloseTo(100, 0);
  expect(demand.outputTokens).toBeCloseTo(40, 0);
});

test('what a call costs follows prices slowly', () => {
  const demand = new Demand();
  expect(demand.meanPrice).toBeNull();
  demand.called(100);
  demand.called(200);
  expect(demand.meanPrice).toBeCloseTo(101);
});

test('the last attempt is the last hope, and with trouble about others are less of one', () => {
  const demand = new Demand();
  expect(demand.lastHope(0, 0)).toBe(1);
  expect(demand.lastHope(2, 0)).toBeCloseTo(0.0025);
  for (let n = 0; n < 72; n++) demand.attempted(0, true);
  expect(demand.lastHope(1, 0)).toBeCloseTo(0.905);
  expect(demand.lastHope(1, 3_600_000)).toBeCloseTo(0.05);
});

test('sends three calls in a hundred to two targets, and no more', () => {
  const demand = new Demand();
  let hedged = 0;
  for (let n = 0; n < 5000; n++) {
    demand.called(1);
    if (!demand.mayHedge) continue;
    demand.hedged();
    hedged++;
  }
  expect(hedged).toBeGreaterThan(130);
  expect(hedged).toBeLessThanOrEqual(151);
});

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
