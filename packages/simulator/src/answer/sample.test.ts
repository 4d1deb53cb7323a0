import { expect, test } from 'vitest';
import { sampleOf } from './sample.ts';

test.each([
  [{ const: 3 }, 3],
  [{ enum: ['b', 'a'] }, 'b'],
  [{ type: 'string', default: 'x' }, 'x'],
  [{ type: ['null', 'string'] }, null],
  [{ type: 'string', minLength: 16 }, 'sample value....'],
  [{ type: 'string', maxLength: 3 }, 'sam'],
  [{ type: 'string', format: 'date' }, '2026-01-31'],
  [{ type: 'integer', exclusiveMinimum: 4 }, 5],
  [{ type: 'integer', maximum: 0 }, 0],
  [{ type: 'number', minimum: 1.5 }, 1.5],
  [{ type: 'array', items: { type: 'boolean' }, minItems: 2 }, [true, true]],
  [{ properties: { city: {} } }, { city: 'sample city' }],
  [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, null],
  [
    { allOf: [{ properties: { a: { const: 1 } } }], properties: { b: { const: 2 } } },
    { a: 1, b: 2 },
  ],
  [{ $ref: '#/$defs/flag', $defs: { flag: { type: 'boolean' } } }, true],
  [{ type: 'object' }, {}],
  [true, 'sample value'],
])('%j is answered by %j', (schema, sample) => {
  expect(sampleOf(schema)).toEqual(sample);
});

test('a schema that contains itself comes to an end', () => {
  const node = { type: 'object', properties: { next: { $ref: '#' } } };
  expect(JSON.stringify(sampleOf(node))).toMatch(/^(\{"next":)+null\}+$/);
});
