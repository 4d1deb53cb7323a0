import { expect, test } from 'vitest';
import { tellArguments } from './told-arguments.ts';

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
