import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasSealed, markSealed, mayReturn, readSealed } from './seals.ts';

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
  expect(hasSealed(marked, 0, marked.length)).toBe(true);
  expect(hasSealed(marked, 1, marked.length)).toBe(false);
  const spokenOf = json('see gw1.ab.x');
  expect(hasSealed(spokenOf, 0, spokenOf.length)).toBe(false);
});
