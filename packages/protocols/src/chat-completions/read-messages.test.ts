import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { messagesSurface } from '../messages/wire.ts';
import { requestInput } from '../request/request-input.fixture.ts';
import { fullBody, look, read, readBody, targetOf, text, written } from './codec.fixture.ts';
import { chatCompletionsCodec } from './index.ts';
import { chatSurface } from './wire.ts';

const png = 'data:image/png;base64,AA==';

test('a request that is read and written again is the same', () => {
  const { body, losses, names, request } = written(readBody(fullBody));
  expect(body).toEqual({ ...fullBody, model: 'upstream', stream_options: { include_usage: true } });
  expect(losses).toEqual([]);
  expect([...names.keys()]).toEqual(['run']);
  expect(request).toMatchObject({ path: '/chat/completions', contentType: 'application/json', edits: [] });
});

describe('messages', () => {
  const messagesOf = (...messages: object[]) => readBody({ messages }).messages;

  test('instructions at the beginning are the system, later ones stay in place', () => {
    const { system, messages } = readBody({
      messages: [
        { role: 'developer', content: 'One.' },
        { role: 'system', content: [{ type: 'text', text: 'Two.' }] },
        { role: 'user', content: 'hi' },
        { role: 'developer', content: 'Three.' },
      ],
    });
    expect(system).toEqual([text('One.'), text('Two.')]);
    expect(messages).toEqual([
      { role: 'user', content: [text('hi')], name: null },
      { role: 'system', content: [text('Three.')], name: null },
    ]);
  });

  test('results of tools that stand side by side are one message', () => {
    const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: id });
    const messages = messagesOf(result('a'), result('b'), { role: 'user', content: 'x' }, result('c'));
    expect(messages.map(({ content }) => content.map(({ kind }) => kind))).toEqual([
      ['tool-result', 'tool-result'],
      ['text'],
      ['tool-result'],
    ]);
  });

  test('a function that is called, and what it returns, find each other without an id', () => {
    const [call, result] = messagesOf(
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: 'seen' },
    );
    expect(call?.content).toMatchObject([{ kind: 'tool-call', id: 'call_0', name: 'look', input: '{}' }]);
    expect(result?.content).toMatchObject([{ kind: 'tool-result', callId: 'call_0' }]);
  });

  test('arguments that are an object become its text', () => {
    const call = { id: 'c', type: 'function', function: { name: 'look', arguments: { a: 1 } } };
    const [message] = messagesOf({ role: 'assistant', tool_calls: [call] });
    expect(message?.content).toMatchObject([{ input: '{"a":1}' }]);
  });

  test.each([
    [
      { type: 'image_url', image_url: { url: 'https://example.org/a.png', detail: 'high' } },
      { media: 'image', mediaType: null, source: { kind: 'url' }, detail: 'high' },
    ],
    [
      { type: 'image_url', image_url: png },
      { media: 'image', mediaType: 'image/png', source: { kind: 'base64', data: 'AA==' } },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
      { media: 'audio', mediaType: 'audio/wav' },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'x' } },
      { media: 'audio', mediaType: null },
    ],
    [
      { type: 'file', file: { file_data: 'AA==', filename: 'a' } },
      { media: 'file', mediaType: null, filename: 'a', source: { kind: 'base64' } },
    ],
    [
      { type: 'file', file: { file_data: 'https://example.org/a.pdf' } },
      { media: 'file', source: { kind: 'url' } },
    ],
    [
      { type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
      { kind: 'text', cacheTtl: '5m' },
    ],
    [
      { type: 'text', text: 'a', prompt_cache_breakpoint: { ttl: '12h' } },
      { kind: 'text', cacheTtl: '1h' },
    ],
    [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { kind: 'reasoning', text: 'hm', sealed: null },
    ],
  ])('the part %j', (part, block) => {
    expect(messagesOf({ role: 'user', content: [part] })[0]?.content).toMatchObject([block]);
  });

  test('a text without characters is none', () => {
    expect(
      messagesOf({ role: 'user', content: '' }, { role: 'user', content: [{ type: 'text', text: '' }] }),
    ).toEqual([
      { role: 'user', content: [], name: null },
      { role: 'user', content: [], name: null },
    ]);
  });
});

describe('thoughts that come back', () => {
  const mark = { origin: 'abc', data: 'sig' };

  test.each([
    [{ reasoning_content: 'hm' }, [{ text: 'hm', sealed: null }]],
    [{ reasoning: 'hm' }, [{ text: 'hm', sealed: null }]],
    [
      {
        reasoning_content: 'ab',
        reasoning_details: [
          { type: 'reasoning.text', text: 'a', signature: 'gw1.abc.sig' },
          { type: 'reasoning.encrypted', data: 'gw1.abc.sig' },
          { type: 'reasoning.text', text: 'b', signature: 'theirs' },
        ],
      },
      [
        { text: 'a', sealed: { ...mark, form: 'signature' } },
        { text: '', sealed: { ...mark, form: 'redacted' } },
        { text: 'b', sealed: { origin: 'native', data: 'theirs', form: 'signature' } },
      ],
    ],
    [
      {
        thinking_blocks: [
          { type: 'thinking', thinking: 'a', signature: 'gw1.abc.sig' },
          { type: 'redacted_thinking', data: 'gw1.abc.sig' },
        ],
      },
      [
        { text: 'a', sealed: { ...mark, form: 'signature' } },
        { text: '', sealed: { ...mark, form: 'redacted' } },
      ],
    ],
    [{ reasoning_details: [null, { type: 'reasoning.text' }] }, []],
  ])('%j', (members, thoughts) => {
    const { messages } = readBody({ messages: [{ role: 'assistant', content: 'x', ...members }] });
    expect(messages[0]?.content).toEqual([
      ...thoughts.map((thought) => ({ kind: 'reasoning', ...thought })),
      text('x'),
    ]);
  });

  test.each(['google', 'vertex'])('state with a call, under %s', (holder) => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const extra_content = { [holder]: { thought_signature: 'gw1.abc.sig' } };
    const { messages } = readBody({
      messages: [{ role: 'assistant', tool_calls: [{ ...call, extra_content }] }],
    });
    expect(messages[0]?.content).toMatchObject([{ sealed: { ...mark, form: 'signature' } }]);
  });
});

test.each([
  [{ store: true, logit_bias: { 1: 2 }, min_p: 0.1 }, ['store', 'logit_bias', 'min_p'], 'drop'],
  [{ prediction: { type: 'content', content: 'x' } }, ['prediction'], 'drop'],
  [{ service_tier: 'scale' }, ['service_tier'], 'drop'],
  [{ 'x y': 1 }, ['other'], 'drop'],
  [{ modalities: ['text', 'audio'], audio: { voice: 'x' } }, ['modalities', 'audio'], 'refuse'],
  [{ moderation: { model: 'x' } }, ['moderation'], 'refuse'],
  [{ messages: [{ role: 'assistant', audio: { id: 'x' } }] }, ['messages[].audio'], 'refuse'],
  [
    { messages: [{ role: 'user', content: [{ type: 'video_url', video_url: {} }] }] },
    ['messages[].content[].video_url'],
    'refuse',
  ],
  [
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'x' } }] }] },
    ['messages[].content[].file.file_id'],
    'refuse',
  ],
  [
    {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: png, detail: 'original' } }] },
      ],
    },
    ['messages[].content[].image_url.detail'],
    'drop',
  ],
  [
    { store: false, modalities: ['text'], logit_bias: {}, stream_options: { include_usage: true } },
    [],
    'drop',
  ],
])('only this protocol has %j', (body, fields, elsewhere) => {
  expect(readBody(body).extensions).toEqual(fields.map((field) => ({ field, elsewhere })));
});

test.each([
  [{ temperature: 'hot' }, 'temperature'],
  [{ stop: [1] }, 'stop'],
  [{ parallel_tool_calls: 'no' }, 'parallel_tool_calls'],
  [{ reasoning_effort: 'huge' }, 'reasoning_effort'],
  [{ reasoning: { effort: 'huge' } }, 'reasoning.effort'],
  [{ reasoning: 'high' }, 'reasoning'],
  [{ verbosity: 'loud' }, 'verbosity'],
  [{ user: 1 }, 'user'],
  [{ metadata: { a: 1 } }, 'metadata'],
  [{ metadata: 'a' }, 'metadata'],
  [{ response_format: { type: 'xml' } }, 'response_format.type'],
  [
    { response_format: { type: 'json_schema', json_schema: { schema: 'x' } } },
    'response_format.json_schema.schema',
  ],
  [{ tools: [{ function: {} }] }, 'tools[0].type'],
  [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
  [
    { tools: [{ type: 'function', function: { name: 'a', parameters: 'x' } }] },
    'tools[0].function.parameters',
  ],
  [{ functions: [{}] }, 'functions[0].name'],
  [{ tool_choice: 'some' }, 'tool_choice'],
  [
    { tool_choice: { type: 'allowed_tools', allowed_tools: { tools: [{}] } } },
    'tool_choice.allowed_tools.tools',
  ],
  [{ messages: [{ role: 'robot' }] }, 'messages[0].role'],
  [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
  [{ messages: [{ role: 'user', content: [{ text: 'x' }] }] }, 'messages[0].content[0].type'],
  [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
  [
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:x' } }] }] },
    'messages[0].content[0].image_url.url',
  ],
  [
    { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
    'messages[0].content[0].input_audio.data',
  ],
  [{ messages: [{ role: 'user', content: [{ type: 'file' }] }] }, 'messages[0].content[0].file'],
  [
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'data:x' } }] }] },
    'messages[0].content[0].file.file_data',
  ],
  [
    { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: png }] }] },
    'messages[0].content',
  ],
  [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
])('%j is refused for its %s', (body, param) => {
  expect(read(body)).toMatchObject({ ok: false, error: { code: 'invalid_request', param } });
  expect(read(body)).toHaveProperty('error.message', expect.stringContaining(`'${param}'`));
});

test('a body that is no object in valid UTF-8 is refused', () => {
  for (const body of ['[]', '1', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])])
    expect(chatCompletionsCodec.readTurn(requestInput(body))).toMatchObject({ ok: false });
});

/** The body with some of its values replaced by others of any kind. */
const mutatedBody = fc
  .tuple(fc.infiniteStream(fc.nat({ max: 15 })), fc.infiniteStream(fc.jsonValue()))
  .map(([chances, values]) => {
    const mutate = (value: unknown): unknown => {
      if (chances.next().value === 0) return values.next().value;
      if (Array.isArray(value)) return value.map(mutate);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mutate(member)]));
    };
    return mutate(fullBody);
  });

test('whatever a caller sends is read or refused, and what is read can be written or refused', () => {
  fc.assert(
    fc.property(mutatedBody, (body) => {
      const turn = chatCompletionsCodec.readTurn(requestInput(JSON.stringify(body)));
      if (!turn.ok) return;
      for (const surface of [chatSurface, messagesSurface]) {
        const result = chatCompletionsCodec.writeTurn({ ...turn.value, surface }, targetOf());
        expect(result).toHaveProperty('ok');
      }
    }),
    { numRuns: 300 },
  );
});

describe('settings', () => {
  test.each([
    [{ max_tokens: 5 }, { maxOutputTokens: 5 }, { maxOutputTokens: 'max_tokens' }],
    [
      { max_tokens: 5, max_completion_tokens: 6 },
      { maxOutputTokens: 6 },
      { maxOutputTokens: 'max_completion_tokens' },
    ],
    [{ stop: 'x' }, { stop: ['x'] }, {}],
    [{ logprobs: true }, { logprobs: 0 }, {}],
    [{ top_logprobs: 3 }, { logprobs: null }, {}],
    [{ safety_identifier: 's', user: 'u' }, { user: 's' }, { user: 'safety_identifier' }],
    [{ service_tier: 'fast' }, { serviceTier: 'priority' }, {}],
    [{ response_format: { type: 'json_object' } }, { outputFormat: { kind: 'json' } }, {}],
    [
      { reasoning: { effort: 'high', exclude: true } },
      { reasoning: { effort: 'high', budgetTokens: null, shown: false } },
      { reasoning: 'reasoning' },
    ],
    [
      { reasoning: { max_tokens: 9 } },
      { reasoning: { effort: null, budgetTokens: 9, shown: null } },
      { reasoning: 'reasoning' },
    ],
    [
      { reasoning: { enabled: false } },
      { reasoning: { effort: 'none', budgetTokens: null, shown: null } },
      {},
    ],
    [
      { thinking: { type: 'disabled' } },
      { reasoning: { effort: 'none', budgetTokens: null, shown: null } },
      { reasoning: 'thinking' },
    ],
    [
      { thinking: { type: 'enabled', budget_tokens: 2_000 } },
      { reasoning: { effort: null, budgetTokens: 2_000, shown: null } },
      {},
    ],
    [{ functions: [{ name: 'f' }] }, { parallelToolCalls: false }, { parallelToolCalls: 'functions' }],
  ])('%j', (body, settings, spelling) => {
    expect(readBody(body)).toMatchObject({ settings, spelling });
  });

  test('what is null is not set', () => {
    const nulls = Object.keys(fullBody).filter((name) => name !== 'messages' && name !== 'model');
    const turn = readBody(Object.fromEntries(nulls.map((name) => [name, null])));
    expect(new Set(Object.values(turn.settings))).toEqual(new Set([null]));
    expect(turn.extensions).toEqual([]);
  });
});

describe('tools', () => {
  test.each([
    [{ tool_choice: 'required' }, { kind: 'required' }],
    [{ tool_choice: { type: 'function', function: { name: 'look' } } }, { kind: 'named', name: 'look' }],
    [{ tool_choice: { type: 'custom', custom: { name: 'run' } } }, { kind: 'named', name: 'run' }],
    [{ function_call: { name: 'look' } }, { kind: 'named', name: 'look' }],
    [{ function_call: 'none' }, { kind: 'none' }],
  ])('%j', (body, toolChoice) => {
    expect(readBody({ ...body, tools: [look] })).toMatchObject({ toolChoice });
  });

  test('functions of old are tools', () => {
    const { tools } = readBody({ functions: [{ name: 'f', description: 'd', parameters: {} }] });
    expect(tools).toMatchObject([
      { kind: 'function', name: 'f', description: 'd', parameters: {}, strict: null },
    ]);
  });

  test.each([
    [{ tools: [look, { type: 'web_search' }] }, [{ field: 'tools[].web_search', elsewhere: 'drop' }]],
    [{ tools: [{ type: 'web_search' }] }, [{ field: 'tools[].web_search', elsewhere: 'refuse' }]],
    [{ tools: [look], web_search_options: {} }, [{ field: 'web_search_options', elsewhere: 'drop' }]],
    [
      { web_search_options: { search_context_size: 'low' } },
      [{ field: 'web_search_options', elsewhere: 'refuse' }],
    ],
    [
      { tools: [look, { type: 'a b' }], tool_choice: 'required' },
      [{ field: 'tools[].other', elsewhere: 'refuse' }],
    ],
  ])('tools the server would run: %j', (body, extensions) => {
    expect(readBody(body).extensions).toEqual(extensions);
  });
});
