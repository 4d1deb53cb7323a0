import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { valueText } from './json-text.fixture.ts';
import { depthMax, JsonReader, skipString } from './scan.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Every member of an object as text, by the reader. */
function members(text: string): [string, string][] {
  const bytes = encoder.encode(text);
  const reader = new JsonReader(bytes);
  const found: [string, string][] = [];
  if (!reader.enterObject()) return found;
  while (reader.nextMember()) {
    const key = decoder.decode(bytes.subarray(reader.keyStart, reader.keyEnd));
    const start = reader.at;
    found.push([key, decoder.decode(bytes.subarray(start, reader.skip()))]);
  }
  expect(reader.isAtEnd()).toBe(true);
  return found;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function failureOf(text: string) {
  const reader = new JsonReader(encoder.encode(text));
  reader.skip();
  reader.isAtEnd();
  return reader.failure;
}

describe('JsonReader', () => {
  test('finds the values of members as they are written', () => {
    expect(members(' { "a" : 1.0 ,\n"b":"x\\"y" , "a":[ {"c":[]} ],"d\\u0065":null}\n')).toEqual([
      ['a', '1.0'],
      ['b', '"x\\"y"'],
      ['a', '[ {"c":[]} ]'],
      ['d\\u0065', 'null'],
    ]);
  });

  test('skips any valid value to its very end', () => {
    fc.assert(
      fc.property(valueText, (text) => {
        expect(isJson(text)).toBe(true);
        const reader = new JsonReader(encoder.encode(text));
        expect(reader.skip()).toBe(encoder.encode(text).length);
        expect(reader.isAtEnd()).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('sees every valid value cut short as truncated, or as another valid value', () => {
    fc.assert(
      fc.property(valueText, fc.nat(), (text, cut) => {
        const bytes = encoder.encode(text);
        const short = bytes.subarray(0, cut % bytes.length);
        const reader = new JsonReader(short);
        reader.skip();
        if (reader.failure !== null) expect(reader.failure).toEqual({ kind: 'truncated', at: short.length });
        else expect(isJson(decoder.decode(short))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([1, 50, 95, 96, 97, 191, 192, 193, 400])(
    'finds the end of a string of %i escaped quotes',
    (count) => {
      const text = JSON.stringify({
        a: '"'.repeat(count),
        b: '\\'.repeat(count),
        c: `${'x'.repeat(count)}\\"`,
      });
      expect(Object.fromEntries(members(text).map(([key, value]) => [key, JSON.parse(value)]))).toEqual(
        JSON.parse(text),
      );
    },
  );

  test.each([
    ['', 'truncated', 0],
    ['{', 'truncated', 1],
    ['"abc', 'truncated', 4],
    ['"abc\\"', 'truncated', 6],
    ['[1,[2]', 'truncated', 6],
    ['tru', 'truncated', 3],
    ['-', 'truncated', 1],
    ['1.', 'truncated', 2],
    ['1e+', 'truncated', 3],
    ['{} {}', 'unexpected', 3],
    ['[}', 'unexpected', 1],
    ['{"a":[1}]', 'unexpected', 7],
    ['NaN', 'unexpected', 0],
    ['+1', 'unexpected', 0],
    ['01', 'unexpected', 1],
    ['.5', 'unexpected', 0],
    ['trux', 'unexpected', 3],
    ['\uFEFF{}', 'unexpected', 0],
  ])('refuses %j as %s at %i', (text, kind, at) => {
    expect(failureOf(text)).toEqual({ kind, at });
  });

  test.each(['{"a"}', '{"a":1,}', '{,}', '{"a":1 "b":2}', '{a:1}', "{'a':1}", '{"a":}', '{"a":1;"b":2}'])(
    'refuses the members of %s',
    (text) => {
      const reader = new JsonReader(encoder.encode(text));
      reader.enterObject();
      while (reader.nextMember()) reader.skip();
      expect(reader.failure?.kind).toBe('unexpected');
    },
  );

  test('refuses nesting beyond the bound, wherever it is counted from', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(failureOf(nested(depthMax))).toBeNull();
    expect(failureOf(nested(depthMax + 1))?.kind).toBe('too-deep');
    expect(failureOf('['.repeat(1_000_000))?.kind).toBe('too-deep');
    const reader = new JsonReader(encoder.encode(`{"a":${nested(depthMax)}}`));
    reader.enterObject();
    reader.nextMember();
    expect(reader.skip()).toBe(-1);
    expect(reader.failure?.kind).toBe('too-deep');
  });

  test('keeps its first failure', () => {
    const reader = new JsonReader(encoder.encode('[1;2]'));
    reader.enterArray();
    reader.nextElement();
    reader.skip();
    expect(reader.nextElement()).toBe(false);
    const { failure } = reader;
    expect([reader.nextElement(), reader.nextMember(), reader.skip(), reader.isAtEnd()]).toEqual([
      false,
      false,
      -1,
      false,
    ]);
    expect(reader.failure).toEqual(failure);
  });
});

test('the end of a string is found however many quotes are in it, near each other or far apart', () => {
  const stretch = fc.tuple(fc.nat(700), fc.constantFrom('"', '\\', '\\"', '#', 'é', '\n'), fc.nat(3));
  const said = fc
    .array(stretch, { maxLength: 8 })
    .map((parts) => parts.map(([length, end, times]) => 'x'.repeat(length) + end.repeat(times)).join(''));
  fc.assert(
    fc.property(said, fc.nat(7), (text, before) => {
      const json = JSON.stringify(text);
      const bytes = encoder.encode(`${' '.repeat(before)}${json}`);
      for (const whole of [bytes, encoder.encode(`${' '.repeat(before)}${json}"," "]`)])
        expect(skipString(whole, before)).toBe(bytes.length);
      expect(skipString(bytes.subarray(0, -1), before)).toBeLessThan(0);
    }),
    { numRuns: 1_000 },
  );
});

test('brackets are paired at every depth, and nesting has a bound', () => {
  const nested = (depth: number, open: string, close: string) =>
    encoder.encode(open.repeat(depth) + close.repeat(depth));
  for (const depth of [1, 29, 30, 31, 59, 60, 61, depthMax]) {
    expect(new JsonReader(nested(depth, '[', ']')).skip()).toBe(2 * depth);
    const reader = new JsonReader(encoder.encode(`${'['.repeat(depth)}}${']'.repeat(depth - 1)}`));
    expect(reader.skip()).toBe(-1);
    expect(reader.failure).toEqual({ kind: 'unexpected', at: depth });
  }
  const deep = new JsonReader(nested(depthMax + 1, '[', ']'));
  expect([deep.skip(), deep.failure?.kind]).toEqual([-1, 'too-deep']);
});

test('strings that begin with a mark are noted, whatever their length', () => {
  const mark = encoder.encode('gw1.');
  const noted = (text: string) => {
    const watch = { lengths: 0, longerThan: 4_096, see: () => {}, hasMark: false, mark };
    new JsonReader(encoder.encode(text)).skip(watch);
    return watch.hasMark;
  };
  expect(noted(`[{"a":"gw1.x"}]`)).toBe(true);
  expect(noted(`["gw1."]`)).toBe(true);
  expect(noted(`["gw1","see gw1.","gw2.x","${'y'.repeat(5_000)}"]`)).toBe(false);
});
