import { expect, test } from 'vitest';
import { MemoryBudget } from './memory.ts';

const holder = (accountId: string, keyId = accountId) => ({ accountId, keyId });

/** Bytes that one caller gets, a byte at a time. */
function takeAll(budget: MemoryBudget, accountId: string, keyId?: string): number {
  let bytes = 0;
  while (budget.take(holder(accountId, keyId), 1)) bytes++;
  return bytes;
}

test('a key alone gets half, an account two thirds', () => {
  expect(takeAll(new MemoryBudget(600), 'a')).toBe(300);
  const budget = new MemoryBudget(600);
  expect(takeAll(budget, 'a', 'a1') + takeAll(budget, 'a', 'a2') + takeAll(budget, 'a', 'a3')).toBe(400);
});

test('something is left for whoever comes next, however many want everything', () => {
  const budget = new MemoryBudget(1_000_000);
  for (let account = 0; account < 9; account++) takeAll(budget, `${account}`);
  expect(budget.take(holder('next'), 900)).toBe(true);
});

test('what is given back can be taken again, by the same and by others', () => {
  const budget = new MemoryBudget(600);
  expect(budget.take(holder('a'), 300)).toBe(true);
  expect(budget.take(holder('a'), 1)).toBe(false);
  expect(budget.take(holder('b'), 100)).toBe(true);
  budget.giveBack(holder('a'), 100);
  expect(budget.take(holder('a'), 1)).toBe(true);
  budget.giveBack(holder('a'), 201);
  expect(takeAll(budget, 'a')).toBe(250);
});

test('never more than there is, and nothing is left over when all has been given back', () => {
  const budget = new MemoryBudget(10_000);
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const held: { readonly who: ReturnType<typeof holder>; readonly bytes: number }[] = [];
  for (let step = 0; step < 20_000; step++) {
    const who = holder(`${random(4)}`, `${random(12)}`);
    const bytes = 1 + random(2_000);
    if (random(3) > 0 && budget.take(who, bytes)) held.push({ who, bytes });
    const [returned] = random(3) === 0 ? held.splice(random(held.length), 1) : [];
    if (returned !== undefined) budget.giveBack(returned.who, returned.bytes);
    expect(budget.taken).toBeLessThanOrEqual(10_000);
  }
  for (const { who, bytes } of held) budget.giveBack(who, bytes);
  expect(budget.taken).toBe(0);
  expect(takeAll(budget, '0')).toBe(5_000);
});
