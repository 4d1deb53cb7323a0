import { describe, expect, test } from 'vitest';
import { defaultDialect } from '../request.ts';
import { type Block, type FunctionTool, noSettings, type Turn, type TurnSettings } from '../turn.ts';
import { emptyTurn, targetOf, turnOf, write } from './codec.fixture.ts';
import { messagesCodec } from './index.ts';

const text = (words: string, cacheTtl: '5m' | '1h' | null = null): Block => ({
  kind: 'text',
  text: words,
  citations: [],
  cacheTtl,
});
const user = (...content: readonly Block[]) => ({ role: 'user' as const, content, name: null });
const assistant = (...content: readonly Block[]) => ({ role: 'assistant' as const, content, name: null });
const clock: FunctionTool = {
  kind: 'function',
  name: 'clock',
  namespace: null,
  description: '',
  parameters: null,
  strict: null,
  cacheTtl: null,
};
const hello = [user(text('hi'))];
const wireClock = { name: 'clock', input_schema: { type: 'object', properties: {} } };
const budgetModels = {
  dialect: { ...defaultDialect, budgetThinkingModels: ['old-'] },
  upstreamModel: 'old-1',
};

const writeSettings = (settings: Partial<TurnSettings>, target = {}, turn: Partial<Turn> = {}) => {
  const { body, losses } = write(
    { messages: hello, settings: { ...noSettings, ...settings }, ...turn },
    target,
  );
  const { model: _, messages: __, ...members } = body;
  return { members, losses: losses.map(({ action, field, note }) => `${action} ${field}: ${note}`) };
};

const refusal = (turn: Partial<Turn>) => {
  const written = messagesCodec.writeTurn({ ...emptyTurn, ...turn }, targetOf());
  return written.ok ? null : written.error.param;
};

describe('the limit', () => {
  test.each([
    [null, 64_000, 64_000, []],
    [null, null, 8_192, []],
    [500, 64_000, 500, []],
    [500, null, 500, []],
  ])('%s of %s at most is %s', (asked, most, max_tokens, losses) => {
    const written = writeSettings({ maxOutputTokens: asked }, { maxOutputTokens: most });
    expect(written).toEqual({ members: { max_tokens }, losses });
  });
});

describe('thinking', () => {
  const reasoning = (
    effort: TurnSettings['reasoning'] extends infer R ? (R extends { effort: infer E } ? E : never) : never,
    budgetTokens: number | null = null,
    shown: boolean | null = null,
  ) => ({ effort, budgetTokens, shown });

  test.each([
    ['none', { thinking: { type: 'disabled' } }],
    ['minimal', { thinking: { type: 'enabled', budget_tokens: 1024 } }],
    ['medium', { thinking: { type: 'enabled', budget_tokens: 8192 } }],
    ['max', { thinking: { type: 'enabled', budget_tokens: 32_768 } }],
  ] as const)('of %s by budget', (effort, members) => {
    const written = writeSettings({ reasoning: reasoning(effort) }, budgetModels);
    expect(written).toEqual({ members: { max_tokens: 64_000, ...members }, losses: [] });
  });

  test.each([
    ['none', { thinking: { type: 'disabled' } }, []],
    [
      'minimal',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      ['changed reasoning: effort low'],
    ],
    ['xhigh', { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } }, []],
    [null, { thinking: { type: 'adaptive' } }, []],
  ] as const)('of %s by word', (effort, members, losses) => {
    const written = writeSettings({ reasoning: reasoning(effort) });
    expect(written).toEqual({ members: { max_tokens: 64_000, ...members }, losses });
  });

  test('of a budget becomes a word, and is shown as asked', () => {
    expect(writeSettings({ reasoning: reasoning(null, 5_000, true) })).toMatchObject({
      members: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'medium' } },
      losses: ['changed reasoning: effort medium'],
    });
  });

  test.each([
    [2_000, { type: 'enabled', budget_tokens: 1_999 }, 'changed reasoning: a budget of 1999 tokens'],
    [1_024, { type: 'disabled' }, 'changed reasoning: off, since 1024 tokens leave no room for it'],
  ])('fits into %s tokens', (maxOutputTokens, thinking, loss) => {
    const written = writeSettings({ reasoning: reasoning(null, 5_000), maxOutputTokens }, budgetModels);
    expect(written).toMatchObject({ members: { thinking }, losses: [loss] });
  });

  test('gives way to a tool that is forced, and is left out where the model has none', () => {
    const forced = { tools: [clock], toolChoice: { kind: 'required' as const } };
    expect(writeSettings({ reasoning: reasoning('high') }, {}, forced)).toMatchObject({
      members: { thinking: { type: 'disabled' }, tool_choice: { type: 'any' } },
      losses: ['changed reasoning: off, since a tool is forced'],
    });
    expect(writeSettings({ reasoning: reasoning('high') }, { reasoning: false })).toEqual({
      members: { max_tokens: 64_000 },
      losses: ['dropped reasoning: the model does not reason'],
    });
  });

  test('is off in a use of tools whose thoughts are not at hand, for models that insist on them', () => {
    const call: Block = {
      kind: 'tool-call',
      id: 'c',
      name: 'clock',
      namespace: null,
      form: 'function',
      input: '{}',
      sealed: null,
    };
    const result: Block = { kind: 'tool-result', callId: 'c', isError: false, content: [], cacheTtl: null };
    const thought = (origin: string): Block => ({
      kind: 'reasoning',
      text: 'hm',
      sealed: { origin, data: 's', form: 'signature' },
    });
    const loop = (origin: string) => ({
      tools: [clock],
      messages: [user(text('hi')), assistant(thought(origin), call), user(result)],
    });
    const asked = { reasoning: reasoning('high') };
    expect(writeSettings(asked, budgetModels, loop('there')).members['thinking']).toEqual({
      type: 'disabled',
    });
    expect(writeSettings(asked, budgetModels, loop('here')).members['thinking']).toMatchObject({
      type: 'enabled',
    });
    expect(writeSettings(asked, {}, loop('there')).members['thinking']).toEqual({ type: 'adaptive' });
  });
});

describe('sampling', () => {
  const thinking = { effort: 'low' as const, budgetTokens: null, shown: null };
  test.each<[string, Partial<TurnSettings>, object, object, readonly string[]]>([
    [
      'is clamped',
      { temperature: 1.5 },
      budgetModels,
      { temperature: 1 },
      ['changed temperature: clamped to 1'],
    ],
    [
      'is left out for later models',
      { temperature: 0, topK: 3 },
      {},
      {},
      ['dropped temperature: the model takes none', 'dropped topK: the model takes none'],
    ],
    ['that is as ever is no loss', { temperature: 1, topP: 1 }, {}, {}, []],
    [
      'is left out beside thoughts',
      { temperature: 0.2, topP: 0.5, reasoning: thinking },
      budgetModels,
      { thinking: { type: 'enabled', budget_tokens: 2048 } },
      ['dropped temperature: not taken beside reasoning', 'dropped topP: not taken beside reasoning'],
    ],
    [
      'is told once',
      { temperature: 0.2, topP: 0.5, topK: 3 },
      budgetModels,
      { temperature: 0.2, top_k: 3 },
      ['dropped topP: only one of it and temperature is taken'],
    ],
  ])('%s', (_, settings, target, members, losses) => {
    expect(writeSettings(settings, target)).toEqual({ members: { max_tokens: 64_000, ...members }, losses });
  });
});

describe('other settings', () => {
  test.each<[Partial<TurnSettings>, object, readonly string[]]>([
    [{ stop: ['\n', 'END'] }, { stop_sequences: ['END'] }, ['changed stop: without white space alone']],
    [{ user: 'u' }, { metadata: { user_id: 'u' } }, []],
    [
      { serviceTier: 'priority' },
      { service_tier: 'auto' },
      ['changed serviceTier: where the account has it'],
    ],
    [{ serviceTier: 'flex' }, {}, ['dropped serviceTier: null']],
    [
      { seed: 1, verbosity: 'low', promptCacheKey: 'k' },
      {},
      ['dropped seed: null', 'dropped verbosity: null', 'dropped promptCacheKey: null'],
    ],
    [
      { outputFormat: { kind: 'json' } },
      { system: 'Answer with one JSON object and nothing else.' },
      ['changed outputFormat: as an instruction'],
    ],
    [
      {
        outputFormat: {
          kind: 'json-schema',
          name: 'n',
          description: null,
          strict: true,
          schema: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
        },
      },
      {
        output_config: {
          format: {
            type: 'json_schema',
            schema: {
              type: 'object',
              properties: { n: { type: 'integer', description: '{minimum: 1}' } },
              additionalProperties: false,
            },
          },
        },
      },
      ['changed outputFormat: some constraints as descriptions'],
    ],
  ])('%j', (settings, members, losses) => {
    expect(writeSettings(settings)).toEqual({ members: { max_tokens: 64_000, ...members }, losses });
  });

  test('more answers than one are refused', () => {
    expect(refusal({ settings: { ...noSettings, choices: 2 }, spelling: { choices: 'n' } })).toBe('n');
  });
});

describe('tools', () => {
  test.each<[Partial<Turn>, object]>([
    [{ tools: [clock] }, { tools: [wireClock] }],
    [
      { tools: [clock], settings: { ...noSettings, parallelToolCalls: false } },
      { tools: [wireClock], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    ],
    [{ settings: { ...noSettings, parallelToolCalls: false } }, {}],
    [
      { tools: [clock], toolChoice: { kind: 'named', name: 'clock' } },
      { tools: [wireClock], tool_choice: { type: 'tool', name: 'clock' } },
    ],
    [
      {
        tools: [{ ...clock, name: 'a' }, clock],
        toolChoice: { kind: 'allowed', mode: 'required', names: ['clock'] },
      },
      { tools: [wireClock], tool_choice: { type: 'any' } },
    ],
    [
      { tools: [{ ...clock, strict: true, cacheTtl: '1h' }] },
      {
        tools: [
          {
            name: 'clock',
            input_schema: { type: 'object', properties: {}, additionalProperties: false },
            strict: true,
            cache_control: { type: 'ephemeral', ttl: '1h' },
          },
        ],
      },
    ],
  ])('%j', (turn, members) => {
    const { tools, tool_choice } = write({ messages: hello, ...turn }).body;
    expect({ tools, tool_choice }).toEqual({ tools: undefined, tool_choice: undefined, ...members });
  });

  test('of free text are functions, and known again', () => {
    const patch = {
      kind: 'custom' as const,
      name: 'apply.patch',
      namespace: null,
      description: 'd',
      format: null,
    };
    const { body, names } = write({ messages: hello, tools: [patch] });
    const [tool] = body.tools ?? [];
    expect(tool).toMatchObject({
      name: expect.stringMatching(/^apply_patch_/) as unknown,
      input_schema: { required: ['input'] },
    });
    expect([...names.values()]).toEqual([{ name: 'apply.patch', namespace: null, form: 'custom' }]);
    expect([...names.keys()]).toEqual([tool?.['name']]);
  });

  test('that only the history knows are there, and not to be called', () => {
    const call: Block = {
      kind: 'tool-call',
      id: 'call|1',
      name: 'gone',
      namespace: null,
      form: 'function',
      input: 'broken {',
      sealed: { origin: 'native', data: 's', form: 'signature' },
    };
    const result: Block = {
      kind: 'tool-result',
      callId: 'call|1',
      isError: true,
      content: [],
      cacheTtl: null,
    };
    const { body, losses } = write({ messages: [user(text('a')), assistant(call), user(text('b'), result)] });
    expect(body['tool_choice']).toEqual({ type: 'none' });
    expect(body.tools).toMatchObject([{ name: 'gone' }]);
    const id = body.messages[1]?.content[0]?.['id'];
    expect(id).toMatch(/^call_1_[a-z0-9]{12}$/);
    expect(body.messages.slice(1)).toEqual([
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'gone', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: id, is_error: true },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
    expect(losses).toMatchObject([
      { action: 'dropped', field: 'messages[].tool_calls[].extra_content' },
      { action: 'changed', note: 'malformed, sent as none' },
    ]);
  });
});

describe('messages', () => {
  test('keep the thoughts that were sealed here alone, under their own names', () => {
    const thought = (origin: string, form: 'signature' | 'redacted'): Block => ({
      kind: 'reasoning',
      text: form === 'signature' ? 'hm' : '',
      sealed: { origin, data: 'd', form },
    });
    const content = [
      thought('here', 'signature'),
      thought('there', 'signature'),
      thought('here', 'redacted'),
      { kind: 'reasoning' as const, text: 'unsigned', sealed: null },
      text('x'),
    ];
    const { body, losses } = write({ messages: [user(text('a')), assistant(...content), user(text('b'))] });
    expect(body.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'd' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'text', text: 'x' },
    ]);
    expect(losses).toEqual([]);
    const native = write({
      messages: [user(text('a')), assistant(thought('native', 'signature'), text('x'))],
    });
    expect(native.losses).toMatchObject([{ field: 'messages[].reasoning_details', action: 'dropped' }]);
  });

  test('have four cache breakpoints at most, the last ones', () => {
    const marked = ['1', '2', '3', '4'].map((words) => text(words, '5m'));
    const { body } = write({ tools: [{ ...clock, cacheTtl: '5m' }], messages: [user(...marked)] });
    expect(body.tools).toEqual([wireClock]);
    expect(body.messages[0]?.content.every((block) => 'cache_control' in block)).toBe(true);
  });

  test('do not end in white space where the model is to go on', () => {
    const { body } = write({ messages: [user(text('a')), assistant(text('{ '))] });
    expect(body.messages[1]?.content).toEqual([{ type: 'text', text: '{' }]);
  });

  const media = { kind: 'media' as const, filename: null, detail: null, cacheTtl: null };
  test.each<[Block, object | string]>([
    [
      { ...media, media: 'image', mediaType: 'image/jpg', source: { kind: 'base64', data: '/9j/4AAQ' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: '/9j/4AAQ' } },
    ],
    [
      { ...media, media: 'image', mediaType: null, source: { kind: 'url', url: 'u' } },
      { type: 'image', source: { type: 'url', url: 'u' } },
    ],
    [
      {
        ...media,
        media: 'file',
        mediaType: 'application/pdf',
        filename: 'f.pdf',
        source: { kind: 'base64', data: 'JVBERi0=' },
      },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
        title: 'f.pdf',
      },
    ],
    [
      { ...media, media: 'file', mediaType: 'text/csv', source: { kind: 'base64', data: 'w6ksYg==' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'é,b' } },
    ],
    [
      { ...media, media: 'file', mediaType: 'application/msword', source: { kind: 'base64', data: 'AAAA' } },
      'messages[].content[].file',
    ],
    [
      { ...media, media: 'file', mediaType: 'text/plain', source: { kind: 'base64', data: '%' } },
      'messages[].content[].file',
    ],
    [
      { ...media, media: 'image', mediaType: 'image/tiff', source: { kind: 'base64', data: 'AAAA' } },
      'messages[].content[].image_url',
    ],
    [
      { ...media, media: 'image', mediaType: null, source: { kind: 'id', id: 'f' } },
      'messages[].content[].image_url',
    ],
    [
      { ...media, media: 'audio', mediaType: 'audio/wav', source: { kind: 'base64', data: 'AAAA' } },
      'messages[].content[].input_audio',
    ],
  ])('%j', (block, expected) => {
    const messages = [user(block)];
    if (typeof expected === 'string') expect(refusal({ messages })).toBe(expected);
    else expect(write({ messages }).body.messages[0]?.content).toEqual([expected]);
  });
});

test('a request of this protocol says the same again', () => {
  const request = {
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
          { type: 'redacted_thinking', data: 'b3BhcXVl' },
          { type: 'text', text: 'I will see.' },
          { type: 'tool_use', id: 'toolu_1', name: 'clock', input: { zone: 'UTC' } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [{ type: 'text', text: 'noon' }],
            cache_control: { type: 'ephemeral', ttl: '1h' },
          },
        ],
      },
    ],
    tools: [
      { name: 'clock', description: 'Tells the time.', input_schema: { type: 'object', properties: {} } },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    stop_sequences: ['END'],
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: 'high' },
    metadata: { user_id: 'u' },
    service_tier: 'auto',
    stream: true,
  };
  const { body, losses } = write(turnOf(request), { origin: 'native' });
  expect(body).toEqual({ model: 'served', max_tokens: 100, ...request });
  expect(losses).toEqual([]);
});

test('an argument whose name is refused with the whole request is told in words', () => {
  const parameters = { type: 'object', properties: { $top: { type: 'integer' } }, required: ['$top'] };
  const common = { name: 'list', namespace: null, description: 'Lists.', strict: true, cacheTtl: null };
  const { body, losses } = write({ tools: [{ kind: 'function', ...common, parameters }] });
  expect(body.tools).toEqual([
    {
      name: 'list',
      description: 'Lists.\n\nFurther arguments, as JSON Schema: {"$top":{"type":"integer"}}',
      input_schema: { type: 'object', properties: {}, required: [] },
    },
  ]);
  expect(losses).toMatchObject([{ field: 'tools', action: 'changed' }]);
});
