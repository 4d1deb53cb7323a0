import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonRecord } from '../json.ts';
import { listOf, parseJson, recordOf } from '../json.ts';
import { exchange, openRaw, postRequest, responsesRequest } from '../raw-exchange.fixture.ts';
import type { Simulator } from '../simulator.ts';
import { startSimulator } from '../simulator.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(async () => simulator.close());

const stream = { stream: true };
// Matchers are typed as anything at all; these are not to be more than unknown.
const anyString: unknown = expect.any(String);
const anyResponseId: unknown = expect.stringMatching(/^resp_sim\d+$/);
const anyMessageId: unknown = expect.stringMatching(/^msg_sim\d+_0$/);
const clock = { type: 'function', name: 'clock', parameters: { type: 'object' } };

async function ask(model: string, members: object = {}) {
  return exchange(simulator.origin, responsesRequest(model, members));
}

async function whole(model: string, members: object = {}): Promise<JsonRecord> {
  const { status, body } = await ask(model, members);
  expect(status, body).toBe(200);
  return recordOf(parseJson(body));
}

/** The events of a stream, each held to its frame: the type stands twice and the numbers have no gap. */
async function events(model: string, members: object = {}): Promise<readonly JsonRecord[]> {
  const { body } = await ask(model, { ...stream, ...members });
  const frames = body.split('\n\n').slice(0, -1);
  return frames.map((frame, sequence) => {
    const [, name = '', data = ''] = /^event: (\S+)\ndata: (.*)$/.exec(frame) ?? expect.fail(frame);
    const parsed = recordOf(parseJson(data));
    expect(parsed).toMatchObject({ type: name, sequence_number: sequence });
    return parsed;
  });
}

function namesOf(all: readonly JsonRecord[]): readonly string[] {
  return all.map(({ type }) => String(type).replace('response.', ''));
}

describe('a whole answer', () => {
  test('has every member of the protocol', async () => {
    const { created_at: createdAt, completed_at: completedAt, ...response } = await whole('m+tokens=2');
    expect([createdAt, completedAt]).toEqual([expect.any(Number), createdAt]);
    expect(response).toEqual({
      id: anyResponseId,
      object: 'response',
      status: 'completed',
      background: false,
      error: null,
      frequency_penalty: 0,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      model: 'm',
      output: [
        {
          id: anyMessageId,
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'This is', annotations: [], logprobs: [] }],
        },
      ],
      parallel_tool_calls: true,
      presence_penalty: 0,
      previous_response_id: null,
      prompt_cache_key: null,
      prompt_cache_retention: null,
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      service_tier: 'default',
      store: true,
      temperature: 1,
      text: { format: { type: 'text' }, verbosity: 'medium' },
      tool_choice: 'auto',
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 5,
      },
      user: null,
      metadata: {},
    });
  });

  test('says back what the request said, and its tools with all their members', async () => {
    const said = {
      instructions: 'be brief',
      temperature: 0.5,
      metadata: { a: 'b' },
      store: false,
      user: 'u',
    };
    expect(await whole('m', { ...said, tool_choice: 'none', tools: [clock] })).toMatchObject({
      ...said,
      tools: [{ ...clock, description: null, strict: true }],
    });
  });

  test('input includes what the cache did, output includes reasoning', async () => {
    const response = await whole(
      'm+prompt=900,cached=700,cache-write=100,tokens=3,reasoning=4,hidden-reasoning=5',
    );
    expect(response['usage']).toEqual({
      input_tokens: 900,
      input_tokens_details: { cached_tokens: 700, cache_write_tokens: 100 },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 9 },
      total_tokens: 912,
    });
  });

  test.each([
    ['m+tokens=50', 'incomplete', { reason: 'max_output_tokens' }],
    ['m+finish=content_filter', 'incomplete', { reason: 'content_filter' }],
    ['m+finish=null', 'incomplete', null],
    ['m+refusal,tokens=2', 'completed', null],
  ])('%s under a limit of sixteen is %s', async (model, status, details) => {
    expect(await whole(model, { max_output_tokens: 16 })).toMatchObject({
      status,
      incomplete_details: details,
    });
  });

  test('counts instructions, messages and results, and a fixed number for what is no text', async () => {
    const items = [
      { role: 'developer', content: 'one' },
      { role: 'user', content: [{ type: 'input_text', text: 'two words' }, { type: 'input_image' }] },
      { type: 'custom_tool_call', call_id: 'c', name: 'run', input: 'not counted at all' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c',
        output: [{ type: 'input_text', text: 'three more words' }],
      },
    ];
    const response = await whole('m', { instructions: 'be brief', input: items, tools: [clock] });
    expect(response).toMatchObject({ usage: { input_tokens: 2 + 1 + 102 + 3 } });
    expect(JSON.stringify(response)).toContain('The tool returned: “three more words”');
  });

  test.each([
    [[{ type: 'custom', name: 'run', format: { type: 'grammar', syntax: 'lark', definition: 'x' } }], {}],
    [[{ type: 'namespace', name: 'group', tools: [clock] }], { name: 'clock', namespace: 'group' }],
    [[{ type: 'web_search' }, clock], { name: 'clock' }],
    [[{ type: 'local_shell' }, { type: 'tool_search' }], { type: 'message' }],
  ])('offered %j it answers with an item %j', async (tools, item) => {
    expect(await whole('m', { tools })).toMatchObject({ output: [item] });
  });

  test.each([
    ['none', ['message']],
    ['required', ['function_call']],
    [{ type: 'custom', name: 'run' }, ['custom_tool_call']],
    [
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'run' }] },
      ['custom_tool_call'],
    ],
    [{ type: 'allowed_tools', mode: 'auto', tools: [] }, ['function_call']],
  ])('tool choice %j gives %j', async (choice, types) => {
    const tools = [clock, { type: 'custom', name: 'run' }];
    const { output } = await whole('m', { tools, tool_choice: choice });
    expect(listOf(output).map((item) => recordOf(item)['type'])).toEqual(types);
  });
});

describe('a stream', () => {
  test('shows reasoning as a summary and text in one part', async () => {
    const all = await events('m+tokens=2,reasoning=1', { include: ['reasoning.encrypted_content'] });
    expect(namesOf(all)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    expect(all[0]).toMatchObject({ response: { status: 'in_progress', output: [], usage: null } });
    expect(all[10]).toMatchObject({ output_index: 1, content_index: 0, delta: 'This', logprobs: [] });
    const seals = [all[2], all[7]].map((event) => recordOf(event?.['item'])['encrypted_content']);
    expect(new Set(seals).size).toBe(2);
  });

  test.each([
    [[clock], 'function_call_arguments'],
    [[{ type: 'custom', name: 'run' }], 'custom_tool_call_input'],
  ])('gives the calls of %j one after the other', async (tools, family) => {
    const names = namesOf(await events('m+calls=2', { tools }));
    const pieces = family === 'function_call_arguments' ? 1 : 2;
    const deltas = Array.from({ length: pieces }, () => `${family}.delta`);
    const call = ['output_item.added', ...deltas, `${family}.done`, 'output_item.done'];
    expect(names).toEqual(['created', 'in_progress', ...call, ...call, 'completed']);
  });

  test.each([
    ['m+refusal,tokens=1', 'refusal.delta', 'completed'],
    ['m+tokens=17', 'output_text.delta', 'incomplete'],
    ['m+hidden-reasoning=4,tokens=0', 'output_item.done', 'completed'],
  ])('%s has %s and ends %s', async (model, name, last) => {
    const all = await events(model, { max_output_tokens: 16 });
    expect(namesOf(all)).toContain(name);
    expect(namesOf(all).at(-1)).toBe(last);
    expect(all.at(-1)).toMatchObject({ response: { usage: { input_tokens: 3 } } });
  });

  test('usage=never leaves it null', async () => {
    expect((await events('m+usage=never')).at(-1)).toMatchObject({ response: { usage: null } });
  });
});

describe('what was answered before', () => {
  test('an answer can be continued, and its tokens count', async () => {
    const first = await whole('m+tokens=4', { instructions: 'counted once' });
    const next = await whole('m', { previous_response_id: first['id'], input: 'and two' });
    expect(next).toMatchObject({ previous_response_id: first['id'], usage: { input_tokens: 3 + 4 + 2 } });
  });

  test('its items can be named instead of sent', async () => {
    const { output } = await whole('m', { tools: [clock], input: 'what time' });
    const [call] = listOf(output).map(recordOf);
    const items = [
      { role: 'user', content: 'what time' },
      { type: 'item_reference', id: call?.['id'] },
      { type: 'function_call_output', call_id: call?.['call_id'], output: 'noon' },
    ];
    expect(await whole('m', { input: items })).toMatchObject({ usage: { input_tokens: 3 } });
  });

  test('unless it asked not to be stored', async () => {
    const { id } = await whole('m', { store: false });
    const { status, body } = await ask('m', { previous_response_id: id });
    expect([status, parseJson(body)]).toEqual([
      400,
      {
        error: {
          message: `Previous response with id '${String(id)}' not found.`,
          type: 'invalid_request_error',
          param: 'previous_response_id',
          code: 'previous_response_not_found',
        },
      },
    ]);
  });
});

describe('what the vendor refuses', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'clock', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'c', output: '' };
  test.each([
    [{ input: undefined }, 'input'],
    [{ messages: [] }, "moved to 'input'"],
    [{ max_output_tokens: 15 }, 'Expected a value >= 16'],
    [{ text: { format: { type: 'json_schema', schema: {} } } }, 'text.format.name'],
    [{ tools: [{ type: 'function', function: { name: 'x' } }] }, 'tools[0].name'],
    [
      { tools: [{ type: 'namespace', name: 'x', tools: [{ ...clock, name: 'a.b' }] }] },
      'tools[0].tools[0].name',
    ],
    [{ input: [call] }, 'No tool output found for function call c'],
    [{ input: [output] }, 'No tool call found for function call output with call_id c'],
    [{ input: [{ ...call, name: 'a b' }, output] }, 'input[0].name'],
    [{ input: [{ ...call, id: 'toolu_1' }, output] }, "begins with 'fc'"],
    [{ input: [call, { ...output, call_id: 'c'.repeat(65) }] }, 'maximum length 64'],
    [{ input: [{ role: 'assistant', content: [{ type: 'input_text', text: '' }] }] }, 'input[0].content[0]'],
    [{ input: [{ role: 'user', content: [{ type: 'output_text', text: '' }] }] }, 'input[0].content[0]'],
    [{ input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }, 'without its required following item'],
  ])('%j', async (members, words) => {
    const { status, body } = await ask('m', members);
    expect([status, body]).toEqual([400, expect.stringContaining(words)]);
  });

  test('an item that is not kept is not found', async () => {
    expect(await ask('m', { input: [{ type: 'item_reference', id: 'msg_1' }] })).toMatchObject({
      status: 404,
    });
  });
});

describe('errors and faults', () => {
  test.each([
    ['m+fault=429', 429, 'rate_limit_exceeded'],
    ['m+fault=503', 503, null],
    ['m+fault=400,code=context_length_exceeded', 400, 'context_length_exceeded'],
  ])('%s is a %i in the envelope the vendor shares', async (model, status, code) => {
    const answer = await ask(model);
    expect(answer.status).toBe(status);
    expect(parseJson(answer.body)).toMatchObject({ error: { code, message: anyString } });
    expect(answer.body).not.toContain('"param":"messages"');
  });

  test('an error in a stream is told twice, under the numbers that follow', async () => {
    const all = await events('m+fault=error-mid-stream,at=2,code=rate_limit_exceeded');
    expect(namesOf(all).slice(-3)).toEqual(['output_text.delta', 'error', 'failed']);
    expect(all.at(-2)).toMatchObject({ error: { code: 'rate_limit_exceeded', param: null } });
    expect(all.at(-1)).toMatchObject({
      response: {
        id: recordOf(all[0]?.['response'])['id'],
        status: 'failed',
        error: { code: 'rate_limit_exceeded' },
      },
    });
  });

  test.each([
    ['before-content', 'content_part.added', 'output_text.delta'],
    ['mid-stream', 'output_text.delta', 'output_text.done'],
    ['before-done', 'output_item.done', 'response.completed'],
  ])('a reset %s comes after %s', async (place, seen, unseen) => {
    const raw = openRaw(simulator.origin);
    raw.send(responsesRequest(`m+fault=reset-${place}`, stream));
    expect(await raw.farewell).toBe('RST');
    expect(raw.received.toString()).toContain(seen);
    expect(raw.received.toString()).not.toContain(unseen);
    raw.close();
  });
});

test('input_tokens counts and answers nothing', async () => {
  const count = postRequest('/v1/responses/input_tokens', {
    messages: undefined,
    model: 'm',
    input: 'one two',
  });
  const body = '{"object":"response.input_tokens","input_tokens":2}';
  expect(await exchange(simulator.origin, count)).toMatchObject({ status: 200, body });
});
