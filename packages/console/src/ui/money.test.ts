import { expect, test } from 'vitest';
import { moneyText, shortMoneyText, usdText } from './money.ts';

const usd = { code: 'USD', perUsd: '1' };

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
  ['-1.995', '−$2.00'],
  ['-0.0000001', '−$0.0000001'],
  ['9007199254740993.01', '$9\u2009007\u2009199\u2009254\u2009740\u2009993.01'],
])('%s dollars are written %s', (amount, text) => {
  expect(moneyText(amount, usd, 'en')).toBe(text);
});

test('an exact amount has every digit that it has, in dollars', () => {
  expect(usdText('0.000123456')).toBe('$0.000123456');
  expect(usdText('5')).toBe('$5.00');
  expect(usdText('-1234.5')).toBe('−$1\u2009234.50');
});

const yen = { code: 'JPY', perUsd: '155.3' };
const yuan = { code: 'CNY', perUsd: '7.2' };

test.each([
  ['0', '¥0'],
  ['1', '¥155'],
  ['10', '¥1\u2009553'],
  ['1234567.891', '¥191\u2009728\u2009393'],
  ['0.01', '¥1.55'],
  ['0.1', '¥15.5'],
  ['0.0000123', '¥0.00191'],
  ['-2.5', '−¥388'],
])('%s dollars are %s in a currency without decimals', (amount, text) => {
  expect(moneyText(amount, yen, 'en')).toBe(text);
  expect(moneyText(amount, yen, 'zh')).toBe(text);
});

test.each([
  ['0', '¥0.00'],
  ['1', '¥7.20'],
  ['0.00012345', '¥0.000889'],
  ['0.13888', '¥1.00'],
  ['1000', '¥7\u2009200.00'],
  ['-0.5', '−¥3.60'],
])('%s dollars are %s in yuan', (amount, text) => {
  expect(moneyText(amount, yuan, 'zh')).toBe(text);
});

test('a rate of many digits is not rounded before the amount is', () => {
  expect(moneyText('900719925474099.3', { code: 'CNY', perUsd: '7.123456789' }, 'en')).toBe(
    '¥6\u2009416\u2009239\u2009468\u2009106\u2009046.70',
  );
});

test('a sign that is the dollar of another country says which, and a name of letters stands apart', () => {
  expect(moneyText('1', { code: 'HKD', perUsd: '7.8' }, 'en')).toBe('HK$7.80');
  expect(moneyText('1', { code: 'CHF', perUsd: '0.9' }, 'en')).toBe('CHF\u00a00.90');
  expect(moneyText('1', { code: 'KWD', perUsd: '0.307' }, 'en')).toBe('KWD\u00a00.307');
});

test('an axis has amounts in short', () => {
  expect(shortMoneyText(12_345, usd, 'en')).toBe('$12.3K');
  expect(shortMoneyText(100, yen, 'en')).toBe('¥15.5K');
});
