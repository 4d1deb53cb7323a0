import { ApiError, FinishReason, type GenerateContentParameters, GoogleGenAI, Type } from '@google/genai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { latestEntryOfModel } from '../support/ledger.ts';
import {
  bodiesOf,
  type Feature,
  modelOf,
  openProtocolSite,
  type ProtocolSite,
  upstreams,
} from '../support/protocol-site.ts';

let site: ProtocolSite;
let client: GoogleGenAI;

beforeAll(async () => {
  site = await openProtocolSite();
  client = new GoogleGenAI({
    apiKey: site.gateway.keys.native,
    httpOptions: { baseUrl: site.gateway.apiOrigin },
  });
});
afterAll(async () => site[Symbol.asyncDispose]());

const contents = 'How far is the moon?';
const weather = {
  name: 'weather',
  description: 'Tells the weather.',
  parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ['city'] },
};
const clock = {
  name: 'clock',
  parametersJsonSchema: { type: 'object', properties: { zone: { type: 'string' } } },
};
const tools = [{ functionDeclarations: [weather, clock] }];
const thinkingConfig = { includeThoughts: true };

async function streamed(params: GenerateContentParameters) {
  return Array.fromAsync(await client.models.generateContentStream(params));
}

describe.each(upstreams)('on %s', (upstream) => {
  const asked = (feature: Feature) => ({ model: modelOf(feature, upstream), contents });

  test('has text, whole and streamed', async () => {
    const params = { ...asked('plain'), config: { systemInstruction: 'Be brief.' } };
    const whole = await client.models.generateContent(params);
    expect(whole.text).toBe('This is a simulated');
    expect(whole.usageMetadata).toMatchObject({
      promptTokenCount: 7,
      candidatesTokenCount: 4,
      totalTokenCount: 11,
    });
    const chunks = await streamed(params);
    expect(chunks.flatMap(({ text }) => text ?? []).filter((text) => text !== '')).toEqual([
      'This',
      ' is',
      ' a',
      ' simulated',
    ]);
    expect(chunks.at(-1)).toMatchObject({
      candidates: [{ finishReason: FinishReason.STOP }],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 4 },
    });
  });

  test.each([
    ['tools', false],
    ['tools', true],
    ['thinking-tools', false],
    ['thinking-tools', true],
  ] as const)('chats with tools in parallel (%s, stream: %s)', async (feature, stream) => {
    const chat = client.chats.create({
      model: modelOf(feature, upstream),
      config: { tools, thinkingConfig },
    });
    const say = async (message: Parameters<typeof chat.sendMessage>[0]['message']) =>
      stream
        ? Array.fromAsync(await chat.sendMessageStream({ message }))
        : [await chat.sendMessage({ message })];
    const calls = (await say(contents)).flatMap(({ functionCalls }) => functionCalls ?? []);
    expect(calls.map(({ name, args }) => [name, args])).toEqual([
      ['weather', { city: 'sample city' }],
      ['clock', { zone: 'sample zone' }],
    ]);
    const results = calls.map(({ id, name }) => ({
      functionResponse: { ...(id && { id }), name: name ?? '', response: { output: `result of ${name}` } },
    }));
    const last = await say(results);
    expect(last.flatMap(({ functionCalls }) => functionCalls ?? [])).toEqual([]);
    expect(last.map(({ text }) => text ?? '').join('')).toMatch(/The tool returned: “.*result of clock.*”/);
    const received = bodiesOf(site.simulator).at(-1);
    expect(received).toContain('result of weather');
  });

  test('shows a picture', async () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
    const { usageMetadata } = await client.models.generateContent({
      ...asked('vision'),
      contents: [{ role: 'user', parts: [{ text: 'What is this?' }, picture] }],
    });
    expect(usageMetadata?.promptTokenCount).toBe(103);
  });

  test.each([
    {
      responseSchema: {
        type: Type.OBJECT,
        properties: { days: { type: Type.INTEGER }, unit: { type: Type.STRING, enum: ['km', 'mi'] } },
        required: ['days', 'unit'],
      },
    },
    {
      responseJsonSchema: {
        type: 'object',
        properties: { days: { type: 'integer' }, unit: { enum: ['km', 'mi'] } },
        required: ['days', 'unit'],
        additionalProperties: false,
      },
    },
  ])('has structure as of %j', async (schema) => {
    const params = { ...asked('schema'), config: { responseMimeType: 'application/json', ...schema } };
    const whole = await client.models.generateContent(params);
    expect(JSON.parse(whole.text ?? '')).toEqual({ days: 1, unit: 'km' });
    const text = (await streamed(params)).map((chunk) => chunk.text ?? '').join('');
    expect(JSON.parse(text)).toEqual({ days: 1, unit: 'km' });
  });

  test('sees thoughts', async () => {
    const params = { ...asked('thinking'), config: { thinkingConfig } };
    const whole = await client.models.generateContent(params);
    const parts = whole.candidates?.[0]?.content?.parts ?? [];
    expect(parts.filter(({ thought }) => thought)).toMatchObject([{ text: 'This is simulated' }]);
    expect(whole.text).toBe('This is');
    expect(whole.usageMetadata).toMatchObject({ candidatesTokenCount: 2, thoughtsTokenCount: 3 });
    const chunks = await streamed(params);
    const thoughts = chunks
      .flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
      .filter(({ thought }) => thought);
    expect(thoughts.map(({ text }) => text).join('')).toBe('This is simulated');
    expect(chunks.at(-1)?.usageMetadata).toMatchObject({ candidatesTokenCount: 2, thoughtsTokenCount: 3 });
  });

  test.each([
    ['short', { maxOutputTokens: 16 }, FinishReason.MAX_TOKENS],
    ['refused', {}, FinishReason.SAFETY],
  ] as const)('knows why %s stopped', async (feature, config, reason) => {
    const params = { ...asked(feature), config };
    const whole = await client.models.generateContent(params);
    expect(whole.candidates?.[0]?.finishReason).toBe(reason);
    const chunks = await streamed(params);
    expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe(reason);
  });

  test('counts tokens', async () => {
    const { totalTokens } = await client.models.countTokens(asked('schema'));
    // Another protocol has no such endpoint: then it is an estimate.
    expect(totalTokens).toBeGreaterThan(4);
    expect(totalTokens).toBeLessThan(upstream === 'generate-content' ? 6 : 40);
  });

  test.each([
    ['error-400', 400, 'INVALID_ARGUMENT'],
    ['error-429', 429, 'RESOURCE_EXHAUSTED'],
    ['error-503', 502, 'UNAVAILABLE'],
  ] as const)('knows the error of %s', async (feature, status, word) => {
    for (const call of [
      () => client.models.generateContent(asked(feature)),
      () => streamed(asked(feature)),
    ]) {
      const thrown: unknown = await call().catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(ApiError);
      expect(thrown).toMatchObject({ status, message: expect.stringContaining(word) as unknown });
    }
  });

  test('throws when a stream breaks off, after what had come', async () => {
    const words: string[] = [];
    const read = async () => {
      for await (const { text } of await client.models.generateContentStream(asked('cut')))
        if (text) words.push(text);
    };
    await expect(read()).rejects.toThrow();
    expect(words).toHaveLength(3);
  });

  test('hangs up in the middle', async () => {
    const abort = new AbortController();
    const params = { ...asked('slow'), config: { abortSignal: abort.signal } };
    const read = async () => {
      for await (const { text } of await client.models.generateContentStream(params)) if (text) abort.abort();
    };
    await expect(read()).rejects.toThrow();
    expect(await latestEntryOfModel(site.gateway, modelOf('slow', upstream))).toMatchObject({
      status: 'caller_gone',
      unbilledReason: null,
    });
  });
});

test('lists models of every channel', async () => {
  const pager = await client.models.list({ config: { pageSize: 10 } });
  const names = await Array.fromAsync(pager, ({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(
    expect.arrayContaining(upstreams.map((upstream) => `models/${modelOf('plain', upstream)}`)),
  );
});
