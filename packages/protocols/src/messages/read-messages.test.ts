import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestInput } from '../request/request-input.fixture.ts';
import { listOf } from '../wire-values.ts';
import { read, targetOf, turnOf } from './codec.fixture.ts';
import { messagesCodec } from './index.ts';

const contentOf = (...content: readonly object[]) =>
  turnOf({ messages: [{ role: 'user', content }] }).messages[0]?.content ?? [];
const lost = (members: object) =>
  turnOf(members).extensions.map(({ field, elsewhere }) => `${elsewhere} ${field}`);

describe('a conversation', () => {
  test('has its instructions apart, in order, without what is meant for accounts', () => {
    const billing = { type: 'text', text: 'x-vendor-billing-header: cc_version=1; cch=a1b2;' };
    const rules = { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } };
    expect(turnOf({ system: [billing, rules] }).system).toEqual([
      { kind: 'text', text: 'Be brief.', citations: [], cacheTtl: '1h' },
    ]);
    expect(turnOf({ system: 'Be brief.' }).system).toMatchObject([{ text: 'Be brief.' }]);
  });

  test('may be instructed in the middle', () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'system', content: [{ type: 'text', text: 'b' }] },
    ];
    expect(turnOf({ messages }).messages).toMatchObject([
      { role: 'user', content: [{ text: 'a' }] },
      { role: 'system', content: [{ text: 'b' }] },
    ]);
  });

  test.each([
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
    [{ messages: ['x'] }, 'messages[0].role'],
    [{ system: [{ type: 'image' }] }, 'system'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64' } }] }] },
      'messages[].content[].source',
    ],
  ])('%j is blamed for its %s', (members, param) => {
    expect(read(members)).toMatchObject({ ok: false, error: { code: 'invalid_request', param } });
  });
});

describe('blocks', () => {
  test.each([
    [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } },
      { media: 'image', mediaType: 'image/png', source: { kind: 'base64', data: 'iVBORw0=' } },
    ],
    [
      { type: 'image', source: { type: 'url', url: 'https://a.example/b' } },
      { media: 'image', mediaType: null, source: { kind: 'url', url: 'https://a.example/b' } },
    ],
    [
      { type: 'document', title: 'T', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
      { media: 'file', mediaType: 'text/plain', filename: 'T', source: { kind: 'text', text: 'words' } },
    ],
    [{ type: 'document', source: { type: 'file', file_id: 'f' } }, { source: { kind: 'id', id: 'f' } }],
    [
      { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'words' }] } },
      { kind: 'text', text: 'words' },
    ],
    [
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { text: 'hm', sealed: { origin: 'native', data: 'c2ln' } },
    ],
    [
      { type: 'thinking', thinking: 'hm', signature: '' },
      { text: 'hm', sealed: null },
    ],
    [
      { type: 'redacted_thinking', data: 'gw1.there.xyz' },
      { text: '', sealed: { origin: 'there', data: 'xyz', form: 'redacted' } },
    ],
    [
      { type: 'tool_use', id: 't', name: 'n', input: { a: 1 } },
      { kind: 'tool-call', id: 't', name: 'n', input: '{"a":1}' },
    ],
    [
      { type: 'tool_result', tool_use_id: 't', is_error: true, content: 'no' },
      { kind: 'tool-result', callId: 't', isError: true, content: [{ text: 'no' }] },
    ],
    [
      {
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ type: 'image', source: { type: 'url', url: 'u' } }],
        cache_control: { type: 'ephemeral' },
      },
      { content: [{ kind: 'media', source: { url: 'u' } }], cacheTtl: '5m' },
    ],
    [
      {
        type: 'search_result',
        title: 'T',
        source: 'https://s.example',
        content: [{ type: 'text', text: 'w' }],
      },
      { text: '[search result]\nT\nhttps://s.example\nw' },
    ],
    [
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
      { text: '[web_search: {"query":"q"}]' },
    ],
    [
      {
        type: 'web_search_tool_result',
        tool_use_id: 's',
        content: [{ type: 'web_search_result', title: 'T', url: 'u', encrypted_content: 'SECRET' }],
      },
      { text: '[web search tool result]\nT\nu' },
    ],
    [
      {
        type: 'bash_code_execution_tool_result',
        tool_use_id: 's',
        content: {
          type: 'bash_code_execution_result',
          stdout: 'out',
          stderr: '',
          return_code: 0,
          content: [],
        },
      },
      { text: '[bash code execution tool result]\nout' },
    ],
    [
      {
        type: 'web_fetch_tool_result',
        content: { url: 'u', content: { type: 'document', source: { type: 'base64', data: 'JVBERi' } } },
      },
      { text: '[web fetch tool result]\nu' },
    ],
  ])('%j', (wire, block) => {
    expect(contentOf(wire)).toMatchObject([block]);
  });

  test('a text has its sources', () => {
    const citations = [
      { type: 'web_search_result_location', url: 'u', title: 'T', cited_text: 'q', encrypted_index: 'e' },
      { type: 'char_location', document_title: 'D', cited_text: 'w', document_index: 0 },
    ];
    expect(contentOf({ type: 'text', text: 'x', citations })).toMatchObject([
      {
        citations: [
          { url: 'u', title: 'T', quote: 'q', start: null, end: null },
          { url: null, title: 'D', quote: 'w' },
        ],
      },
    ]);
  });

  test('what only this protocol has is told: what becomes text, and what goes', () => {
    const content = [
      { type: 'server_tool_use', name: 'web_search', input: {} },
      { type: 'container_upload', file_id: 'f' },
      { type: 'of_days_to_come' },
    ];
    expect(lost({ messages: [{ role: 'assistant', content }] })).toEqual([
      'text messages[].content[].server_tool_use',
      'drop messages[].content[].container_upload',
      'drop messages[].content[].of_days_to_come',
    ]);
  });
});

describe('settings', () => {
  test.each([
    [{ thinking: { type: 'disabled' } }, { effort: 'none', budgetTokens: null, shown: null }],
    [
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      { effort: null, budgetTokens: 2000, shown: true, isOn: true },
    ],
    [
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'xhigh' } },
      { effort: 'xhigh', budgetTokens: null, shown: false, isOn: true },
    ],
    [{ output_config: { effort: 'low' } }, { effort: 'low', budgetTokens: null, shown: null }],
    [{}, null],
    [{ thinking: { type: 'of_days_to_come' }, output_config: { effort: 'huge' } }, null],
  ])('reasoning of %j', (members, reasoning) => {
    expect(turnOf(members).settings.reasoning).toEqual(reasoning);
  });

  test.each(['output_config', 'output_format'])('an answer to a schema in %s', (name) => {
    const format = { type: 'json_schema', schema: { type: 'object' } };
    const turn = turnOf({ [name]: name === 'output_config' ? { format } : format });
    expect(turn.settings.outputFormat).toMatchObject({ kind: 'json-schema', schema: { type: 'object' } });
    expect(turn.spelling.outputFormat).toBe(name === 'output_config' ? 'output_config.format' : name);
  });

  test('the rest', () => {
    const members = {
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ['x'],
      metadata: { user_id: 'u' },
      service_tier: 'standard_only',
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    };
    expect(turnOf(members)).toMatchObject({
      toolChoice: { kind: 'auto' },
      settings: {
        maxOutputTokens: 100,
        temperature: 0.5,
        topP: 0.9,
        topK: 5,
        stop: ['x'],
        user: 'u',
        serviceTier: 'default',
        parallelToolCalls: false,
      },
    });
  });
});

describe('tools', () => {
  const clock = { name: 'clock', description: 'd', input_schema: { type: 'object' }, strict: true };
  const search = { type: 'web_search_20250305', name: 'web_search' };
  const shell = { type: 'bash_20250124', name: 'bash' };

  test('are functions', () => {
    expect(turnOf({ tools: [{ ...clock, cache_control: { type: 'ephemeral' } }] }).tools).toEqual([
      {
        kind: 'function',
        name: 'clock',
        namespace: null,
        description: 'd',
        parameters: { type: 'object' },
        strict: true,
        cacheTtl: '5m',
      },
    ]);
  });

  test.each<[object, readonly string[]]>([
    [{ tools: [clock, search] }, ['drop tools[].web_search_20250305']],
    [{ tools: [search] }, ['refuse tools[].web_search_20250305']],
    [
      { tools: [clock, search], tool_choice: { type: 'tool', name: 'web_search' } },
      ['refuse tools[].web_search_20250305'],
    ],
    [{ tools: [clock, shell] }, ['refuse tools[].bash_20250124']],
    [{ tools: [{ ...clock, defer_loading: true }] }, ['drop tools[].defer_loading']],
  ])('%j: %j', (members, fields) => {
    expect(lost(members)).toEqual(fields);
  });

  test.each([
    [{ type: 'any' }, { kind: 'required' }],
    [{ type: 'none' }, { kind: 'none' }],
    [
      { type: 'tool', name: 'clock' },
      { kind: 'named', name: 'clock' },
    ],
    [undefined, null],
  ])('the choice %j', (tool_choice, choice) => {
    expect(turnOf({ tools: [clock], tool_choice }).toolChoice).toEqual(choice);
  });
});

test.each<[object, readonly string[]]>([
  [{ speed: 'fast', diagnostics: null, fallbacks: [] }, ['drop speed']],
  [
    { context_management: { edits: [] }, of_days_to_come: 1 },
    ['drop context_management', 'drop of_days_to_come'],
  ],
  [{ container: 'c' }, ['refuse container']],
  [{ mcp_servers: [{}] }, ['refuse mcp_servers']],
  [{ mcp_servers: [] }, []],
  [{ max_tokens: 0 }, ['refuse max_tokens']],
  [{ thinking: { type: 'between_tools' } }, ['drop thinking.type']],
])('members of this protocol alone, %j: %j', (members, fields) => {
  expect(lost(members)).toEqual(fields);
});

test('a conversation that is kept elsewhere is refused so that clients go on without it', () => {
  expect(read({ thread: { id: 't' } })).toMatchObject({
    ok: false,
    error: { code: 'thread_unsupported_request' },
  });
  expect(read({ thread: null }).ok).toBe(true);
});

const valid = {
  model: 'alias',
  max_tokens: 100,
  system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'b' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'c' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'd', signature: 'gw1.here.e' },
        { type: 'tool_use', id: 'f', name: 'clock', input: { g: 1 } },
        { type: 'web_search_tool_result', content: [{ title: 'h', url: 'i' }] },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'f', content: [{ type: 'text', text: 'j' }] }],
    },
  ],
  tools: [{ name: 'clock', input_schema: { type: 'object', properties: { k: { $ref: '#' } }, anyOf: [{}] } }],
  tool_choice: { type: 'tool', name: 'clock' },
  thinking: { type: 'enabled', budget_tokens: 2000 },
  output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
  stop_sequences: ['l'],
  metadata: { user_id: 'm' },
};

/** The paths of every value in it. */
function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))];
}

function withValue(value: unknown, [name, ...rest]: readonly string[], patch: unknown): unknown {
  if (name === undefined) return patch;
  if (Array.isArray(value))
    return listOf(value).map((inner, at) => (String(at) === name ? withValue(inner, rest, patch) : inner));
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [
          key,
          key === name ? withValue(inner, rest, patch) : inner,
        ]),
      )
    : value;
}

const mutation = fc.tuple(fc.constantFrom(...pathsOf(valid)), fc.jsonValue());

test('whatever stands in the place of any value, the request is read and written or refused', () => {
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
      const request = mutations.reduce<unknown>(
        (value, [path, patch]) => withValue(value, path, patch),
        valid,
      );
      const turn = messagesCodec.readTurn(requestInput(JSON.stringify(request)));
      const written = turn.ok ? messagesCodec.writeTurn(turn.value, targetOf()) : turn;
      if (written.ok) {
        const length = written.value.request.body.reduce((sum, piece) => sum + piece.length, 0);
        expect(length).toBeLessThan(3 * JSON.stringify(request).length + 2_000);
      } else expect(written.error.code).toBe('invalid_request');
    }),
    { numRuns: 1_000 },
  );
});

test.each(['', '[]', '7', '{', '{"model":"\\ud800"}', '{"messages":{}}'])('%j is read or refused', (text) => {
  const turn = messagesCodec.readTurn(requestInput(text));
  expect(turn.ok ? turn.value.messages : turn.error.code).toEqual(turn.ok ? [] : 'invalid_request');
});
