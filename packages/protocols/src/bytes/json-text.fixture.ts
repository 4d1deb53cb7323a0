import fc from 'fast-check';

const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n  ');

const character = fc.oneof(
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 1 })
    .map((text) => JSON.stringify(text).slice(1, -1)),
  fc.constantFrom(
    '\\"',
    '\\\\',
    '\\/',
    '\\n',
    '\\u0000',
    '\\u00e9',
    '\\uD83D\\uDE00',
    '\\ud83d',
    '{',
    '}',
    '[',
    ']',
    ',',
  ),
);

/** JSON strings as servers and clients write them, escapes of every kind included. */
const stringText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.array(character, { maxLength: 12 }).map((parts) => `"${parts.join('')}"`) },
  {
    weight: 1,
    arbitrary: fc.array(character, { minLength: 90, maxLength: 240 }).map((parts) => `"${parts.join('')}"`),
  },
);

/**
 * Keys, without backslashes of their own: V8 14.6 takes the key `"\u0041"` for `"\\"` when an object parsed before had
 * a member of that name, and tests hold their results against what it parses.
 */
export const keyText: fc.Arbitrary<string> = stringText.filter(
  (text) => !parseAs<string>(text).includes('\\'),
);

const numberText = fc.oneof(
  fc.integer().map(String),
  fc.constantFrom('1.0', '-0', '1e400', '0.1E-7', '123456789012345678901234567890', '1E+2', '-0.0e0'),
);

const wordText = fc.constantFrom('true', 'false', 'null');

export const { value: valueText } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'json' },
    stringText,
    numberText,
    wordText,
    tie('array'),
    tie('object'),
  ),
  array: fc
    .tuple(space, fc.array(fc.tuple(space, tie('value'), space), { maxLength: 4, depthIdentifier: 'json' }))
    .map(([gap, elements]) => `[${gap}${elements.map((parts) => parts.join('')).join(',')}]`),
  object: fc
    .array(fc.tuple(keyText, tie('value')), { maxLength: 4, depthIdentifier: 'json' })
    .chain((members) => objectText(members)),
}));

/** An object with these members in this order, with white space anywhere it may be. */
export function objectText(members: readonly (readonly [string, string])[]): fc.Arbitrary<string> {
  const gaps = fc.array(space, { minLength: members.length * 4 + 1, maxLength: members.length * 4 + 1 });
  return gaps.map((gap) => {
    const texts = members.map(([key, value], n) => {
      const [a, b, c, d] = gap.slice(n * 4, n * 4 + 4);
      return `${a}${key}${b}:${c}${value}${d}`;
    });
    return `{${members.length === 0 ? gap[0] : ''}${texts.join(',')}}`;
  });
}

/** Parses what a test knows the shape of: the assertion is the test's own word for it. */
export function parseAs<Shape>(text: string): Shape {
  return JSON.parse(text) as Shape;
}
