import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginningOf } from './whole-text.ts';

/** Texts with halves of pairs in them, alone and beside each other. */
const odd = fc
  .array(fc.constantFrom('a', 'é', '\ud83d', '\ude00', '😀', '\u0000', '\ufeff', '漢'), { maxLength: 30 })
  .map((pieces) => pieces.join(''));

test('a beginning is a whole text, however odd the text and wherever it ends', () => {
  fc.assert(
    fc.property(odd, fc.nat(40), (text, unitsMax) => {
      const beginning = beginningOf(text, unitsMax);
      expect(beginning.isWellFormed()).toBe(true);
      expect(beginning.length).toBeLessThanOrEqual(Math.max(unitsMax, 0));
      expect(text.toWellFormed().startsWith(beginning)).toBe(true);
      // No more than half a pair is lost to the bound.
      expect(beginning.length).toBeGreaterThanOrEqual(Math.min(text.length, unitsMax) - 1);
      expect(() => encodeURIComponent(beginning)).not.toThrow();
    }),
  );
});
