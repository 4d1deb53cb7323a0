import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fingerprint } from './fingerprint.ts';

function of(...texts: readonly string[]): number {
  const fingerprint = new Fingerprint();
  for (const text of texts) fingerprint.addText(text);
  return fingerprint.value;
}

test('the same for the same texts, and a whole number that a float holds exactly', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (texts) => {
      const value = of(...texts);
      expect(of(...texts)).toBe(value);
      expect(Number.isSafeInteger(value) && value >= 0).toBe(true);
    }),
  );
});

test('another one wherever one letter is another, at the ends of a long text as well', () => {
  const text = 'x'.repeat(3_000);
  const values = [0, 1, 255, 2_744, 2_999].map((at) => of(`${text.slice(0, at)}y${text.slice(at + 1)}`));
  expect(new Set([...values, of(text), of(`${text}x`)]).size).toBe(7);
});

test('another one when the texts are cut in other places', () => {
  expect(new Set([of('ab', 'c'), of('a', 'bc'), of('abc'), of('abc', ''), of()]).size).toBe(5);
});

test('numbers of 53 bits count with all of them', () => {
  const values = [0, 1, 2 ** 32, 2 ** 52, 2 ** 52 + 1].map((number) => {
    const fingerprint = new Fingerprint();
    fingerprint.addNumber(number);
    return fingerprint.value;
  });
  expect(new Set(values).size).toBe(5);
});

test('none of many texts that differ a little meet, and every bit is used', () => {
  const values = Array.from({ length: 100_000 }, (_, n) => of('You are terse.', `Question ${n}`));
  expect(new Set(values).size).toBe(values.length);
  const shares = Array.from(
    { length: 53 },
    (_, bit) => values.filter((value) => Math.floor(value / 2 ** bit) % 2 === 1).length / values.length,
  );
  expect(shares.every((share) => Math.abs(share - 0.5) < 0.02)).toBe(true);
});

test('of many long texts no more is read than of a few', () => {
  const texts = Array.from({ length: 9 }, () => 'x'.repeat(512));
  const changed = [...texts.slice(0, 8), 'y'.repeat(512)];
  expect(of(...changed)).toBe(of(...texts));
  expect(of(...texts.slice(0, 8))).not.toBe(of(...texts));
});
