import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseJson, recordOf } from '../json.ts';
import { exchange, messagesRequest, openRaw, postRequest } from '../raw-exchange.fixture.ts';
import type { Simulator } from '../simulator.ts';
import { startSimulator } from '../simulator.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(async () => simulator.close());

const stream = { stream: true };
const tools = [
  { name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } },
  { name: 'clock', input_schema: { type: 'object' } },
];

interface Event {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

async function ask(model: string, members: object = {}) {
  return exchange(simulator.origin, messagesRequest(model, members));
}

async function whole(model: string, members: object = {}): Promise<unknown> {
  const { status, body } = await ask(model, members);
  expect(status, body).toBe(200);
  return JSON.parse(body);
}

async function events(model: string, members: object = {}): Promise<readonly Event[]> {
  return eventsOf((await ask(model, { ...stream, ...members })).body);
}

function eventsOf(body: string): readonly Event[] {
  return body
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => {
      const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? expect.fail(frame);
      const parsed = parseJson(data);
      expect(parsed).toMatchObject({ type: name });
      return { name, data: recordOf(parsed) };
    });
}

describe('a whole answer', () => {
  test('has every member of the protocol', async () => {
    const { id, ...answer } = recordOf(await whole('m+tokens=2'));
    expect(id).toMatch(/^msg_sim\d+$/);
    expect(answer).toEqual({
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'This is', citations: null }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 3,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { thinking_tokens: 0 },
        server_tool_use: null,
        service_tier: 'standard',
      },
    });
  });

  test('names its request in the header of this protocol', async () => {
    const { headers } = await ask('m+tokens=1');
    expect(headers['request-id']).toMatch(/^req_sim\d+$/);
    expect(headers).not.toHaveProperty('x-request-id');
  });

  test('input excludes what the cache read and wrote', async () => {
    expect(await whole('m+prompt=1000,cached=700,cache-write=100,cache-write-1h=50')).toMatchObject({
      usage: {
        input_tokens: 150,
        cache_read_input_tokens: 700,
        cache_creation_input_tokens: 150,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 50 },
      },
    });
  });

  test.each([
    ['m+tokens=50', { max_tokens: 4 }, 'max_tokens'],
    ['m+refusal', {}, 'refusal'],
    ['m', { tools }, 'tool_use'],
    ['m', { tools, tool_choice: { type: 'tool', name: 'clock' } }, 'tool_use'],
    ['m', { tools, tool_choice: { type: 'none' } }, 'end_turn'],
    ['m+finish=pause_turn', {}, 'pause_turn'],
  ])('%s with %j stops with %s', async (model, members, reason) => {
    expect(await whole(model, members)).toMatchObject({ stop_reason: reason });
  });

  test('counts system text and tool results, and speaks to the last of them', async () => {
    const result = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'two words' }] };
    const messages = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'clock', input: { a: 'b' } }] },
      { role: 'user', content: [result, { type: 'image', source: {} }] },
    ];
    const answer = await whole('m', { system: [{ type: 'text', text: 'be brief' }], messages, tools });
    expect(answer).toMatchObject({ stop_reason: 'end_turn', usage: { input_tokens: 105 } });
    expect(JSON.stringify(answer)).toContain('The tool returned: “two words”');
  });

  test('satisfies a schema', async () => {
    const schema = { type: 'object', properties: { city: { const: 'Ulm' } } };
    const answer = await whole('m', { output_config: { format: { type: 'json_schema', schema } } });
    expect(answer).toMatchObject({ content: [{ text: '{"city":"Ulm"}' }] });
  });
});

describe('a stream', () => {
  test('opens, gives block after block, and says why it stopped', async () => {
    const names = (await events('m+tokens=2,reasoning=1')).map(({ name, data }) => {
      const part = data['delta'] ?? data['content_block'];
      return typeof part === 'object' && part !== null && 'type' in part ? `${name} ${part.type}` : name;
    });
    expect(names).toEqual([
      'message_start',
      'ping',
      'content_block_start thinking',
      'content_block_delta thinking_delta',
      'content_block_delta signature_delta',
      'content_block_stop',
      'content_block_start text',
      'content_block_delta text_delta',
      'content_block_delta text_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  test('makes parallel calls whose arguments come in pieces', async () => {
    const all = await events('m+calls=2', { tools });
    const starts = all.filter(({ name }) => name === 'content_block_start');
    expect(starts.map(({ data }) => data)).toMatchObject([
      { index: 0, content_block: { type: 'tool_use', name: 'weather', input: {} } },
      { index: 1, content_block: { type: 'tool_use', name: 'clock', input: {} } },
    ]);
    const json = all.map(({ data }) => {
      const delta = data['delta'];
      const isFirst = data['index'] === 0 && typeof delta === 'object' && delta !== null;
      return isFirst && 'partial_json' in delta ? String(delta.partial_json) : '';
    });
    expect(JSON.parse(json.join(''))).toEqual({ city: 'sample city' });
  });

  test('states cumulative usage at its end and a first one at its beginning', async () => {
    const all = await events('m+tokens=9,cached=1');
    expect(all[0]?.data).toMatchObject({
      message: { content: [], usage: { input_tokens: 2, cache_read_input_tokens: 1, output_tokens: 1 } },
    });
    expect(all.at(-2)?.data).toMatchObject({
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: 2, output_tokens: 9 },
    });
  });

  test.each([
    ['usage=never', false, false],
    ['usage=finish', false, true],
    ['usage=asked', true, true],
  ])('%s', async (word, first, last) => {
    const all = await events(`m+tokens=1,${word}`);
    expect(JSON.stringify(all[0]).includes('usage')).toBe(first);
    expect(JSON.stringify(all.at(-2)).includes('usage')).toBe(last);
  });
});

describe('errors and faults', () => {
  test.each([
    ['m+fault=401', 401, 'authentication_error'],
    ['m+fault=429', 429, 'rate_limit_error'],
    ['m+fault=529', 529, 'overloaded_error'],
    ['m+fault=500', 500, 'api_error'],
    ['m+fault=418', 418, 'invalid_request_error'],
    ['m+fault=400,code=context_length_exceeded', 400, 'invalid_request_error'],
  ])('%s is a %i in the envelope of the protocol', async (model, status, type) => {
    const answer = await ask(model);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ type: 'error', error: { type } });
  });

  test('a limit is required, as by the vendor', async () => {
    const { status, body } = await ask('m', { max_tokens: undefined });
    expect([status, body]).toEqual([400, expect.stringContaining('max_tokens: Field required')]);
  });

  test('an error in a stream is an event, and nothing follows it', async () => {
    const all = await events('m+fault=error-mid-stream,at=2');
    expect(all.filter(({ name }) => name === 'content_block_delta')).toHaveLength(2);
    expect(all.at(-1)).toMatchObject({ name: 'error', data: { error: { type: 'overloaded_error' } } });
  });

  test.each([
    ['before-content', 'content_block_start', 'text_delta'],
    ['mid-stream', 'text_delta', 'message_delta'],
    ['before-done', 'message_delta', 'message_stop'],
  ])('a reset %s comes after %s', async (place, seen, unseen) => {
    const raw = openRaw(simulator.origin);
    raw.send(messagesRequest(`m+fault=reset-${place}`, stream));
    expect(await raw.farewell).toBe('RST');
    expect(raw.received.toString()).toContain(seen);
    expect(raw.received.toString()).not.toContain(unseen);
    raw.close();
  });
});

test('count_tokens counts without a limit and answers nothing', async () => {
  const count = postRequest('/v1/messages/count_tokens', { model: 'm', system: 'be brief' });
  expect(await exchange(simulator.origin, count)).toMatchObject({ status: 200, body: '{"input_tokens":5}' });
});
