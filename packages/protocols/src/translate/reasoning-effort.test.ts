import { expect, test } from 'vitest';
import { budgetOf, effortOf } from './reasoning-effort.ts';

test.each([
  [0, 'none'],
  [1, 'minimal'],
  [1_024, 'minimal'],
  [1_025, 'low'],
  [4_096, 'low'],
  [8_192, 'medium'],
  [12_288, 'medium'],
  [12_289, 'high'],
  [64_000, 'high'],
] as const)('%d tokens are %s effort', (budgetTokens, effort) => {
  expect(effortOf({ effort: null, budgetTokens, shown: null })).toBe(effort);
});

test.each(['none', 'minimal', 'low', 'medium', 'high'] as const)(
  'the budget of %s effort means it',
  (effort) => {
    const budgetTokens = budgetOf({ effort, budgetTokens: null, shown: null });
    expect(effortOf({ effort: null, budgetTokens, shown: null })).toBe(effort);
  },
);

test('what is said counts before what it stands for', () => {
  expect(effortOf({ effort: 'max', budgetTokens: 1, shown: null })).toBe('max');
  expect(budgetOf({ effort: 'low', budgetTokens: 9_000, shown: null })).toBe(9_000);
  expect(effortOf({ effort: null, budgetTokens: null, shown: true })).toBeNull();
  expect(budgetOf({ effort: null, budgetTokens: null, shown: true })).toBeNull();
});
