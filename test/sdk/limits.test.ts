import { performance } from 'node:perf_hooks';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { APICallError, generateText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { entriesOf } from '../support/ledger.ts';

/** A caller of each surface that has spent its budget, one whose only place is taken, and one that is to come back another day. */
const groups = {
  openai: 'completions',
  responses: 'completions',
  anthropic: 'messages',
  genai: 'native',
} as const;
type Sdk = keyof typeof groups;
const sdks: readonly Sdk[] = ['openai', 'responses', 'anthropic', 'genai'];

type MoreKeys = NonNullable<TestGatewayOptions['moreKeys']>;

function keysOf(sdk: string, group: (typeof groups)[Sdk]): readonly (readonly [string, MoreKeys[string]])[] {
  return [
    [`${sdk}-spent`, { group, budgets: { total: '0' } }],
    [`${sdk}-busy`, { group, limits: { concurrency: 1 } }],
    [`${sdk}-tomorrow`, { group, limits: { requestsPerDay: 1 } }],
    [`${sdk}-short`, { group, budgets: { total: '0.0012' } }],
  ];
}

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({
    channels: [
      {
        id: 'simulated',
        origin: simulator.origin,
        models: {
          m: 'sim-fast+tokens=3',
          slow: 'sim-fast+tokens=3,ttft=300ms',
          long: 'sim-fast+tokens=5000,rate=1000/s',
        },
      },
    ],
    prices: { long: { input: '0', output: '1' } },
    moreKeys: Object.fromEntries([
      ...sdks.flatMap((sdk) => keysOf(sdk, groups[sdk])),
      ...keysOf('vercel', 'completions'),
    ]),
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const words = 'How far is the moon?';
const messages = [{ role: 'user' as const, content: words }];

/** One call by the SDK that a key is named after. */
function call(sdk: Sdk, keyId: string, model: string, maxRetries: number): Promise<unknown> {
  const apiKey = gateway.moreKeys[keyId] ?? '';
  switch (sdk) {
    case 'openai':
      return new OpenAI({ apiKey, baseURL: `${gateway.apiOrigin}/v1`, maxRetries }).chat.completions.create({
        model,
        messages,
      });
    case 'responses':
      return new OpenAI({ apiKey, baseURL: `${gateway.apiOrigin}/v1`, maxRetries }).responses.create({
        model,
        input: words,
      });
    case 'anthropic':
      return new Anthropic({ apiKey, baseURL: gateway.apiOrigin, maxRetries }).messages.create({
        model,
        messages,
        max_tokens: 100,
      });
    case 'genai':
      return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.apiOrigin } }).models.generateContent({
        model,
        contents: words,
      });
  }
}

async function failure(made: Promise<unknown>): Promise<unknown> {
  try {
    await made;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

const callsOf = async (keyId: string) => (await entriesOf(gateway, { keyId })).length;

describe('402', () => {
  test.each(['openai', 'responses'] as const)('%s: an error of the API, and no retry', async (sdk) => {
    const error = await failure(call(sdk, `${sdk}-spent`, 'm', 3));
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ status: 402, code: 'insufficient_balance', type: 'insufficient_quota' });
    expect(await callsOf(`${sdk}-spent`)).toBe(1);
  });

  test('anthropic: an error of billing, and no retry', async () => {
    const error = await failure(call('anthropic', 'anthropic-spent', 'm', 3));
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ status: 402, error: { error: { type: 'billing_error' } } });
    expect(await callsOf('anthropic-spent')).toBe(1);
  });

  test('genai: an error of the API', async () => {
    const error = await failure(call('genai', 'genai-spent', 'm', 0));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 402 });
    expect(await callsOf('genai-spent')).toBe(1);
  });

  test('vercel: an error that it does not retry', async () => {
    const provider = createOpenAI({
      apiKey: gateway.moreKeys['vercel-spent'] ?? '',
      baseURL: `${gateway.apiOrigin}/v1`,
    });
    const error = await failure(generateText({ model: provider('m'), prompt: words, maxRetries: 3 }));
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: 402, isRetryable: false });
    expect(await callsOf('vercel-spent')).toBe(1);
  });
});

describe('429', () => {
  test.each(sdks)('%s: the class of rate limits', async (sdk) => {
    await call(sdk, `${sdk}-tomorrow`, 'm', 0);
    const error = await failure(call(sdk, `${sdk}-tomorrow`, 'm', 3));
    expect(error).toMatchObject({ status: 429 });
    const classes = {
      openai: OpenAI.RateLimitError,
      responses: OpenAI.RateLimitError,
      anthropic: Anthropic.RateLimitError,
      genai: ApiError,
    };
    expect(error).toBeInstanceOf(classes[sdk]);
    // It would be hours: none of them comes back in vain, or sleeps until then.
    expect(await callsOf(`${sdk}-tomorrow`)).toBe(2);
  });

  test.each(['openai', 'responses', 'anthropic'] as const)(
    '%s: waits as long as it is told, and then is served',
    async (sdk) => {
      const keyId = `${sdk}-busy`;
      const first = call(sdk, keyId, 'slow', 0);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const begunAt = performance.now();
      await call(sdk, keyId, 'm', 1);
      // `retry-after` is a second, and is never told short.
      expect(performance.now() - begunAt).toBeGreaterThan(990);
      await first;
      expect(await callsOf(keyId)).toBe(3);
    },
  );
});

describe('a stream that reaches a budget', () => {
  test('openai: an error of the API in its midst', async () => {
    const client = new OpenAI({
      apiKey: gateway.moreKeys['openai-short'] ?? '',
      baseURL: `${gateway.apiOrigin}/v1`,
    });
    const stream = await client.chat.completions.create({ model: 'long', messages, stream: true });
    const error = await failure(Array.fromAsync(stream));
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ code: 'insufficient_balance' });
  });

  test('responses: an event of failure, which ends it', async () => {
    const client = new OpenAI({
      apiKey: gateway.moreKeys['responses-short'] ?? '',
      baseURL: `${gateway.apiOrigin}/v1`,
    });
    const stream = await client.responses.create({ model: 'long', input: words, stream: true });
    const seen: string[] = [];
    const error = await failure(
      (async () => {
        for await (const event of stream) seen.push(JSON.stringify(event));
      })(),
    );
    expect(String(error) + (seen.at(-1) ?? '')).toMatch(/insufficient_balance|used up/);
    expect(seen.join()).not.toContain('response.completed');
  });

  test('anthropic: an error of billing in its midst', async () => {
    const client = new Anthropic({
      apiKey: gateway.moreKeys['anthropic-short'] ?? '',
      baseURL: gateway.apiOrigin,
    });
    const stream = client.messages.stream({ model: 'long', messages, max_tokens: 5_000 });
    const error = await failure(stream.finalMessage());
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ error: { error: { type: 'billing_error' } } });
  });

  test('genai: an error in its midst', async () => {
    const client = new GoogleGenAI({
      apiKey: gateway.moreKeys['genai-short'] ?? '',
      httpOptions: { baseUrl: gateway.apiOrigin },
    });
    const stream = await client.models.generateContentStream({ model: 'long', contents: words });
    const error = await failure(Array.fromAsync(stream));
    expect(error).toBeInstanceOf(ApiError);
    expect(String(error)).toContain('insufficient_balance');
  });
});
