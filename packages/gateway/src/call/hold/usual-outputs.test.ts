import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AnswerLengths } from './usual-outputs.ts';

test('little is no word on the longest in a hundred', () => {
  const lengths = new AnswerLengths();
  for (let n = 0; n < 15; n++) lengths.note('k', 'm', 100);
  expect(lengths.usualMax('k', 'm')).toBeNull();
  lengths.note('k', 'm', 100);
  expect(lengths.usualMax('k', 'm')).toBeGreaterThanOrEqual(100);
});

test('keys and models are told apart', () => {
  const lengths = new AnswerLengths();
  for (let n = 0; n < 16; n++) lengths.note('k', 'm', 100);
  expect([lengths.usualMax('k', 'n'), lengths.usualMax('l', 'm')]).toEqual([null, null]);
});

test('it is no less than the length that one answer in a hundred exceeds, and a tenth more at the most', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200_000), { minLength: 16, maxLength: 900 }), (answers) => {
      const lengths = new AnswerLengths();
      for (const tokens of answers) lengths.note('k', 'm', tokens);
      const ascending = answers.toSorted((a, b) => a - b);
      const exact = ascending[Math.ceil(ascending.length * 0.99) - 1] ?? 0;
      const told = lengths.usualMax('k', 'm') ?? -1;
      expect(told).toBeGreaterThanOrEqual(exact);
      expect(told).toBeLessThanOrEqual(1 + exact * 1.1);
    }),
  );
});

test('what is old is forgotten by what is new', () => {
  const lengths = new AnswerLengths();
  for (let n = 0; n < 1_000; n++) lengths.note('k', 'm', 50_000);
  for (let n = 0; n < 10_000; n++) lengths.note('k', 'm', 10);
  expect(lengths.usualMax('k', 'm')).toBeLessThan(20);
});

test('there is room for so many pairs and no more', () => {
  const lengths = new AnswerLengths(2);
  for (const key of ['a', 'b', 'c']) for (let n = 0; n < 16; n++) lengths.note(key, 'm', 5);
  expect(['a', 'b', 'c'].map((key) => lengths.usualMax(key, 'm') !== null)).toEqual([false, true, true]);
});
