import { describe, expect, test } from 'vitest';
import { customAsFunction } from '../../translate/custom-tool.ts';
import type { CustomTool, FunctionTool } from '../../turn.ts';
import { assistant, call, ownTarget, turnOf, written } from './codec.fixture.ts';

const look: FunctionTool = {
  kind: 'function',
  name: 'look',
  namespace: null,
  description: '',
  parameters: { type: 'object', properties: { at: { type: 'string' } } },
  strict: null,
  cacheTtl: null,
};
const run: CustomTool = { kind: 'custom', name: 'run', namespace: null, description: 'Runs.', format: null };

describe('tools', () => {
  test.each([null, { type: 'object' }])('a function of %j, as servers want it', (parameters) => {
    const { body } = written(turnOf({ tools: [{ ...look, parameters }], toolChoice: { kind: 'auto' } }));
    expect(body).toMatchObject({
      tools: [
        { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
      ],
      tool_choice: 'auto',
    });
    expect(JSON.stringify(body)).not.toMatch(/strict|description|parallel/);
  });

  test('how tools are used is not said where there are none', () => {
    const turn = turnOf({ toolChoice: { kind: 'none' }, settings: { parallelToolCalls: false } });
    expect(Object.keys(written(turn).body)).toEqual(['model', 'messages']);
  });

  test('a strict one is enforced where its schema can be', () => {
    const closed = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] };
    const strict = turnOf({ tools: [{ ...look, strict: true, parameters: closed }] });
    expect(written(strict)).toMatchObject({
      body: {
        tools: [{ function: { strict: true, parameters: { ...closed, additionalProperties: false } } }],
      },
      losses: [],
    });
    const open = turnOf({ tools: [{ ...look, strict: true }] });
    expect(written(open)).toMatchObject({
      body: { tools: [{ function: { parameters: look.parameters } }] },
      losses: [{ field: 'tools[].strict', action: 'changed' }],
    });
  });

  test('names that are not legal are made so, and known again', () => {
    const tools = [{ ...look, name: 'a.b', namespace: 'mcp' }];
    const messages = [assistant(call('c', { name: 'a.b', namespace: 'mcp' }))];
    const { body, names } = written(turnOf({ tools, messages, toolChoice: { kind: 'named', name: 'a.b' } }));
    const [[sent, tool] = []] = [...names];
    expect(sent).toMatch(/^[\w-]{1,64}$/);
    expect(tool).toEqual({ name: 'a.b', namespace: 'mcp', form: 'function' });
    expect(body).toMatchObject({
      tools: [{ function: { name: sent } }],
      tool_choice: { type: 'function', function: { name: sent } },
      messages: [{ tool_calls: [{ function: { name: sent } }] }, {}],
    });
  });

  test('a tool of free text is a function where only what servers share is known', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' };
    const messages = [assistant(call('c', { name: 'run', form: 'custom', input: 'ls' }))];
    const turn = turnOf({
      tools: [{ ...run, format }],
      messages,
      toolChoice: { kind: 'named', name: 'run' },
    });
    const common = written(turn);
    expect(common.body).toMatchObject({
      tools: [
        {
          type: 'function',
          function: { name: 'run', description: customAsFunction({ ...run, format }).description },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'run' } },
      messages: [{ tool_calls: [{ type: 'function', function: { arguments: '{"input":"ls"}' } }] }, {}],
    });
    expect(common.losses).toMatchObject([{ field: 'tools[].format' }]);
    expect(common.names.get('run')).toMatchObject({ form: 'custom' });
    const own = written(turn, ownTarget);
    expect(own.body).toMatchObject({
      tools: [
        { type: 'custom', custom: { name: 'run', format: { type: 'grammar', grammar: { syntax: 'lark' } } } },
      ],
      tool_choice: { type: 'custom', custom: { name: 'run' } },
      messages: [{ tool_calls: [{ type: 'custom', custom: { name: 'run', input: 'ls' } }] }, {}],
    });
    expect(own.losses).toEqual([]);
  });

  test('a choice among some tools leaves the others out where it cannot be said', () => {
    const toolChoice = { kind: 'allowed', mode: 'required', names: ['look'] } as const;
    const turn = turnOf({ tools: [look, run], toolChoice });
    expect(written(turn).body).toMatchObject({
      tools: [{ function: { name: 'look' } }],
      tool_choice: 'required',
    });
    expect(written(turn, ownTarget).body).toMatchObject({
      tools: [{}, {}],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required' } },
    });
  });
});
