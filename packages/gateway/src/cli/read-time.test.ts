import { expect, test } from 'vitest';
import { readTime } from './read-time.ts';

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
