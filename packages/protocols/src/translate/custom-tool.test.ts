import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CustomTool } from '../turn.ts';
import { customAsFunction, customToolLosses, unwrapInput, wrapInput } from './custom-tool.ts';

const plain: CustomTool = {
  kind: 'custom',
  name: 'patch',
  namespace: 'code',
  description: 'Changes files.',
  format: null,
};
const grammar = { syntax: 'lark', definition: 'start: "a"' };

test('a tool of free text becomes a function of one text', () => {
  const { parameters, ...rest } = customAsFunction(plain);
  expect(rest).toMatchObject({
    kind: 'function',
    name: 'patch',
    namespace: 'code',
    description: 'Changes files.',
  });
  expect(parameters).toMatchObject({ properties: { input: { type: 'string' } }, required: ['input'] });
  expect(customToolLosses([plain], 'tools[].format')).toEqual([]);
});

test.each([
  { type: 'grammar', ...grammar },
  { type: 'grammar', grammar },
])('a grammar becomes words: %j', (format) => {
  const tool = { ...plain, format };
  expect(customAsFunction(tool).description).toBe(
    'Changes files.\n\nThe input must follow this lark grammar:\nstart: "a"',
  );
  expect(customToolLosses([plain, tool], 'tools[].format')).toEqual([
    { field: 'tools[].format', action: 'dropped', note: 'told to the model in words' },
  ]);
});

test('input comes back from its wrapping, whatever it is', () => {
  fc.assert(
    fc.property(fc.string(), (input) => {
      expect(unwrapInput(wrapInput(input))).toBe(input);
    }),
  );
});

test.each(['', '{"input":', '{"text":"a"}', '["a"]', '*** patch', '{"input":1}'])(
  '%j is the input itself',
  (text) => {
    expect(unwrapInput(text)).toBe(text);
  },
);
