import { type Simulator, startSimulator } from '@headgate/simulator';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf, entryOfModel } from './support/ledger.ts';

/** Public ids and what the simulator does under them. */
const models = {
  plain: 'sim+tokens=12',
  tools: 'sim+calls=2',
  slow: 'sim+tokens=500,rate=100/s',
  'late-head': 'sim+ttft=5s',
  'status-400': 'sim+fault=400',
  'status-429': 'sim+fault=429,retry-after=7s',
  'status-500': 'sim+fault=500',
  'cut-in-the-middle': 'sim+fault=reset-mid-stream',
};

let simulator: Simulator;
let gateway: TestGateway;
/** The SDK pointed at the gateway, and the same SDK pointed at the upstream itself. */
let client: OpenAI;
let original: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({ channels: [{ id: 'a', origin: simulator.origin, models }] });
  client = new OpenAI({
    apiKey: gateway.keys.completions,
    baseURL: `${gateway.apiOrigin}/v1`,
    maxRetries: 0,
  });
  original = new OpenAI({ apiKey: 'sk-any', baseURL: `${simulator.origin}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const messages = [{ role: 'user' as const, content: 'How far is the moon?' }];
const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } },
  },
};

type Body = Omit<OpenAI.ChatCompletionCreateParams, 'messages' | 'stream' | 'model'> & {
  model: keyof typeof models;
};

/**
 * All that must be equal in two answers to the same request. The gateway always asks the upstream for usage, and then its
 * chunks say that there is none yet, as they would have to a caller who asked.
 */
function withoutIdentity({
  id,
  created,
  usage,
  ...rest
}: OpenAI.ChatCompletion | OpenAI.ChatCompletionChunk): unknown {
  expect(created).toBeTypeOf('number');
  const [, serial = ''] = /^chatcmpl-(\w+)$/.exec(id) ?? expect.fail(`not an id: ${id}`);
  // The ids of tool calls are made from the answer's own.
  return JSON.parse(JSON.stringify(usage ? { ...rest, usage } : rest).replaceAll(serial, 'serial'));
}

async function createOnBoth(body: Body) {
  const answer = await client.chat.completions.create({ ...body, messages, stream: false });
  const expected = await original.chat.completions.create({
    ...body,
    model: models[body.model],
    messages,
    stream: false,
  });
  expect(withoutIdentity(answer)).toEqual(withoutIdentity(expected));
  return answer;
}

async function streamOnBoth(body: Body) {
  const answer = await Array.fromAsync(
    await client.chat.completions.create({ ...body, messages, stream: true }),
  );
  const upstream = { ...body, model: models[body.model], messages, stream: true } as const;
  const expected = await Array.fromAsync(await original.chat.completions.create(upstream));
  expect(new Set(answer.map(({ id }) => id)).size).toBe(1);
  expect(answer.map(withoutIdentity)).toEqual(expected.map(withoutIdentity));
  return answer;
}

describe('answers are those of the upstream', () => {
  test('models are listed and retrieved', async () => {
    const ids = await Array.fromAsync(client.models.list(), (model) => model.id);
    expect(ids).toEqual(Object.keys(models).toSorted());
    const model = await client.models.retrieve('plain');
    expect(model).toMatchObject({ id: 'plain', object: 'model' });
    expect(model.owned_by).toBeTypeOf('string');
    expect(model.created).toBeTypeOf('number');
    await expect(client.models.retrieve('no/such:model')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('a whole answer', async () => {
    const answer = await createOnBoth({ model: 'plain' });
    expect(answer.choices[0]?.message.content?.split(' ')).toHaveLength(12);
    expect(answer.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 12, total_tokens: 17 });
  });

  test('a stream', async () => {
    const chunks = await streamOnBoth({ model: 'plain' });
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.delta.content ?? []).filter(Boolean)).toHaveLength(12);
  });

  test('a stream reports usage exactly when asked', async () => {
    const silent = await streamOnBoth({ model: 'plain' });
    expect(silent.every((chunk) => chunk.choices.length === 1 && !chunk.usage)).toBe(true);
    const unasked = await streamOnBoth({ model: 'plain', stream_options: { include_usage: false } });
    expect(unasked).toHaveLength(silent.length);
    const asked = await streamOnBoth({ model: 'plain', stream_options: { include_usage: true } });
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 12 } });
    expect(asked.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  });

  test('several choices, whole and streamed', async () => {
    expect((await createOnBoth({ model: 'plain', n: 3 })).choices.map(({ index }) => index)).toEqual([
      0, 1, 2,
    ]);
    const chunks = await streamOnBoth({ model: 'plain', n: 3 });
    expect(new Set(chunks.flatMap(({ choices }) => choices.map(({ index }) => index)))).toEqual(
      new Set([0, 1, 2]),
    );
  });

  test('parallel tool calls, whole and streamed', async () => {
    const answer = await createOnBoth({ model: 'tools', tools: [weather] });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(answer.choices[0]?.message.tool_calls).toHaveLength(2);
    const chunks = await streamOnBoth({ model: 'tools', tools: [weather] });
    const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(new Set(calls.map(({ index }) => index))).toEqual(new Set([0, 1]));
    expect((await entryOfLatest('tools')).finishReason).toBe('tool-calls');
  });

  test('structured output, whole and streamed', async () => {
    const distance = z.object({ far: z.boolean(), unit: z.enum(['km', 'mi']) });
    const response_format = zodResponseFormat(distance, 'distance');
    const parsed = await client.chat.completions.parse({ model: 'plain', messages, response_format });
    expect(parsed.choices[0]?.message.parsed).toEqual({ far: true, unit: 'km' });
    await streamOnBoth({ model: 'plain', response_format });
  });

  test('the stream helper puts calls together and runs tools', async () => {
    const final = await client.chat.completions
      .stream({ model: 'tools', messages, tools: [weather] })
      .finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls).toHaveLength(2);
    const asked: string[] = [];
    const runner = client.chat.completions.runTools({
      model: 'tools',
      messages,
      stream: true,
      tools: [
        {
          type: 'function',
          function: {
            ...weather.function,
            parse: (text: string) => z.object({ city: z.string() }).parse(JSON.parse(text)),
            function: (input: { readonly city: string }) => {
              asked.push(input.city);
              return 'sunny';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain('The tool returned: “sunny”');
    expect(asked).toHaveLength(2);
  });
});

async function entryOfLatest(model: string) {
  const entries = await Array.fromAsync(gateway.store.exportEntries({ model }));
  const [latest] = entries.slice(-1);
  if (latest === undefined) throw new Error(`no call of ${model}`);
  return latest;
}

/** The SDK throws this. */
async function failureOf(promise: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const failure: unknown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (failure instanceof OpenAI.APIError) return failure;
  throw new Error('the call did not fail as the SDK fails', { cause: failure });
}

function create(model: string, using = client) {
  return using.chat.completions.create({ model, messages });
}

describe('failures are of the class the SDK has for them', () => {
  test('401 for a wrong key, on every call and without a retry', async () => {
    let tries = 0;
    const wrong = new OpenAI({
      apiKey: `${gateway.keys.completions}x`,
      baseURL: `${gateway.apiOrigin}/v1`,
      fetch: (...call: Parameters<typeof fetch>) => {
        tries++;
        return fetch(...call);
      },
    });
    const failure = await failureOf(create('plain', wrong));
    expect(failure).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(failure).toMatchObject({ status: 401, type: 'invalid_request_error', code: 'invalid_api_key' });
    expect(failure.headers?.get('x-should-retry')).toBe('false');
    expect(tries).toBe(1);
    expect(await failureOf(wrong.models.retrieve('plain'))).toBeInstanceOf(OpenAI.AuthenticationError);
  });

  test.each([
    ['no-such-model', OpenAI.NotFoundError, { status: 404, code: 'model_not_found', param: 'model' }],
    [
      'status-400',
      OpenAI.BadRequestError,
      { status: 400, code: 'invalid_value', type: 'invalid_request_error' },
    ],
    [
      'status-429',
      OpenAI.RateLimitError,
      { status: 429, code: 'upstream_rate_limited', type: 'rate_limit_error' },
    ],
    ['status-500', OpenAI.InternalServerError, { status: 502, code: 'upstream_error', type: 'server_error' }],
  ])('%s', async (model, kind, members) => {
    const failure = await failureOf(create(model));
    expect(failure).toBeInstanceOf(kind);
    expect(failure).toMatchObject(members);
    expect(failure.requestID).toBe(failure.headers?.get('x-trace-id'));
    expect((await entryOf(gateway, failure.requestID ?? '')).httpStatus).toBe(members.status);
    const streamed = await failureOf(client.chat.completions.create({ model, messages, stream: true }));
    expect(streamed).toBeInstanceOf(kind);
  });

  test('a request that is not valid names the member', async () => {
    const body = { model: 'plain', messages, n: 0 };
    expect(await failureOf(client.chat.completions.create(body))).toMatchObject({ status: 400, param: 'n' });
  });

  test('429 tells when to come back, and the SDK believes it', async () => {
    const failure = await failureOf(create('status-429'));
    expect(Number(failure.headers?.get('retry-after'))).toBeGreaterThan(0);
    expect(failure.headers?.get('x-should-retry')).toBeNull();
  });

  test('5xx is tried again by the SDK, and every try is an entry', async () => {
    const model = 'status-500';
    const before = (await Array.fromAsync(gateway.store.exportEntries({ model }))).length;
    const patient = new OpenAI({ apiKey: client.apiKey, baseURL: client.baseURL, maxRetries: 1 });
    expect(await failureOf(create(model, patient))).toBeInstanceOf(OpenAI.InternalServerError);
    expect(await Array.fromAsync(gateway.store.exportEntries({ model }))).toHaveLength(before + 2);
  });

  test('a stream that breaks off throws, after what had come', async () => {
    const stream = await client.chat.completions.create({
      model: 'cut-in-the-middle',
      messages,
      stream: true,
    });
    let words = 0;
    const failure = await failureOf(
      (async () => {
        for await (const chunk of stream) words += chunk.choices[0]?.delta.content ? 1 : 0;
      })(),
    );
    expect(words).toBe(3);
    expect(failure).toMatchObject({ code: 'upstream_error', type: 'server_error' });
  });

  test('the time-out of the SDK ends the call upstream too', async () => {
    const hasty = new OpenAI({ apiKey: client.apiKey, baseURL: client.baseURL, maxRetries: 0, timeout: 200 });
    expect(await failureOf(create('late-head', hasty))).toBeInstanceOf(OpenAI.APIConnectionTimeoutError);
    const entry = await entryOfModel(gateway, 'late-head');
    expect(entry).toMatchObject({
      status: 'caller_gone',
      unbilledReason: 'caller_gone_before_content',
      chargeNanoUsd: 0n,
    });
  });
});

test('the request id the SDK shows is the trace id, whole and streamed', async () => {
  const answer = await client.chat.completions.create({ model: 'plain', messages });
  expect(answer).toHaveProperty('_request_id', expect.stringMatching(/^[0-9a-f]{32}$/));
  const { response, request_id } = await client.chat.completions
    .create({ model: 'plain', messages })
    .withResponse();
  expect(request_id).toBe(response.headers.get('x-trace-id'));
  const streamed = await client.chat.completions
    .create({ model: 'plain', messages, stream: true })
    .withResponse();
  await Array.fromAsync(streamed.data);
  expect(streamed.request_id).toBe(streamed.response.headers.get('x-trace-id'));
  expect((await entryOf(gateway, streamed.request_id ?? '')).status).toBe('complete');
});

test('an abort in the middle of a stream reaches the upstream within 100 ms', async () => {
  const stream = await client.chat.completions.create({ model: 'slow', messages, stream: true });
  let abortedAt = Number.POSITIVE_INFINITY;
  for await (const chunk of stream) {
    if (!chunk.choices[0]?.delta.content) continue;
    abortedAt = performance.now();
    stream.controller.abort();
  }
  await simulator.until(
    ({ body, outcome }) => outcome === 'client-gone' && Buffer.from(body).includes('rate=100/s'),
  );
  expect(performance.now() - abortedAt).toBeLessThan(100);
  expect(await entryOfModel(gateway, 'slow')).toMatchObject({ status: 'caller_gone', unbilledReason: null });
});
