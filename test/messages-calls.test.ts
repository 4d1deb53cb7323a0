import Anthropic from '@anthropic-ai/sdk';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { channelEach, openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { exchange, framesOf, request } from './support/raw-http.ts';

const models = {
  same: 'same',
  cached: 'sim+prompt=1000,cached=700,cache-write=100,cache-write-1h=50,tokens=9',
  thinking: 'sim+reasoning=3,tokens=2',
  status: 'sim+fault=400',
  cut: 'sim+fault=reset-mid-stream',
};
const rescued = ['529', 'error-before-content', 'reset-before-content', 'end-before-head', 'html'].flatMap(
  (fault) => [
    { fault, stream: false, model: fault },
    { fault, stream: true, model: `${fault}.stream` },
  ],
);

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  gateway = await openTestGateway({
    channels: [
      { id: 'own', origin, models },
      ...channelEach(
        origin,
        Object.fromEntries(rescued.map(({ model, fault }) => [model, `sim+fault=${fault}`])),
      ),
      {
        id: 'good',
        origin,
        models: Object.fromEntries(rescued.map(({ model }) => [model, 'well+tokens=7'])),
      },
      {
        id: 'images-only',
        origin,
        models: { 'images-only': 'same' },
        protocols: { images: '/images/{operation}' },
      },
    ],
    prices: {
      cached: { input: '3', output: '15', cacheRead: '0.3', cacheWrite5m: '3.75', cacheWrite1h: '6' },
    },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const prompt = [{ role: 'user' as const, content: 'one two three' }];

async function call(body: object | string, headers: readonly string[] = [], query = '') {
  const text =
    typeof body === 'string' ? body : JSON.stringify({ max_tokens: 500, messages: prompt, ...body });
  const own = [`x-api-key: ${gateway.keys.messages}`, 'content-type: application/json'];
  const target = `POST /v1/messages${query}`;
  const answer = await exchange(gateway.apiOrigin, request(target, [...own, ...headers], text));
  const traceId = answer.headers.get('request-id');
  expect(answer.headers.get('x-trace-id')).toBe(traceId);
  return { answer, text: answer.body.toString(), traceId };
}

describe('what the upstream receives', () => {
  test('is byte for byte what was sent, with the version, the betas and the query of the protocol', async () => {
    const body = `{ "model":"same" , "x-new":1.0,"max_tokens":5,"messages":[{"role":"system","content":"\\u00e9"}]}`;
    const headers = ['anthropic-version: 2031-01-01', 'anthropic-beta: unheard-of', 'x-other: secret'];
    const { answer } = await call(body, headers, '?beta=true&key=nothing');
    const received = simulator.requests.at(-1);
    expect(answer.status).toBe(200);
    expect(Buffer.from(received?.body ?? '').toString()).toBe(body);
    expect(received?.target).toBe('/v1/messages?beta=true');
    expect(received?.headers).toMatchObject({
      'anthropic-version': '2031-01-01',
      'anthropic-beta': 'unheard-of',
    });
    expect(JSON.stringify(received?.headers)).not.toMatch(/secret|x-api-key/);
  });

  test('a version that is no date never gets there', async () => {
    const { answer, text } = await call({ model: 'same' }, ['neutral-version: latest']);
    expect(answer.status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ type: 'error', error: { param: 'neutral-version' } });
  });
});

describe('what is charged', () => {
  test.each([false, true])('every class of the cache, to the nano-dollar (stream: %s)', async (stream) => {
    const { traceId } = await call({ model: 'cached', stream });
    const entry = await entryOf(gateway, traceId);
    expect(entry).toMatchObject({
      surface: 'messages',
      usageSource: 'upstream',
      chargeNanoUsd: BigInt(150 * 3000 + 700 * 300 + 100 * 3750 + 50 * 6000 + 9 * 15_000),
    });
  });
});

describe('failures', () => {
  test('speak in the envelope of the surface', async () => {
    const { answer, text, traceId } = await call({ model: 'status' });
    expect(answer.status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', trace_id: traceId },
      request_id: traceId,
    });
  });

  test.each(rescued)('$fault is rescued (stream: $stream)', async ({ model, stream }) => {
    const { answer, text, traceId } = await call({ model, stream });
    expect(answer).toMatchObject({ status: 200, isWhole: true });
    if (stream) expect(text).toMatch(/event: message_stop\n.*\n\n$/);
    expect(await entryOf(gateway, traceId)).toMatchObject({
      status: 'complete',
      chargeNanoUsd: 17_000n,
      attempts: [{ channelId: model }, { channelId: 'good', result: 'answered' }],
    });
  });

  test('a stream that breaks ends with an error event and never as if it were whole', async () => {
    const { answer, text } = await call({ model: 'cut', stream: true });
    expect(answer.isWhole).toBe(false);
    expect(text).not.toContain('message_stop');
    expect(framesOf(answer.body).at(-1)).toMatch(/^event: error\ndata: \{"type":"error".*\}\n\n$/);
  });

  test('a model that no channel can serve here, translated or not, is neither listed nor called', async () => {
    const list = await exchange(
      gateway.apiOrigin,
      request('GET /v1/models', [`x-api-key: ${gateway.keys.messages}`]),
    );
    expect(list.body.toString()).toContain('"same"');
    expect(list.body.toString()).not.toContain('images-only');
    expect((await call({ model: 'images-only' })).answer.status).toBeGreaterThanOrEqual(400);
  });
});

describe('the official SDK', () => {
  const tools = [
    {
      name: 'weather',
      input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
    },
  ];

  test('gets text, thinking and tool calls, whole and streamed', async () => {
    const client = new Anthropic({
      apiKey: gateway.keys.messages,
      baseURL: gateway.apiOrigin,
      maxRetries: 0,
    });
    const params = { model: 'thinking', max_tokens: 200, messages: prompt };
    const whole = await client.messages.create(params);
    const streamed = await client.messages.stream({ ...params, tools }).finalMessage();
    expect(whole.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    expect(streamed.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
    expect(streamed.content[1]).toMatchObject({ name: 'weather', input: { city: 'sample city' } });
    await expect(client.messages.create({ ...params, model: 'no-such' })).rejects.toBeInstanceOf(
      Anthropic.NotFoundError,
    );
  });
});
