import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { peopleText, readTime, thrownFailure } from './command.ts';
import { dim, statusText, tableText } from './table.ts';

test.each([
  ['2027-01-31', '2027-01-31T00:00:00.000Z'],
  ['2027-01-31T08:00Z', '2027-01-31T08:00:00.000Z'],
  ['2027-01-31T08:00:30', '2027-01-31T08:00:30.000Z'],
  ['2027-01-31T08:00:30.5+02:00', '2027-01-31T06:00:30.500Z'],
])('%s is a time', (text, iso) => {
  expect(new Date(readTime(text) ?? Number.NaN).toISOString()).toBe(iso);
});

test.each([
  '1',
  '2027',
  '2027-02-30',
  '01/31/2027',
  'Jan 31 2027',
  '2027-01-31 08:00',
  '2027-01-31T25:00Z',
  '2027-01-31T08:00:00ZZ',
  '',
])('"%s" is not', (text) => {
  expect(readTime(text)).toBeNull();
});

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

test('what the machine refuses is not a mistake of ours', () => {
  const missing = thrownFailure(thrownBy(() => readFileSync('/nowhere/file')));
  expect(missing.reason).toBe('unavailable');
  expect(missing.message).toContain("'/nowhere/file'");
  const store = thrownFailure(thrownBy(() => new DatabaseSync('/nowhere/store')));
  expect(store.reason).toBe('unavailable');
});

test('anything else is, and is told in one line', () => {
  expect(thrownFailure(new TypeError('no such member\nat all'))).toEqual({
    reason: 'failed',
    message: 'internal: no such member',
  });
  const misuse = thrownFailure(thrownBy(() => Buffer.alloc(-1)));
  expect(misuse.reason).toBe('failed');
});

test('what others wrote does not act on a terminal, and our own colours do', () => {
  const ours = `${statusText('down', 'bad', true)}\n${dim('and more')}`;
  expect(peopleText(ours)).toBe(ours);
  const title = '\u001b]0;owned\u0007';
  expect(peopleText(`${title}\u001b[2J\u001b[8m\r\u009b1A\u202eabc`)).toBe(
    '\\u001b]0;owned\\u0007\\u001b[2J\\u001b[8m\\u000d\\u009b1A\\u202eabc',
  );
});

test('a cell of several lines is one row', () => {
  expect(tableText(['model'], [['a\nroot  is  up']], false)).toBe('MODEL\na root  is  up');
});
