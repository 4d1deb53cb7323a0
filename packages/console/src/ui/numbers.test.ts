import { expect, test } from 'vitest';
import { countText, durationText, percentText, relativeText } from './numbers.ts';

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1\u2009000'],
  ['12345678901234567890', '12\u2009345\u2009678\u2009901\u2009234\u2009567\u2009890'],
])('%s is counted as %s', (value, text) => {
  expect(countText(value)).toBe(text);
});

test.each([
  [0, '0 ms'],
  [0.4, '< 1 ms'],
  [340.4, '340 ms'],
  [999.7, '1.00 s'],
  [1240, '1.24 s'],
  [59_960, '1 min 0 s'],
  [125_000, '2 min 5 s'],
  [3_599_900, '1 h 0 min'],
  [7_380_000, '2 h 3 min'],
  [90_000_000, '1 d 1 h'],
])('%s ms take %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [1, '100 %'],
  [0.99999, '99.99 %'],
  [0.9996, '99.96 %'],
  [0.995, '99.5 %'],
  [0.5, '50 %'],
  [0.034, '3.4 %'],
  [0, '0 %'],
])('a share of %s is %s', (share, text) => {
  expect(percentText(share)).toBe(text);
});

test('a moment is told from now, in the language of the page', () => {
  expect(relativeText(0, 7_200_000, 'en')).toBe('2 hr. ago');
  expect(relativeText(172_800_000, 0, 'en')).toBe('in 2 days');
  expect(relativeText(0, 300_000, 'zh')).toBe('5分钟前');
});
