import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markPattern, markSealed, mayReturn, readSealed } from './sealed-mark.ts';

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

test('the JSON of marked state begins as it is looked for', () => {
  const json = (text: string) => new TextEncoder().encode(JSON.stringify(text));
  const marked = json(markSealed({ origin: 'ab', data: 'x', form: 'signature' }));
  expect(markPattern.find(marked, 0, marked.length)).toBe(0);
  const spokenOf = json('see "gw1.ab.x"');
  expect(markPattern.find(spokenOf, 0, spokenOf.length)).not.toBe(0);
});
