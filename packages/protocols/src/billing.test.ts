import { describe, expect, test } from 'vitest';
import { serviceOf } from './billing.ts';
import { protocols } from './protocols.ts';
import { requestInput } from './request/request-input.fixture.ts';
import { type Dialect, defaultDialect } from './request.ts';
import { mergeTerms, noTerms, type Usage, type UsageTerms } from './usage.ts';

type Id = 'chat-completions' | 'responses' | 'messages' | 'generate-content';

function read(id: Id, answer: object, dialect: Partial<Dialect> = {}) {
  const body = new TextEncoder().encode(JSON.stringify(answer));
  const read = protocols[id].readAnswer(body, { ...defaultDialect, ...dialect });
  if (read.kind === 'refusal') throw new Error(read.refusal.message);
  return read.reading;
}

const chat = (usage: object, more: object = {}) => ({
  choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, ...usage },
  ...more,
});
const message = (usage: object, content: readonly object[] = [{ type: 'text', text: 'hi' }]) => ({
  type: 'message',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 10, output_tokens: 5, ...usage },
});
const response = (usage: object, output: readonly object[] = [], more: object = {}) => ({
  status: 'completed',
  output: [...output, { type: 'message', content: [{ type: 'output_text', text: 'hi' }] }],
  usage: { input_tokens: 10, output_tokens: 5, ...usage },
  ...more,
});
const native = (usage: object, candidate: object = {}) => ({
  candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP', ...candidate }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15, ...usage },
});

const search = { type: 'web_search_call', action: { type: 'search' } };
const run = (container_id: string) => ({ type: 'code_interpreter_call', container_id });
const hosted = [
  { type: 'server_tool_use', name: 'web_search' },
  { type: 'web_search_tool_result', content: [] },
];
const xai = { web_search_calls: 2, x_search_calls: 1, code_interpreter_calls: 4, file_search_calls: 3 };

describe('an answer tells what has a fee', () => {
  test.each<[string, Id, object, Partial<Usage>]>([
    [
      'queries',
      'chat-completions',
      chat({ num_search_queries: 7, citation_tokens: 90 }),
      { webSearches: 7, citation: 90 },
    ],
    [
      'tools of the server',
      'chat-completions',
      chat({ server_tool_use: { web_search_requests: 2 } }),
      { webSearches: 2 },
    ],
    [
      'details of them',
      'chat-completions',
      chat({ server_tool_use_details: { web_search_requests: 1 } }),
      { webSearches: 1 },
    ],
    [
      'each kind of tool',
      'chat-completions',
      chat({ server_side_tool_usage_details: xai }),
      { webSearches: 3, codeSessions: 4, fileSearches: 3 },
    ],
    ['pages', 'chat-completions', chat({ pages_processed: 12 }), { pages: 12 }],
    [
      'cached sound',
      'chat-completions',
      chat({
        prompt_tokens_details: {
          cached_tokens: 6,
          audio_tokens: 5,
          cached_tokens_details: { audio_tokens: 4 },
        },
      }),
      { inputCacheRead: 2, inputCacheReadAudio: 4, inputAudio: 1, inputFresh: 3 },
    ],
    [
      'requests of searches',
      'messages',
      message({ server_tool_use: { web_search_requests: 3, web_fetch_requests: 9 } }),
      { webSearches: 3 },
    ],
    [
      'searches beside iterations',
      'messages',
      message({
        server_tool_use: { web_search_requests: 1 },
        iterations: [
          { input_tokens: 4, output_tokens: 1 },
          { input_tokens: 6, output_tokens: 4 },
        ],
      }),
      { webSearches: 1, inputFresh: 10 },
    ],
    [
      'items',
      'responses',
      response({}, [
        search,
        search,
        { type: 'web_search_call', action: { type: 'open_page' } },
        { type: 'file_search_call' },
      ]),
      { webSearches: 2, fileSearches: 1 },
    ],
    ['containers, each once', 'responses', response({}, [run('a'), run('a'), run('b')]), { codeSessions: 2 }],
    [
      'its own counts before items',
      'responses',
      response({ server_side_tool_usage_details: xai }, [search]),
      { webSearches: 3 },
    ],
    [
      'queries of a grounding',
      'generate-content',
      native({}, { groundingMetadata: { webSearchQueries: ['a', 'b'], groundingChunks: [{}] } }),
      { webSearches: 2, groundings: 1 },
    ],
    [
      'a grounding without queries',
      'generate-content',
      native({}, { groundingMetadata: { groundingChunks: [{ maps: {} }] } }),
      { groundings: 1 },
    ],
    [
      'no grounding',
      'generate-content',
      native({}, { groundingMetadata: {} }),
      { webSearches: 0, groundings: 0 },
    ],
  ])('%s: %s', (_name, id, answer, usage) => {
    expect(read(id, answer).usage).toMatchObject(usage);
  });

  test('in a stream whose last event leaves its items out', () => {
    const reader = protocols.responses.openStream(defaultDialect);
    const events = [
      { type: 'response.output_item.done', item: { ...search, id: 'ws_1' } },
      { type: 'response.output_text.delta', delta: 'hi' },
      { type: 'response.completed', response: { ...response({}), output: [] } },
    ];
    for (const event of events) reader.read(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
    expect(reader.reading.usage).toMatchObject({ webSearches: 1 });
  });
});

describe('an answer tells its terms', () => {
  test.each<[Id, object, Partial<UsageTerms>]>([
    ['chat-completions', chat({}, { service_tier: 'priority' }), { service: 'priority' }],
    ['chat-completions', chat({}, { service_tier: 'default' }), { service: 'standard' }],
    ['chat-completions', chat({}, { service_tier: 'performance' }), { service: 'performance' }],
    ['chat-completions', chat({ search_context_size: 'high' }), { searchContext: 'high' }],
    ['responses', response({}, [], { service_tier: 'flex' }), { service: 'flex' }],
    ['responses', response({}, [], { service_tier: 'auto' }), { service: null }],
    ['messages', message({ service_tier: 'batch' }), { service: 'batch' }],
    ['messages', message({ service_tier: 'standard', speed: 'fast' }), { service: 'fast' }],
    ['messages', message({ service_tier: 'standard', speed: 'standard' }), { service: 'standard' }],
    // A tier by itself does not take back the speed that was asked for.
    ['messages', message({ service_tier: 'standard' }), { service: null }],
    ['messages', message({ inference_geo: 'us' }), { region: 'us' }],
    ['messages', message({ inference_geo: 'not_available' }), { region: 'global' }],
    ['generate-content', native({ trafficType: 'ON_DEMAND_PRIORITY' }), { service: 'priority' }],
    ['generate-content', native({ trafficType: 'ON_DEMAND' }), { service: 'standard' }],
    ['generate-content', native({ trafficType: 'PROVISIONED_THROUGHPUT' }), { service: 'provisioned' }],
    ['generate-content', native({ serviceTier: 'flex' }), { service: 'flex' }],
    // A loop of tools sums up its prompts, and a context tier goes by one of them.
    [
      'messages',
      message({ input_tokens: 301 }, [...hosted, ...hosted, { type: 'text', text: 'hi' }]),
      { promptTokens: 101 },
    ],
    ['responses', response({ input_tokens: 300 }, [search, search]), { promptTokens: 100 }],
    [
      'responses',
      response({ input_tokens: 300, context_details: { input_tokens: 80 } }, [search]),
      { promptTokens: 80 },
    ],
    ['generate-content', native({ toolUsePromptTokenCount: 900 }), { promptTokens: 10 }],
  ])('%s %j', (id, answer, terms) => {
    expect(read(id, answer).terms).toEqual({ ...noTerms, ...terms });
  });

  test('and its word stands before what was asked for, also where it is the usual one', () => {
    const asked = { ...noTerms, service: 'priority', region: 'us' };
    expect(mergeTerms({ ...noTerms, service: 'flex' }, asked)).toEqual({
      ...noTerms,
      service: 'flex',
      region: 'us',
    });
    expect(mergeTerms({ ...noTerms, service: 'standard', region: 'global' }, asked)).toBe(noTerms);
    expect(mergeTerms(noTerms, asked)).toEqual(asked);
  });
});

describe('a request asks for terms', () => {
  const messages = [{ role: 'user', content: 'hi' }];
  test.each<[Id, object, Partial<UsageTerms> | undefined]>([
    ['chat-completions', { messages, service_tier: 'fast' }, { service: 'priority' }],
    ['chat-completions', { messages, service_tier: 'auto' }, undefined],
    ['chat-completions', { messages, service_tier: 'default' }, undefined],
    [
      'chat-completions',
      { messages, web_search_options: { search_context_size: 'low' } },
      { searchContext: 'low' },
    ],
    ['responses', { input: 'hi', service_tier: 'ultrafast' }, { service: 'ultrafast' }],
    ['messages', { messages, speed: 'fast', service_tier: 'auto' }, { service: 'fast' }],
    ['messages', { messages, speed: 'standard', inference_geo: 'us' }, { region: 'us' }],
    ['messages', { messages, inference_geo: 'global' }, undefined],
    ['generate-content', { contents: [], serviceTier: 'flex' }, { service: 'flex' }],
    ['generate-content', { contents: [], service_tier: 'SERVICE_TIER_PRIORITY' }, { service: 'priority' }],
  ])('%s %j', (id, body, terms) => {
    const input = requestInput(JSON.stringify({ model: 'm', ...body }), {
      params: { model: 'm', action: 'generateContent' },
    });
    const read = protocols[id].readRequest(input);
    const asked = terms === undefined ? undefined : { ...noTerms, ...terms };
    expect(read.ok && read.value.facts.terms).toEqual(asked);
  });
});

describe('an upstream states what an answer costs', () => {
  test.each<[string, number, object, string | null]>([
    ['cost', 0, { cost: 0.0000113 }, '0.0000113'],
    ['cost', 0, { cost: 1.5e-7 }, '0.00000015'],
    ['cost', 0, { cost: 12 }, '12'],
    ['cost.total_cost', 0, { cost: { total_cost: 0.006 } }, '0.006'],
    ['cost_in_usd_ticks', 10, { cost_in_usd_ticks: 123_456 }, '0.0000123456'],
    ['cost_in_usd_ticks', 10, { cost_in_usd_ticks: 25_000_000_000 }, '2.5000000000'],
    ['cost', 0, { cost: 'free' }, null],
    ['cost', 0, {}, null],
  ])('%s, %i digits, %j', (member, digits, usage, stated) => {
    const dialect = { statedCost: { member, digits } };
    for (const [id, answer] of [
      ['chat-completions', chat(usage)],
      ['responses', response(usage)],
      ['messages', message(usage)],
    ] as const)
      expect(read(id, answer, dialect).statedCostUsd, id).toBe(stated);
  });

  test('and nothing is taken for that where its dialect has no member for it', () => {
    expect(read('chat-completions', chat({ cost: 1 })).statedCostUsd).toBeNull();
  });
});

test('a word that no table knows is a tier of its own, and one that is none is nothing', () => {
  expect(serviceOf('scale')).toBe('scale');
  expect(serviceOf(7)).toBeNull();
  expect(serviceOf('')).toBeNull();
});
