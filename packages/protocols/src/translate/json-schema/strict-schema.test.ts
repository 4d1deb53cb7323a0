import fc from 'fast-check';
import { expect, test } from 'vitest';
import { strictSchema } from './strict-schema.ts';

const text = { type: 'string' };
const maybeText = { type: ['string', 'null'] };

test('objects are closed, and what may be null is required', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      a: { ...text, default: 'x', format: 'uri', description: 'A.' },
      b: maybeText,
      c: { anyOf: [{ type: 'object', properties: {}, additionalProperties: false }, { type: 'null' }] },
      d: { type: 'array', items: { $ref: '#/$defs/leaf' } },
    },
    required: ['a', 'd'],
    $defs: { leaf: { enum: ['x', 'y'] } },
  };
  const empty = { type: 'object', properties: {}, required: [], additionalProperties: false };
  expect(strictSchema(schema)).toEqual({
    type: 'object',
    properties: {
      a: { type: 'string', description: 'A.' },
      b: maybeText,
      c: { anyOf: [empty, { type: 'null' }] },
      d: { type: 'array', items: { $ref: '#/$defs/leaf' } },
    },
    required: ['a', 'b', 'c', 'd'],
    additionalProperties: false,
    $defs: { leaf: { enum: ['x', 'y'] } },
  });
});

test('an object without properties is an empty one where it says so, as the arguments of a tool do', () => {
  const empty = { type: 'object', properties: {}, required: [], additionalProperties: false };
  expect(strictSchema({ type: 'object', additionalProperties: false })).toEqual(empty);
  expect(strictSchema({ type: 'object', properties: {} })).toEqual(empty);
  expect(strictSchema({ type: 'object' })).toBeNull();
  const within = { type: 'object', properties: { a: { type: 'object', properties: {} } }, required: ['a'] };
  expect(strictSchema(within)).toBeNull();
});

test.each([
  ['a property that may be left out', { type: 'object', properties: { a: text } }],
  [
    'one that an enum keeps from being null',
    { type: 'object', properties: { a: { ...maybeText, enum: ['x'] } } },
  ],
  ['one that is said elsewhere', { type: 'object', properties: { a: { $ref: '#/$defs/x' } } }],
  ['anything at all', { type: 'object', properties: { a: {} }, required: ['a'] }],
  [
    'a schema of elsewhere',
    { type: 'object', properties: { a: { $ref: 'https://x.example/y' } }, required: ['a'] },
  ],
  ['members of any name', { type: 'object', additionalProperties: text }],
  ['a required member that is not described', { type: 'object', properties: {}, required: ['a'] }],
  ['a root that is no object', text],
  ['a root of alternatives', { type: 'object', anyOf: [{ type: 'object' }] }],
  [
    'a keyword that is not enforced',
    { type: 'object', properties: { a: { ...text, minLength: 1 } }, required: ['a'] },
  ],
  ['a part that is no schema', { type: 'object', properties: { a: true }, required: ['a'] }],
  [
    'open parts deep within',
    {
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'object', properties: { b: text } } } },
      required: ['a'],
    },
  ],
])('%s can only be advice', (_, schema) => {
  expect(strictSchema(schema)).toBeNull();
});

test('a schema nested too deep can only be advice', () => {
  const nested = (depth: number): object =>
    depth === 0
      ? { type: 'object', properties: {}, additionalProperties: false }
      : { type: 'object', properties: { a: nested(depth - 1) }, required: ['a'] };
  expect(strictSchema({ ...nested(10) })).not.toBeNull();
  expect(strictSchema({ ...nested(11) })).toBeNull();
});

const schemas = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      text,
      maybeText,
      { $ref: '#' },
      { $ref: '#/$defs/a' },
      { enum: [1, null] },
      { minLength: 2 },
      true,
    ),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 2 }) }),
    tie('object'),
  ),
  object: fc.record(
    {
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('schema')),
      required: fc.subarray(['a', 'b']),
      additionalProperties: fc.constantFrom(false, true, text),
      $defs: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
    },
    { requiredKeys: ['type', 'properties'] },
  ),
}));

test('references in circles are no trouble, and every object of the result is closed', () => {
  fc.assert(
    fc.property(schemas.object, (schema) => {
      const strict = strictSchema(schema);
      if (strict !== null) {
        expectClosed(strict);
        expect(strictSchema(strict)).toEqual(strict);
      }
    }),
  );
});

function expectClosed(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && value.type === 'object' && 'properties' in value) {
    expect(value).toMatchObject({ additionalProperties: false });
    expect('required' in value && value.required).toEqual(Object.keys(value.properties ?? {}));
  }
  for (const part of Object.values(value)) expectClosed(part);
}
