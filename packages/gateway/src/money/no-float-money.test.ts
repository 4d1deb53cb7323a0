import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The files through which every amount passes. */
const moneyFiles = ['money.ts', 'price.ts', 'postings.ts'];

/** Ways for a float to come in: fractions, exponents, division or rounding of numbers, parsing into numbers. */
const floats: readonly (readonly [string, RegExp])[] = [
  ['a fraction or exponent', /(?<![\w.'`@])\d[\d_]*(\.\d|e[+-]?\d)/i],
  ['Math', /\bMath\./],
  ['parseFloat, toFixed or Number()', /\b(parseFloat|parseInt|toFixed|toPrecision|Number)\b/],
  ['an amount typed as a number', /\b\w*(usd|price|cost|charge|amount|balance|ppm)\w*\??: number/i],
];

/** The code without its comments and words. */
const codeOf = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'|`[^`]*`/gm, '');

test.each(moneyFiles)('%s never touches a float', (file) => {
  const code = codeOf(readFileSync(new URL(file, import.meta.url), 'utf8'));
  expect(code).toMatch(/\d+n\b|BigInt|NanoUsd/);
  for (const [name, pattern] of floats) expect(pattern.exec(code)?.[0], name).toBeUndefined();
});

test.each([
  'const rate = 0.5;',
  'return units * 1e-6;',
  'Math.round(x)',
  'Number(amount)',
  'readonly chargeNanoUsd: number;',
])('the rule notices %s', (code) => {
  expect(floats.some(([, pattern]) => pattern.test(codeOf(code)))).toBe(true);
});
