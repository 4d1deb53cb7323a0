import { describe, expect, test } from 'vitest';
import { defaultDialect } from '../request.ts';
import { customAsFunction } from '../translate/tools.ts';
import type { CustomTool, FunctionTool, TurnSettings } from '../turn.ts';
import {
  assistant,
  call,
  ownTarget,
  refusedField,
  targetOf,
  text,
  turnOf,
  user,
  written,
} from './codec.fixture.ts';
import { schemaName } from './write-settings.ts';

describe('settings', () => {
  const settingsOf = (settings: Partial<TurnSettings>, target = targetOf()) => {
    const { body, losses } = written(turnOf({ settings }), target);
    const { model: _, messages: _messages, ...rest } = body;
    return { rest, losses: losses.map(({ field, action }) => `${field} ${action}`) };
  };
  const unsaid = { mode: 'unknown', efforts: null, defaultEffort: null, budget: null } as const;
  const oneAnswerModel = { reasoning: unsaid, parameters: { n: false }, inputModalities: null };
  const noThought = { effort: 'none', budgetTokens: null, shown: null } as const;

  test.each<[Partial<TurnSettings>, object, string[]]>([
    [{ maxOutputTokens: 9 }, { max_tokens: 9 }, []],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, { stop: ['a', 'b', 'c', 'd'] }, ['stop changed']],
    [{ stop: [] }, {}, []],
    [
      { topK: 3, verbosity: 'low', promptCacheKey: 'k', serviceTier: 'flex', metadata: {} },
      {},
      [
        'topK dropped',
        'verbosity dropped',
        'serviceTier dropped',
        'promptCacheKey dropped',
        'metadata dropped',
      ],
    ],
    [{ logprobs: 2, temperature: 0.3, seed: 1 }, { temperature: 0.3, seed: 1 }, ['logprobs dropped']],
    [
      { reasoning: { effort: null, budgetTokens: 8_000, shown: true } },
      { reasoning_effort: 'medium' },
      ['reasoning changed'],
    ],
    [{ reasoning: { effort: null, budgetTokens: null, shown: true } }, {}, []],
    [{ outputFormat: { kind: 'text' } }, { response_format: { type: 'text' } }, []],
    [{ user: 'u' }, {}, ['user dropped']],
    [{ choices: 1 }, {}, []],
    [{ choices: 8 }, { n: 8 }, []],
  ])('%j', (settings, rest, losses) => {
    expect(settingsOf(settings)).toEqual({ rest, losses });
  });

  test.each<[Partial<TurnSettings>, object, string[]]>([
    [
      { maxOutputTokens: 9, verbosity: 'low', serviceTier: 'flex' },
      { max_completion_tokens: 9, verbosity: 'low', service_tier: 'flex' },
      [],
    ],
    [{ temperature: 1, topP: 1 }, {}, []],
    [
      { temperature: 0, topP: 0.5, presencePenalty: 1 },
      {},
      ['temperature dropped', 'topP dropped', 'presencePenalty dropped'],
    ],
    [
      { temperature: 0, stop: ['x'], reasoning: noThought },
      { temperature: 0, stop: ['x'], reasoning_effort: 'none' },
      [],
    ],
  ])('at the inventors’ models that think: %j', (settings, rest, losses) => {
    expect(settingsOf(settings, ownTarget)).toEqual({ rest, losses });
  });

  test('a model that does not think is not asked to', () => {
    const target = targetOf({ reasoning: false });
    expect(settingsOf({ reasoning: noThought }, target)).toEqual({ rest: {}, losses: [] });
    const effort = { effort: 'high', budgetTokens: null, shown: null } as const;
    expect(settingsOf({ reasoning: effort }, target)).toEqual({ rest: {}, losses: ['reasoning dropped'] });
  });

  test.each([
    ['max_tokens', { max_tokens: 9 }],
    ['max_completion_tokens', { max_completion_tokens: 9 }],
  ] as const)('the limit is %s where no other word is known', (maxTokensField, rest) => {
    for (const chatVocabulary of ['own', 'common'] as const) {
      const target = targetOf({ dialect: { ...defaultDialect, maxTokensField, chatVocabulary } });
      expect(settingsOf({ maxOutputTokens: 9 }, target).rest).toEqual(rest);
    }
  });

  test.each<[Partial<TurnSettings>, ReturnType<typeof targetOf>, string]>([
    [{ choices: 9 }, targetOf(), 'choices'],
    [{ choices: 2 }, targetOf({ model: oneAnswerModel }), 'choices'],
    [{ stop: ['x'] }, ownTarget, 'stop'],
  ])('%j is refused', (settings, target, field) => {
    expect(refusedField(turnOf({ settings }), target)).toBe(field);
  });

  test('what is refused has the caller’s name', () => {
    const turn = turnOf({ settings: { choices: 9 }, spelling: { choices: 'candidateCount' } });
    expect(refusedField(turn)).toBe('candidateCount');
  });

  test('a user that is too long to be sent is shortened, always to the same', () => {
    const user = JSON.stringify({ device: 'd'.repeat(90) });
    const first = settingsOf({ user }, ownTarget);
    expect(first.rest['user']).toMatch(/^[\w-]{1,64}$/);
    expect(first).toEqual(settingsOf({ user }, ownTarget));
    expect(first.losses).toEqual(['user changed']);
  });

  test('JSON is asked for in words, too, where nobody has', () => {
    const outputFormat = { kind: 'json' } as const;
    expect(written(turnOf({ settings: { outputFormat } })).body).toMatchObject({
      messages: [{ role: 'system', content: 'Answer in JSON.' }, {}],
      response_format: { type: 'json_object' },
    });
    const asked = turnOf({ settings: { outputFormat }, messages: [user(text('As Json, please.'))] });
    expect(written(asked).body['messages']).toEqual([{ role: 'user', content: 'As Json, please.' }]);
  });

  test('a schema of another protocol is enforced where it can be', () => {
    const json_schema = (schema: object) => {
      const outputFormat = {
        kind: 'json-schema',
        name: 'an answer',
        description: null,
        schema: { ...schema },
        strict: null,
      } as const;
      return settingsOf({ outputFormat });
    };
    expect(schemaName('an answer')).toMatch(/^[\w-]{1,64}$/);
    const closed = { type: 'object', properties: {}, required: [], additionalProperties: false };
    expect(json_schema({ type: 'object', additionalProperties: false })).toMatchObject({
      rest: {
        response_format: {
          json_schema: { name: schemaName('an answer'), schema: closed, strict: true },
        },
      },
      losses: [],
    });
    const open = { type: 'object', properties: { a: { type: 'string' } } };
    expect(json_schema(open)).toMatchObject({
      rest: { response_format: { json_schema: { schema: open, strict: false } } },
      losses: ['outputFormat changed'],
    });
  });
});

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
