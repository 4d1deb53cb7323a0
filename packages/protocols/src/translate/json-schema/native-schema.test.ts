import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordOf } from '../../wire-values.ts';
import { fromNativeSchema, toNativeSchema } from './native-schema.ts';

const string = { type: 'STRING' };

describe('JSON Schema in the native dialect', () => {
  test.each<[string, object, object]>([
    ['types are in capitals', { type: 'integer', minimum: 1 }, { type: 'INTEGER', minimum: 1 }],
    ['a constant is an enum', { const: 'a' }, { type: 'STRING', enum: ['a'] }],
    ['an enum holds text', { type: 'integer', enum: [1, 2] }, { type: 'STRING', enum: ['1', '2'] }],
    ['null is a property of the type', { type: ['string', 'null'] }, { ...string, nullable: true }],
    [
      'the alternative to null is the schema itself',
      { anyOf: [{ type: 'number' }, { type: 'null' }], description: 'x' },
      { type: 'NUMBER', nullable: true, description: 'x' },
    ],
    [
      'alternatives are of one kind',
      { oneOf: [{ type: 'string' }, { type: 'boolean' }] },
      { anyOf: [string, { type: 'BOOLEAN' }] },
    ],
    [
      'several types are alternatives',
      { type: ['string', 'integer'] },
      { anyOf: [string, { type: 'INTEGER' }] },
    ],
    [
      'all of several are one',
      { allOf: [{ properties: { a: {} } }, { properties: { b: {} }, required: ['b', 'c'] }] },
      { type: 'OBJECT', properties: { a: string, b: string }, required: ['b'], propertyOrdering: ['a', 'b'] },
    ],
    ['excluded limits are limits', { type: 'number', exclusiveMinimum: 0 }, { type: 'NUMBER', minimum: 0 }],
    ['lists have elements', { type: 'array' }, { type: 'ARRAY', items: string }],
    ['an unknown format is left out', { type: 'string', format: 'uri' }, string],
    ['a known one is kept', { type: 'string', format: 'date-time' }, { ...string, format: 'date-time' }],
    [
      'what is not known is left out',
      { $schema: 'x', type: 'object', additionalProperties: false, propertyNames: {}, uniqueItems: true },
      { type: 'OBJECT' },
    ],
    [
      'references are followed',
      {
        type: 'object',
        properties: { definitions: { $ref: '#/definitions/a~1b' } },
        definitions: { 'a/b': { type: 'boolean' } },
      },
      { type: 'OBJECT', properties: { definitions: { type: 'BOOLEAN' } }, propertyOrdering: ['definitions'] },
    ],
    [
      'a reference to itself is any object',
      { type: 'object', properties: { next: { $ref: '#' } } },
      {
        type: 'OBJECT',
        properties: {
          next: { type: 'OBJECT', properties: { next: { type: 'OBJECT' } }, propertyOrdering: ['next'] },
        },
        propertyOrdering: ['next'],
      },
    ],
    ['a reference to nowhere is any object', { $ref: '#/$defs/none' }, { type: 'OBJECT' }],
  ])('%s', (_, schema, native) => {
    expect(toNativeSchema(recordOf(schema))).toEqual(native);
  });

  test('has nothing but what the dialect knows, whatever the references are, and is not too large', () => {
    const node = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('#/$defs/a', '#/$defs/b', '#').map(($ref) => ({ $ref })),
        fc.record({ type: fc.constantFrom('string', 'object', ['null', 'array']), minLength: fc.nat() }),
        fc.record({ properties: fc.dictionary(fc.string(), tie('node'), { maxKeys: 3 }) }),
        fc.record({ items: tie('node'), required: fc.array(fc.string()) }),
        fc.record({ anyOf: fc.array(tie('node'), { maxLength: 3 }), allOf: fc.array(tie('node')) }),
      ),
    })).node;
    fc.assert(
      fc.property(node, node, node, (root, a, b) => {
        const native = JSON.stringify(toNativeSchema({ ...recordOf(root), $defs: { a, b } }));
        expect(native).not.toMatch(/"(?:\$ref|\$defs|allOf|oneOf)":/);
        expect(native.length).toBeLessThan(1_000_000);
      }),
    );
  });
});

test('thousands of parts are merged in no time by the square', () => {
  const allOf = Array.from({ length: 20_000 }, (_, n) => ({ properties: { [`p${n}`]: {} } }));
  const startedAt = performance.now();
  expect(toNativeSchema({ allOf })).toHaveProperty('properties.p0');
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

describe('the native dialect in JSON Schema', () => {
  test('says the same', () => {
    expect(
      fromNativeSchema({
        type: 'OBJECT',
        properties: {
          any_name: { type: 'STRING', nullable: true, enum: ['a'], example: 'a' },
          list: { type: 'ARRAY', items: { type: 'INTEGER' }, min_items: '1', maxItems: '4' },
          either: { nullable: true, anyOf: [{ type: 'NUMBER' }, { type: 'BOOLEAN' }] },
        },
        required: ['list'],
        propertyOrdering: ['list', 'any_name'],
      }),
    ).toEqual({
      type: 'object',
      properties: {
        any_name: { type: ['string', 'null'], enum: ['a', null] },
        list: { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 4 },
        either: { anyOf: [{ type: 'number' }, { type: 'boolean' }, { type: 'null' }] },
      },
      required: ['list'],
    });
  });
});
