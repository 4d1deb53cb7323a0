import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseList, parseObject } from './parse-object.ts';

const nested = (levels: number) => `{"1":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

test('what is nested no deeper than a request may be is parsed, and nothing deeper', () => {
  expect(JSON.stringify(parseObject(nested(256)))).toBe(nested(256));
  expect(parseObject(nested(257))).toBeNull();
  expect(parseObject(nested(300_000))).toBeNull();
  expect(parseList('['.repeat(300_000) + ']'.repeat(300_000))).toBeNull();
});

test('brackets in strings nest nothing', () => {
  const text = `\\"${'[{'.repeat(1_000)}`;
  const value = { [text]: text, list: [[text]] };
  expect(parseObject(` ${JSON.stringify(value)}`)).toEqual(value);
});

test('no text is no members, and everything else is as it is parsed', () => {
  expect(parseObject(' ')).toEqual({});
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const parsed: unknown = JSON.parse(text);
      const isList = Array.isArray(parsed);
      expect(parseList(text)).toEqual(isList ? parsed : null);
      const isObject = typeof parsed === 'object' && parsed !== null && !isList;
      expect(parseObject(text)).toEqual(isObject ? parsed : null);
    }),
  );
});
