import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSlow } from '../../../../test/support/slow-form.ts';
import { compiledFile, digestOf, sourceFile } from '../../../../tools/generate/large-container.ts';
import { valueText } from './json-text.fixture.ts';
import { depthMax, JsonReader, type StringWatch } from './scan.ts';

const encoder = new TextEncoder();
const numRuns = isSlow ? 200_000 : 4_000;
/** More than enough for the compiled code to be asked. */
const padding = ' '.repeat(4_096);

class Seen implements StringWatch {
  readonly lengths = (1 << 0) | (1 << 3) | (1 << 7) | (1 << 31);
  readonly longerThan = 40;
  readonly mark = encoder.encode('m!');
  hasMark = false;
  readonly spans: string[] = [];

  see(_bytes: Uint8Array, start: number, end: number): void {
    this.spans.push(`${start}-${end}`);
  }
}

/** Everything that skipping a value tells. */
function told(text: string, at: number, isWatched: boolean) {
  const reader = new JsonReader(encoder.encode(text), at);
  const watch = new Seen();
  const end = reader.skip(isWatched ? watch : null);
  return { end, failure: reader.failure, spans: watch.spans, hasMark: watch.hasMark };
}

/** The same by the rule itself: one byte after the other. */
function expected(text: string, start: number, isWatched: boolean) {
  const bytes = encoder.encode(text);
  const watch = new Seen();
  const open: number[] = [];
  const failed = (kind: 'unexpected' | 'truncated' | 'too-deep', at: number) => ({
    end: -1,
    failure: { kind, at },
    spans: watch.spans,
    hasMark: watch.hasMark,
  });
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x22) {
      let end = at + 1;
      while (end < bytes.length && bytes[end] !== 0x22) end += bytes[end] === 0x5c ? 2 : 1;
      if (end >= bytes.length) return failed('truncated', bytes.length);
      const length = end - at - 1;
      const isLooked = length < 32 ? ((watch.lengths >>> length) & 1) === 1 : length > watch.longerThan;
      if (isWatched && isLooked) watch.spans.push(`${at + 1}-${end}`);
      if (isWatched && bytes[at + 1] === 0x6d && bytes[at + 2] === 0x21) watch.hasMark = true;
      at = end;
    } else if (byte === 0x7b || byte === 0x5b) {
      if (open.length === depthMax) return failed('too-deep', start);
      open.push(byte + 2);
    } else if (byte === 0x7d || byte === 0x5d) {
      if (open.pop() !== byte) return failed('unexpected', at);
      if (open.length === 0)
        return { end: at + 1, failure: null, spans: watch.spans, hasMark: watch.hasMark };
    }
  }
  return failed('truncated', bytes.length);
}

function agree(text: string): void {
  for (const isWatched of [false, true])
    expect(told(text, 0, isWatched)).toEqual(expected(text, 0, isWatched));
}

test('what is compiled is what is written', () => {
  expect(readFileSync(compiledFile, 'utf8')).toContain(digestOf(readFileSync(sourceFile, 'utf8')));
});

/** Pieces in which quotes, backslashes and brackets meet in every way. */
const soup = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('"', '\\', '{', '}', '[', ']', '\\"', '""', ',', ':') },
      { weight: 2, arbitrary: fc.constantFrom('"abc"', '"m!"', '"sevenxx"', '{"a":[]}', '\\\\', '"\\\\"') },
      { weight: 1, arbitrary: fc.nat(70).map((length) => 'x'.repeat(length)) },
      { weight: 1, arbitrary: fc.nat(70).map((length) => '\\'.repeat(length)) },
      { weight: 1, arbitrary: fc.nat(70).map((length) => `"${'é'.repeat(length)}"`) },
    ),
    { maxLength: 60 },
  )
  .map((pieces) => `[${pieces.join('')}`);

test('anything at all is skipped as byte by byte', () => {
  fc.assert(
    fc.property(soup, fc.boolean(), (text, isClosed) => agree(`${text}${isClosed ? ']}]' : ''}${padding}`)),
    { numRuns },
  );
});

test('values are skipped as byte by byte, wherever the chunks end', () => {
  fc.assert(
    fc.property(valueText, fc.nat(20_000), (value, before) => {
      agree(`[${' '.repeat(before)}${value},"${'y'.repeat(before % 9_000)}",${value}, ${padding}]${padding}`);
    }),
    { numRuns: numRuns / 10 },
  );
});

test('a string or a run of backslashes may begin and end at any place of a step and of a chunk', () => {
  for (let shift = 0; shift < 70; shift++) {
    for (const count of [0, 1, 2, 3, 31, 32, 33, 63, 64, 65]) {
      const slashes = '\\'.repeat(2 * count);
      for (const base of [0, 8_192 - 64, 16_384 - 128])
        agree(`[${' '.repeat(base + shift)}"${slashes}\\"]${slashes}",{"m!":"${slashes}"}]${padding}`);
    }
  }
});

test('nesting is bounded as elsewhere', () => {
  for (const depth of [depthMax - 1, depthMax, depthMax + 1])
    agree(
      '[{'.repeat(depth / 2) +
        '['.repeat(depth % 2) +
        ']'.repeat(depth % 2) +
        '}]'.repeat(depth / 2) +
        padding,
    );
});

/** The end of a string by the rule itself, one byte after the other. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== 0x22) at += bytes[at] === 0x5c ? 2 : 1;
  return at < bytes.length ? at + 1 : -1;
}

test('a long string of quotes and backslashes ends where it does byte by byte', () => {
  const piece = fc.oneof(
    fc.tuple(
      fc.constantFrom('\\"', '\\\\', 'a', '\\"a', '\\"\\\\', 'a b\\"'),
      fc.integer({ min: 1, max: 9_000 }),
    ),
    fc.tuple(fc.constantFrom('x', '\\"x', '\\\\\\"'), fc.integer({ min: 1, max: 40 })),
  );
  const tail = fc.constantFrom('"', '"]', '\\', '\\"', '');
  fc.assert(
    fc.property(
      fc.nat(40),
      fc.array(piece, { maxLength: 8 }),
      tail,
      fc.boolean(),
      (before, pieces, end, isCut) => {
        const said = pieces.map(([each, count]) => each.repeat(count)).join('');
        const text = `${' '.repeat(before)}"${isCut ? said.slice(1) : said}${end}`;
        const bytes = encoder.encode(text);
        const reader = new JsonReader(bytes, before);
        expect(reader.skip()).toBe(stringEnd(bytes, before));
        expect(reader.failure?.kind).toBe(stringEnd(bytes, before) === -1 ? 'truncated' : undefined);
      },
    ),
    { numRuns: numRuns / 20 },
  );
});

test.each([
  ['white space', ' \n\r\t', '[1,', '2]'],
  ['digits', '0123456789', '[1', ',2]'],
])('a long row of %s ends where it does byte by byte', (_, alphabet, before, behind) => {
  for (const length of [90, 95, 96, 97, 110, 8_190, 8_287, 8_288, 8_289, 16_480, 100_000]) {
    const row = Array.from({ length }, (_each, place) => alphabet.charAt(place % alphabet.length)).join('');
    const reader = new JsonReader(encoder.encode(before + row + behind));
    expect(reader.enterArray()).toBe(true);
    let elements = 0;
    while (reader.nextElement() && reader.skip() !== -1) elements += 1;
    expect([elements, reader.failure]).toEqual([2, null]);
    for (const other of ['x', '\v', '/', ':']) {
      const broken = new JsonReader(encoder.encode(before + row + other + behind));
      broken.enterArray();
      while (broken.nextElement() && broken.skip() !== -1);
      expect(broken.failure).toEqual({ kind: 'unexpected', at: before.length + row.length });
    }
  }
});
