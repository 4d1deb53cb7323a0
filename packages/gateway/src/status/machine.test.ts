import { describe, expect, test } from 'vitest';
import { advance, initialMachine, judgeCell, type MachineState, shownState } from './machine.ts';
import { addValue, type Spread, writeSpread } from './spread.ts';

const spreadOf = (count: number, ms: number): Spread => {
  const spread: Spread = new Map();
  for (let n = 0; n < count; n++) addValue(spread, ms);
  return spread;
};

const countsOf = (good: number, bad: number, probesGood = 0, probesBad = 0, spread: Spread = new Map()) => ({
  ...{ good, bad, probesGood, probesBad },
  spread: writeSpread(spread),
});

describe('a cell', () => {
  test.each([
    [9950, 50, 'operational'],
    [9949, 51, 'degraded'],
    [9500, 500, 'degraded'],
    [9499, 501, 'partial'],
    [5000, 5000, 'partial'],
    [4999, 5001, 'outage'],
    [0, 20, 'outage'],
    [0, 0, 'unknown'],
  ])('of %i good calls and %i bad ones is %s', (good, bad, state) => {
    expect(judgeCell(countsOf(good, bad), new Map()).state).toBe(state);
  });

  test('with 19 calls is judged by probes too, and with 20 by its calls alone', () => {
    const few = judgeCell(countsOf(19, 0, 0, 1), new Map());
    expect(few).toMatchObject({ state: 'degraded', facts: { good: 19, total: 20, isProbed: true } });
    const enough = judgeCell(countsOf(20, 0, 0, 20), new Map());
    expect(enough).toMatchObject({ state: 'operational', facts: { good: 20, total: 20, isProbed: false } });
    expect(judgeCell(countsOf(0, 0, 1, 0), new Map()).state).toBe('operational');
  });

  test.each([
    ['above twice the usual', 20, 1000, 100, 2300, 'degraded'],
    ['at twice the usual', 20, 1000, 100, 2000, 'operational'],
    ['of too few calls to tell', 19, 1000, 100, 9000, 'operational'],
    ['with too little known of the usual', 20, 1000, 99, 9000, 'operational'],
  ])('whose 95th percentile is %s', (_, calls, usualMs, usualCalls, ms, state) => {
    const counts = countsOf(calls, 0, 0, 0, spreadOf(calls, ms));
    expect(judgeCell(counts, spreadOf(usualCalls, usualMs)).state).toBe(state);
  });

  test('that is slow and fails is as bad as its failures', () => {
    const counts = countsOf(30, 70, 0, 0, spreadOf(30, 9000));
    expect(judgeCell(counts, spreadOf(1000, 100)).state).toBe('outage');
  });
});

type Letter = 'o' | 'd' | 'p' | 'x' | '.';
const states = { o: 'operational', d: 'degraded', p: 'partial', x: 'outage', '.': 'unknown' } as const;

/** What is shown behind each cell of a row of them. */
function shownAlong(cells: string): string {
  let machine: MachineState = initialMachine;
  return [...cells]
    .map((letter, at) => {
      // The rows of this file have no other letters.
      machine = advance(machine, states[letter as Letter], at).machine;
      const shown = shownState(machine);
      return Object.entries(states).find(([, state]) => state === shown)?.[0];
    })
    .join('');
}

describe('the state of a subject', () => {
  test.each([
    ['takes two cells to get worse and three to get better', 'ooxxxooooo', 'oooxxxxooo'],
    ['is as bad as the better of the two cells', 'ooxpxdxooo', 'oooppppppo'],
    ['does not follow single cells', 'oxoxoxoxox', 'oooooooooo'],
    ['gets better only as far as the worst of three', 'ooxxodoooo', 'oooxxxddoo'],
    ['is unknown after two dark cells, and goes on from where it stood', 'oxx.x..ooo', 'ooxxxx.xxo'],
    ['is unknown until something was measured', '..ox', '..oo'],
  ])('%s', (_, cells, shown) => {
    expect(shownAlong(cells)).toBe(shown);
  });
});
