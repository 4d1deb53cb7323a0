import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WireRecord } from '../../wire-values.ts';
import { objectSchema, tellArguments } from './object-schema.ts';
import { structuredSchema } from './strict-schema.ts';

const a = { a: { type: 'string' } };
const b = { b: { type: 'number' } };

describe('the schema of arguments', () => {
  test.each<[WireRecord | null, object]>([
    [null, { type: 'object', properties: {} }],
    [
      { $schema: 'http://json-schema.org/draft-07/schema#', properties: a },
      { type: 'object', properties: a },
    ],
    [
      { type: ['object', 'null'], properties: a },
      { type: 'object', properties: a },
    ],
    [
      {
        anyOf: [
          { properties: a, required: ['a'] },
          { properties: { ...a, ...b }, required: ['a', 'b'] },
        ],
      },
      { type: 'object', properties: { ...a, ...b }, required: ['a'] },
    ],
    [
      {
        allOf: [
          { properties: a, required: ['a'] },
          { properties: b, required: ['b'] },
        ],
      },
      { type: 'object', properties: { ...a, ...b }, required: ['a', 'b'] },
    ],
    [
      { $ref: '#/$defs/x~1y', $defs: { 'x/y': { properties: a } } },
      { type: 'object', properties: a, $defs: { 'x/y': { properties: a } } },
    ],
    [{ $ref: '#' }, { type: 'object', properties: {} }],
    [{ $ref: '#/$defs/__proto__' }, { type: 'object', properties: {} }],
    [
      { properties: { t: { items: [{ type: 'string' }] } } },
      { type: 'object', properties: { t: { prefixItems: [{ type: 'string' }] } } },
    ],
    [
      { properties: { n: { minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } } },
      { type: 'object', properties: { n: { exclusiveMinimum: 1, maximum: 9 } } },
    ],
    [
      { properties: { enum: { enum: [1] }, items: { type: 'string' } } },
      { type: 'object', properties: { enum: { enum: [1] }, items: { type: 'string' } } },
    ],
  ])('%j', (given, expected) => {
    expect(objectSchema(given)).toEqual(expected);
  });
});

describe('a schema that is enforced', () => {
  test.each<[WireRecord, object, boolean]>([
    [
      { type: 'object', properties: a },
      { type: 'object', properties: a, additionalProperties: false },
      false,
    ],
    [
      { type: 'string', description: 'A name.', minLength: 1, pattern: '^a' },
      { type: 'string', description: 'A name.\n{minLength: 1, pattern: "^a"}' },
      true,
    ],
    [{ type: 'string', format: 'date' }, { type: 'string', format: 'date' }, false],
    [{ type: 'string', format: 'phone' }, { type: 'string', description: '{format: "phone"}' }, true],
    [{ type: 'array', minItems: 1 }, { type: 'array', minItems: 1 }, false],
    [{ oneOf: [{ type: 'string' }] }, { anyOf: [{ type: 'string' }] }, false],
    [
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'object', additionalProperties: false },
      true,
    ],
    [
      { type: 'object', properties: { pattern: { type: 'string' } } },
      { type: 'object', properties: { pattern: { type: 'string' } }, additionalProperties: false },
      false,
    ],
    [{ enum: [{ type: 'object' }] }, { enum: [{ type: 'object' }] }, false],
  ])('%j', (given, schema, isChanged) => {
    expect(structuredSchema(given)).toEqual({ schema, isChanged });
  });
});

test('references that double at every step are not all followed', () => {
  const doubled = (next: number) => ({ anyOf: [{ $ref: `#/$defs/${next}` }, { $ref: `#/$defs/${next}` }] });
  const $defs = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [n, doubled(n + 1)]));
  expect(objectSchema({ $ref: '#/$defs/0', $defs })).toMatchObject({ type: 'object' });
});

const keyword = fc.constantFrom(
  'anyOf',
  'oneOf',
  'allOf',
  'properties',
  '$defs',
  'items',
  '$ref',
  'not',
  'required',
);
const anySchema = fc.letrec<{ schema: WireRecord; value: unknown }>((tie) => ({
  schema: fc.dictionary(keyword, tie('value'), { maxKeys: 4 }),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('#', '#/$defs/a', '#/$defs', '#/properties/a', true, null),
    tie('schema'),
    fc.array(tie('schema'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
  ),
})).schema;

test('any schema comes to an end, as an object, and so does what was made of it', () => {
  fc.assert(
    fc.property(anySchema, (given) => {
      const schema = objectSchema(given);
      expect(schema['type']).toBe('object');
      for (const name of ['anyOf', 'oneOf', 'allOf', '$ref']) expect(schema).not.toHaveProperty(name);
      expect(objectSchema(schema)).toEqual(schema);
      const enforced = structuredSchema(given).schema;
      expect(structuredSchema(enforced)).toEqual({ schema: enforced, isChanged: false });
    }),
    { numRuns: 100 },
  );
});

test('a choice of thousands is merged in no time by the square', () => {
  const parts = Array.from({ length: 20_000 }, (_, n) => ({
    properties: { [`p${n}`]: {} },
    required: [`p${n}`],
  }));
  const required = parts.map((_, n) => `p${n}`);
  const startedAt = performance.now();
  expect(objectSchema({ allOf: parts })['required']).toEqual(required);
  expect(objectSchema({ anyOf: parts })['required']).toEqual([]);
  const same = { properties: {}, required };
  expect(objectSchema({ oneOf: [same, same] })['required']).toEqual(required);
  // By the square it is minutes.
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

const text = { type: 'string' };

test('arguments with names that are taken stay where they are', () => {
  const schema = { type: 'object', properties: { 'a.b-c_1': text }, required: ['a.b-c_1'] };
  expect(tellArguments(schema)).toEqual({ schema, words: '' });
});

test('others are told in words, required no more, and still free to be given', () => {
  const properties = { $filter: text, ok: text, ['x'.repeat(65)]: text };
  const required = ['$filter', 'ok'];
  const { schema, words } = tellArguments({
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  });
  expect(schema).toEqual({ type: 'object', properties: { ok: text }, required: ['ok'] });
  expect(words).toContain('"$filter":{"type":"string"}');
});
