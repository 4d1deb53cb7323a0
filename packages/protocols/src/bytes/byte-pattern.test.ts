import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BytePattern } from './byte-pattern.ts';

const encoder = new TextEncoder();

test('finds what a search of the text finds, from and up to where it is told', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '"', 'é'), maxLength: 20 });
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(text, pattern, fc.nat(20), (within, wanted, start) => {
      const bytes = encoder.encode(within);
      const latin = (array: Uint8Array) => String.fromCharCode(...array);
      const expected = latin(bytes).indexOf(latin(encoder.encode(wanted)), start);
      expect(new BytePattern(wanted).find(bytes, start, bytes.length)).toBe(expected);
      expect(new BytePattern(wanted).find(bytes, 0, 1)).toBe(-1);
    }),
    { numRuns: 1_000 },
  );
});
