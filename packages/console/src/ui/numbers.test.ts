import { expect, test } from 'vitest';
import { countText, durationText, moneyText, percentText, relativeText } from './numbers.ts';

test.each([
  ['0', '$0.00'],
  ['12.3', '$12.30'],
  ['1234567.891', '$1\u2009234\u2009567.89'],
  ['0.00012345', '$0.000123'],
  ['0.000123500', '$0.000124'],
  ['0.5', '$0.50'],
  ['0.996', '$0.996'],
  ['0.9996', '$1.00'],
  ['0.1', '$0.10'],
  ['1.999', '$2.00'],
  ['1.995', '$2.00'],
  ['-3.5', '−$3.50'],
  ['-0.0000001', '−$0.0000001'],
  ['9007199254740993.01', '$9\u2009007\u2009199\u2009254\u2009740\u2009993.01'],
])('%s dollars are written %s', (usd, text) => {
  expect(moneyText(usd)).toBe(text);
});

test('an amount in full has every digit that it has', () => {
  expect(moneyText('0.000123456', 'full')).toBe('$0.000123456');
  expect(moneyText('5', 'full')).toBe('$5.00');
});

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
