import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splice } from './splice.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]));
}

test('without edits it is the same bytes', () => {
  const bytes = encoder.encode('abc');
  expect(splice(bytes, [])[0]).toBe(bytes);
});

test('edits apply by position, in whatever order they are given', () => {
  const edits = [
    { name: 'c', start: 4, end: 5, insert: encoder.encode('E!') },
    { name: 'a', start: 0, end: 2, insert: encoder.encode('') },
    { name: 'b', start: 3, end: 3, insert: encoder.encode('--') },
  ];
  expect(decoder.decode(joined(splice(encoder.encode('abcdefg'), edits)))).toBe('c--dE!fg');
});

test('edits that overlap are a bug', () => {
  const edit = (start: number, end: number) => ({ name: 'x', start, end, insert: new Uint8Array(0) });
  expect(() => splice(new Uint8Array(9), [edit(1, 4), edit(3, 5)])).toThrow('overlap');
});

test('everything outside the edits stays as it was', () => {
  const cuts = fc.uniqueArray(fc.nat(200), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 200, maxLength: 220 }),
      cuts,
      fc.uint8Array({ maxLength: 5 }),
      (bytes, at, insert) => {
        const sorted = at.toSorted((a, b) => a - b);
        const edits = sorted.flatMap((start, n) => {
          const end = sorted[n + 1];
          return n % 2 === 0 && end !== undefined ? [{ name: 'x', start, end, insert }] : [];
        });
        const pieces: number[] = [];
        let from = 0;
        for (const { start, end } of edits) {
          pieces.push(...bytes.subarray(from, start), ...insert);
          from = end;
        }
        expect([...joined(splice(bytes, edits))]).toEqual([...pieces, ...bytes.subarray(from)]);
      },
    ),
  );
});
