import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { responsesSurface } from '../responses/wire.ts';
import { type CustomTool, noSettings, type Tool, type Turn } from '../turn.ts';
import {
  customAsFunction,
  customToolLosses,
  legalName,
  type NameRule,
  parseList,
  parseObject,
  ToolNaming,
  unwrapInput,
  wrapInput,
} from './tools.ts';

const rule: NameRule = { legal: /^[a-zA-Z0-9_-]$/, legalFirst: /^[a-zA-Z0-9_-]$/, lengthMax: 64 };
const native: NameRule = { legal: /^[\w.:-]$/, legalFirst: /^[a-zA-Z_]$/, lengthMax: 64 };

function tool(name: string, namespace: string | null = null, kind: Tool['kind'] = 'function'): Tool {
  const common = { name, namespace, description: '' };
  return kind === 'custom'
    ? { kind, ...common, format: null }
    : { kind, ...common, parameters: null, strict: null, cacheTtl: null };
}

function turnWith(tools: readonly Tool[]): Turn {
  const rest = { system: [], messages: [], toolChoice: null, spelling: {}, extensions: [] };
  return { surface: responsesSurface, model: 'm', stream: false, tools, settings: noSettings, ...rest };
}

describe('tool names', () => {
  test('that are legal are sent as they are, and need no way back', () => {
    const naming = new ToolNaming(turnWith([tool('read_file')]), rule);
    expect(naming.sent({ name: 'read_file', namespace: null })).toBe('read_file');
    expect(naming.names.size).toBe(0);
  });

  test('of one namespace and another are told apart, and found again', () => {
    const naming = new ToolNaming(turnWith([tool('open', 'a'), tool('open', 'b'), tool('open')]), rule);
    const sent = ['a', 'b', null].map((namespace) => naming.sent({ name: 'open', namespace }));
    expect(sent).toEqual(['a__open', 'b__open', 'open']);
    expect(naming.names.get('b__open')).toEqual({ name: 'open', namespace: 'b', form: 'function' });
  });

  test('of custom tools are found again, because their calls are unwrapped', () => {
    const naming = new ToolNaming(turnWith([tool('apply_patch', null, 'custom')]), rule);
    expect(naming.names.get('apply_patch')?.form).toBe('custom');
  });

  test('of any kind are legal, all different, the same every time, and lead back', () => {
    const anyTool = fc
      .tuple(fc.string({ unit: 'binary', maxLength: 90 }), fc.option(fc.string({ maxLength: 5 })))
      .map(([name, namespace]) => tool(name, namespace));
    fc.assert(
      fc.property(
        fc.uniqueArray(anyTool, { selector: ({ name, namespace }) => `${namespace ?? ''}\n${name}` }),
        fc.constantFrom(rule, native),
        (tools, wanted) => {
          const naming = new ToolNaming(turnWith(tools), wanted);
          const again = new ToolNaming(turnWith(tools), wanted);
          const sent = tools.map((each) => naming.sent(each));
          expect(new Set(sent).size).toBe(tools.length);
          expect(tools.map((each) => again.sent(each))).toEqual(sent);
          for (const [index, name] of sent.entries()) {
            expect(legalName(name, wanted)).toBe(name);
            expect(naming.names.get(name)?.name ?? name).toBe(tools[index]?.name);
          }
        },
      ),
    );
  });
});

test('no more is kept of a long name than there is room for, however wide its characters', () => {
  const long = legalName('\u{1f600}'.repeat(1_000_000), rule);
  expect(long).toMatch(/^_{51}_[a-z0-9]{12}$/);
  expect(legalName('\u{1f600}'.repeat(999_999), rule)).not.toBe(long);
});

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
  expect(customToolLosses([plain])).toEqual([]);
});

test.each([
  { type: 'grammar', ...grammar },
  { type: 'grammar', grammar },
])('a grammar becomes words: %j', (format) => {
  const tool = { ...plain, format };
  expect(customAsFunction(tool).description).toBe(
    'Changes files.\n\nThe input must follow this lark grammar:\nstart: "a"',
  );
  expect(customToolLosses([plain, tool])).toEqual([
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

const nested = (levels: number) => `{"1":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

test('what is nested no deeper than a request may be is parsed, and nothing deeper', () => {
  expect(JSON.stringify(parseObject(nested(256)))).toBe(nested(256));
  expect(parseObject(nested(257))).toBeNull();
  expect(parseObject(nested(300_000))).toBeNull();
  expect(parseList('['.repeat(300_000) + ']'.repeat(300_000))).toBeNull();
});

test('brackets in strings nest nothing', () => {
  const text = `\\"${'[{'.repeat(1_000)}`;
  const value = { [text]: text, list: [[text]] };
  expect(parseObject(` ${JSON.stringify(value)}`)).toEqual(value);
});

test('no text is no members, and everything else is as it is parsed', () => {
  expect(parseObject(' ')).toEqual({});
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const parsed: unknown = JSON.parse(text);
      const isList = Array.isArray(parsed);
      expect(parseList(text)).toEqual(isList ? parsed : null);
      const isObject = typeof parsed === 'object' && parsed !== null && !isList;
      expect(parseObject(text)).toEqual(isObject ? parsed : null);
    }),
  );
});
