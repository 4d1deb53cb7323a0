import { crc32 as referenceCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crc32, formatKey, isWellFormedKey, keyHint } from './key.ts';

const entropy = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('keys', () => {
  test('every key has the published shape and passes its own checksum', () => {
    fc.assert(
      fc.property(entropy, (bytes) => {
        const key = formatKey(bytes);
        expect(key).toMatch(/^sk-[0-9A-Za-z]{49}$/);
        expect(isWellFormedKey(key)).toBe(true);
      }),
    );
  });

  test('different entropy gives different keys', () => {
    fc.assert(
      fc.property(entropy, entropy, (left, right) => {
        fc.pre(left.some((byte, index) => byte !== right[index]));
        expect(formatKey(left)).not.toBe(formatKey(right));
      }),
    );
  });

  test('a single mistyped character or a swap of neighbours is refused', () => {
    fc.assert(
      fc.property(entropy, fc.integer({ min: 3, max: 51 }), (bytes, at) => {
        const key = formatKey(bytes);
        const typo = key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1);
        expect(isWellFormedKey(typo)).toBe(false);
        const swapped = key.slice(0, at - 1) + key.charAt(at) + key.charAt(at - 1) + key.slice(at + 1);
        expect(isWellFormedKey(swapped)).toBe(swapped === key);
      }),
    );
  });

  test.each(['', 'sk-', 'sk-short', `sk-${'0'.repeat(49)}x`, `pk-${'0'.repeat(49)}`, `sk-${'é'.repeat(49)}`])(
    'refuses %j',
    (text) => {
      expect(isWellFormedKey(text)).toBe(false);
    },
  );

  test('the two ends of the entropy range keep their length', () => {
    expect(formatKey(new Uint8Array(32))).toHaveLength(52);
    expect(formatKey(new Uint8Array(32).fill(255))).toHaveLength(52);
    expect(() => formatKey(new Uint8Array(31))).toThrow(RangeError);
  });

  test('the hint shows eleven characters at most', () => {
    const key = formatKey(new Uint8Array(32).fill(7));
    expect(keyHint(key)).toBe(`${key.slice(0, 7)}…${key.slice(-4)}`);
  });

  test('crc32 agrees with zlib', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code)) }),
        (text) => {
          expect(crc32(text)).toBe(referenceCrc32(text));
        },
      ),
    );
  });
});
