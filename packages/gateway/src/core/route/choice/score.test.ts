import { expect, test } from 'vitest';
import { costOfFailure, costOfSuccess, type Prospect, type Stakes, scoreAt, stakesOf } from './score.ts';

const meanCost = 1000;
const stakes = stakesOf(meanCost, 'balanced', 1);
const sure: Prospect = { price: 800, waitMs: 0, chance: 1, failureMs: 1000, breakShare: 0, slowStart: 1 };

function score(prospect: Prospect, at: Stakes): number {
  return scoreAt(prospect.chance, costOfSuccess(prospect, at), costOfFailure(prospect, at));
}

test.each<readonly [string, Partial<Prospect>, number]>([
  ['its price alone, when it answers at once and always', {}, 800],
  ['a twentieth of a mean call for each second of waiting', { waitMs: 2000 }, 900],
  ['one failure before each success: its time, and five mean calls', { chance: 0.5 }, 800 + 50 + 5000],
  ['answers that break off: five mean calls and half of the price', { breakShare: 0.1 }, 800 + 540],
  ['twice of all that, just back', { slowStart: 2, waitMs: 2000 }, 1800],
])('%s', (_, change, total) => {
  expect(score({ ...sure, ...change }, stakes)).toBeCloseTo(total);
});

test('a failure that others make good costs only its time', () => {
  expect(score({ ...sure, chance: 0.5 }, { ...stakes, lastHope: 0 })).toBeCloseTo(850);
});

test.each([
  ['cost', 810],
  ['balanced', 850],
  ['latency', 1050],
] as const)('%s: a second is worth what the operator says', (preset, total) => {
  expect(score({ ...sure, waitMs: 1000 }, stakesOf(meanCost, preset, 1))).toBeCloseTo(total);
});
