import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { channelEach, openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { exchange, nativeRequest } from './support/raw-http.ts';
import { jsonScript, type ScriptedUpstream, startScriptedUpstream } from './support/scripted-upstream.ts';

const actions = {
  json: 'generateContent',
  sse: 'streamGenerateContent?alt=sse',
  array: 'streamGenerateContent',
};
const modes = ['json', 'sse', 'array'] as const;

/** Rows of fallback-table.test.ts, which asks for whole answers and events, within an array. */
const rescued = [
  '429',
  '503',
  'html',
  'empty',
  'reset-before-head',
  'reset-before-content',
  'end-before-content',
  'cut-before-content',
  'garble-before-content',
  'error-before-content',
].map((fault) => ({ fault, model: fault }));

const broken = [
  'reset-mid-stream',
  'end-mid-stream',
  'cut-mid-stream',
  'garble-mid-stream',
  'error-mid-stream',
  'reset-before-done',
  'error-before-done',
].map((fault) => ({ fault, model: fault }));

const unclosed = { fault: 'end-before-done', model: 'end-before-done' };

const cached = 'sim+prompt=1000,cached=700,tokens=9,reasoning=4,hidden-reasoning=5';

let simulator: Simulator;
let scripted: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  scripted = await startScriptedUpstream();
  const { origin } = simulator;
  const failing = [...rescued, ...broken, unclosed].map(
    ({ model, fault }) => [model, `sim+fault=${fault}`] as const,
  );
  const own = {
    cached,
    'no-usage': 'sim+usage=never,tokens=9',
    'unknown-vectors': 'sim+usage=never',
    malformed: 'sim+finish=MALFORMED_FUNCTION_CALL',
    blank: 'sim+tokens=0,finish=null',
    limited: 'sim+fault=429,retry-after=info:34.4s',
  };
  gateway = await openTestGateway({
    channels: [
      { id: 'own', origin, models: own },
      ...channelEach(origin, Object.fromEntries(failing)),
      {
        id: 'good',
        origin,
        models: Object.fromEntries(rescued.map(({ model }) => [model, 'well+tokens=7'])),
      },
      { id: 'scripted', origin: scripted.origin, models: { classes: 'classes' } },
      {
        id: 'other',
        origin: scripted.origin,
        models: { 'not-native': 'm' },
        protocols: { images: '/images/{operation}' },
      },
    ],
    prices: {
      cached: { input: '3', output: '15', cacheRead: '0.3' },
      classes: {
        input: '3',
        output: '15',
        audioInput: '7',
        imageInput: '4',
        imageOutput: '30',
        audioOutput: '40',
      },
    },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
  scripted.close();
});

const contents = [{ role: 'user', parts: [{ text: 'one two three' }] }];

async function call(model: string, action: string, body: object = { contents }) {
  const answer = await exchange(
    gateway.apiOrigin,
    nativeRequest(gateway.keys.native, `${model}:${action}`, body),
  );
  const entry = await entryOf(gateway, answer.headers.get('x-trace-id'));
  return { answer, text: answer.body.toString(), entry };
}

describe('what is charged', () => {
  test.each(modes)('thoughts, and the cache within the prompt, to the nano-dollar (%s)', async (mode) => {
    const { entry } = await call('cached', actions[mode]);
    expect(entry).toMatchObject({
      surface: 'generate-content',
      status: 'complete',
      usageSource: 'upstream',
      usage: { inputFresh: 300, inputCacheRead: 700, output: 18, outputReasoning: 9 },
      chargeNanoUsd: BigInt(300 * 3000 + 700 * 300 + 18 * 15_000),
    });
  });

  test('every kind of token, each at its price', async () => {
    const usageMetadata = {
      promptTokenCount: 100,
      toolUsePromptTokenCount: 10,
      candidatesTokenCount: 60,
      thoughtsTokenCount: 5,
      totalTokenCount: 175,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 50 },
        { modality: 'AUDIO', tokenCount: 20 },
        { modality: 'IMAGE', tokenCount: 30 },
      ],
      candidatesTokensDetails: [
        { modality: 'IMAGE', tokenCount: 40 },
        { modality: 'AUDIO', tokenCount: 8 },
      ],
    };
    const candidates = [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }];
    scripted.script = jsonScript(JSON.stringify({ candidates, usageMetadata }));
    const { entry } = await call('classes', 'generateContent');
    const input = 60 * 3000 + 20 * 7000 + 30 * 4000;
    expect(entry.chargeNanoUsd).toBe(BigInt(input + 17 * 15_000 + 40 * 30_000 + 8 * 40_000));
  });

  test.each(modes)('an estimate where usage never came, and the entry says so (%s)', async (mode) => {
    const { entry } = await call('no-usage', actions[mode]);
    expect(entry).toMatchObject({ status: 'complete', usageSource: 'estimated' });
    expect(entry.chargeNanoUsd).toBeGreaterThan(0n);
  });

  test('vectors by an estimate of what went in where the upstream does not count', async () => {
    const content = { parts: [{ text: 'one two three' }] };
    const { entry } = await call('unknown-vectors', 'embedContent', { content });
    expect(entry).toMatchObject({ status: 'complete', usageSource: 'estimated', usage: { output: 0 } });
    expect(entry.chargeNanoUsd).toBe(BigInt(entry.usage.inputFresh) * 1000n);
    expect(entry.usage.inputFresh).toBeGreaterThan(0);
  });

  test.each(modes)(
    'nothing for a model that ended in an error, which the caller is shown (%s)',
    async (mode) => {
      const { text, entry, answer } = await call('malformed', actions[mode]);
      expect(answer).toMatchObject({ status: 200, isWhole: true });
      expect(text).toContain('MALFORMED_FUNCTION_CALL');
      expect(entry).toMatchObject({ status: 'failed', unbilledReason: 'upstream_failed', chargeNanoUsd: 0n });
    },
  );

  test.each(modes)('nothing for an answer that says nothing at all (%s)', async (mode) => {
    const { answer, entry } = await call('blank', actions[mode]);
    expect(answer.status).toBe(502);
    expect(entry).toMatchObject({ status: 'failed', chargeNanoUsd: 0n });
  });
});

/** The model's words, in all chunks of an array. */
function textOf(array: string): string {
  const chunks: readonly unknown[] = [JSON.parse(array)].flat();
  return chunks.flatMap((chunk) => JSON.stringify(chunk).match(/(?<="text":")[^"]*/g) ?? []).join('');
}

describe('a failure before any content', () => {
  test.each(rescued)('$fault is rescued within an array', async ({ model }) => {
    const { answer, text, entry } = await call(model, actions.array);
    expect(answer).toMatchObject({ status: 200, isWhole: true });
    expect(answer.headers.get('x-headgate-attempts')).toBe('2');
    expect(textOf(text)).toBe('This is a simulated answer; no real');
    expect(entry).toMatchObject({ channelId: 'good', status: 'complete', chargeNanoUsd: 17_000n });
  });

  test('that names its delay is told with it', async () => {
    const { answer, text } = await call('limited', 'generateContent');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '35']);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } });
  });
});

describe('a failure after content', () => {
  test.each(broken)('$fault ends an array as an error and never as if it were whole', async ({ model }) => {
    const { answer, text, entry } = await call(model, actions.array);
    expect(answer).toMatchObject({ status: 200, isWhole: false });
    const error = /,\r\n(\{"error":[^\r\n]*\})\s*$/.exec(text)?.[1] ?? '';
    expect(JSON.parse(error)).toMatchObject({ error: { code: 502, status: 'UNAVAILABLE' } });
    expect(text.match(/"error":/g)).toHaveLength(1);
    expect(() => void JSON.parse(text)).toThrow();
    expect(entry).toMatchObject({ status: 'failed', chargeNanoUsd: 0n });
  });
});

test('an array that has finished and lacks its bracket gets it', async () => {
  const { answer, text, entry } = await call(unclosed.model, actions.array);
  expect(answer).toMatchObject({ status: 200, isWhole: true });
  expect(Array.isArray(JSON.parse(text))).toBe(true);
  expect(text).toMatch(/"finishReason": ?"STOP"/);
  expect(entry).toMatchObject({
    status: 'complete',
    unbilledReason: null,
    attempts: [{ edits: ['stream-end'] }],
  });
});

describe('a count where no channel speaks the protocol', () => {
  test('is an estimate, and says so', async () => {
    const { answer, text, entry } = await call('not-native', 'countTokens');
    expect([answer.status, answer.headers.get('x-headgate-token-count')]).toEqual([200, 'estimated']);
    expect(text).toMatch(/^\{"totalTokens":\d+\}$/);
    expect(entry).toMatchObject({ status: 'complete', unbilledReason: 'token_count', attempts: [] });
  });
});
