import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMarkedAt, markSealed, mayReturn, readSealed } from './sealed-mark.ts';

test('what we mark is known again, whatever it holds', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9a-z]{1,13}$/), fc.string(), (origin, data) => {
      const sealed = { origin, data, form: 'signature' } as const;
      expect(readSealed(markSealed(sealed), 'signature')).toEqual(sealed);
    }),
  );
});

test.each(['gAAAAABo', 'EqQBCgIYAhIM', '', 'gw1.', 'gw1.ab', 'gw2.ab.c'])(
  '%j is of the surface itself',
  (text) => {
    const sealed = readSealed(text, 'redacted');
    expect(sealed).toEqual({ origin: 'native', data: text, form: 'redacted' });
    expect(mayReturn(sealed, 'ab')).toBe(false);
  },
);

test.each([
  [JSON.stringify(markSealed({ origin: 'ab', data: 'x', form: 'signature' })), true],
  ['"gAAAAABo"', false],
  ['"gw1', false],
  ['', false],
])('the JSON %s: %s', (json, expected) => {
  expect(isMarkedAt(new TextEncoder().encode(json), 0)).toBe(expected);
});
