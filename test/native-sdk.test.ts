import { ApiError, FinishReason, type GenerateContentParameters, GoogleGenAI, Type } from '@google/genai';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOfModel } from './support/ledger.ts';

const models = {
  plain: 'sim+tokens=4',
  tools: 'sim+calls=2,reasoning=1',
  schema: 'sim',
  thinking: 'sim+reasoning=3,tokens=2',
  vision: 'sim+tokens=2',
  counted: 'sim',
  embedded: 'sim',
  short: 'sim+tokens=50',
  refused: 'sim+refusal',
  slow: 'sim+rate=20/s,tokens=2000',
  ...Object.fromEntries([400, 404, 429, 503].map((status) => [`error-${status}`, `sim+fault=${status}`])),
};

let simulator: Simulator;
let gateway: TestGateway;
let client: GoogleGenAI;

function clientFor(apiKey: string, apiVersion?: string): GoogleGenAI {
  const version = apiVersion === undefined ? {} : { apiVersion };
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.apiOrigin, ...version } });
}

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({
    channels: [
      { id: 'simulator', origin: simulator.origin, models },
      {
        id: 'chat-only',
        origin: simulator.origin,
        models: { 'chat-only': 'sim' },
        protocols: { 'chat-completions': '/chat/completions' },
      },
    ],
  });
  client = clientFor(gateway.keys.native);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const contents = 'How far is the moon?';
const weather = {
  name: 'weather',
  parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } } },
};
const tools = [{ functionDeclarations: [weather] }];

async function streamed(params: GenerateContentParameters) {
  return Array.fromAsync(await client.models.generateContentStream(params));
}

describe('the official SDK', () => {
  test.each([undefined, 'v1beta', 'v1alpha'])('has an answer from version %s', async (version) => {
    const own = clientFor(gateway.keys.native, version);
    const answer = await own.models.generateContent({ model: 'plain', contents });
    expect(answer.text).toBe('This is a simulated');
    expect(answer.usageMetadata).toMatchObject({ promptTokenCount: 5, candidatesTokenCount: 4 });
  });

  test('has a stream chunk by chunk', async () => {
    const chunks = await streamed({ model: 'plain', contents });
    expect(chunks.map(({ text }) => text ?? '').join('')).toBe('This is a simulated');
    expect(chunks).toHaveLength(5);
    expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe(FinishReason.STOP);
  });

  test('goes through a loop of parallel calls, with their signature', async () => {
    const config = { tools };
    const first = await client.models.generateContent({ model: 'tools', contents, config });
    expect(first.functionCalls?.map(({ name, args }) => [name, args])).toEqual([
      ['weather', { city: 'sample city' }],
      ['weather', { city: 'sample city' }],
    ]);
    const asked = first.candidates?.[0]?.content;
    expect(asked?.parts?.filter((part) => part.thoughtSignature !== undefined)).toHaveLength(1);
    const results = (first.functionCalls ?? []).map(({ id, name }) => ({
      functionResponse: { id: id ?? '', name: name ?? '', response: { output: 'two words' } },
    }));
    const turns = [
      { role: 'user', parts: [{ text: contents }] },
      asked ?? {},
      { role: 'user', parts: results },
    ];
    const second = await client.models.generateContent({ model: 'tools', contents: turns, config });
    expect(second.functionCalls).toBeUndefined();
    expect(second.text).toContain('The tool returned: “two words two words”');
    const calls = (await streamed({ model: 'tools', contents, config })).flatMap(
      ({ functionCalls = [] }) => functionCalls,
    );
    expect(calls.map(({ name }) => name)).toEqual(['weather', 'weather']);
  });

  test('shows a picture', async () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
    const turn = { role: 'user', parts: [{ text: 'What is this?' }, picture] };
    const { usageMetadata } = await client.models.generateContent({ model: 'vision', contents: [turn] });
    expect(usageMetadata).toMatchObject({ promptTokenCount: 103 });
    expect(await entryOfModel(gateway, 'vision')).toMatchObject({
      usage: { inputFresh: 3, inputImage: 100, output: 2 },
      chargeNanoUsd: 103_000n + 4_000n,
    });
  });

  test.each([
    { responseSchema: { type: Type.OBJECT, properties: { days: { type: Type.INTEGER } } } },
    { responseJsonSchema: { type: 'object', properties: { days: { type: 'integer' } } } },
  ])('has structure as of %j', async (schema) => {
    const config = { responseMimeType: 'application/json', ...schema };
    const answer = await client.models.generateContent({ model: 'schema', contents, config });
    expect(JSON.parse(answer.text ?? '')).toEqual({ days: 1 });
  });

  test('sees thoughts', async () => {
    const config = { thinkingConfig: { includeThoughts: true } };
    const answer = await client.models.generateContent({ model: 'thinking', contents, config });
    const [thought, said] = answer.candidates?.[0]?.content?.parts ?? [];
    expect(thought).toMatchObject({ thought: true, text: 'This is simulated' });
    expect(said?.thoughtSignature).toBeDefined();
    expect(answer.usageMetadata?.thoughtsTokenCount).toBe(3);
    expect(await entryOfModel(gateway, 'thinking')).toMatchObject({
      usage: { inputFresh: 5, output: 5, outputReasoning: 3 },
    });
  });

  test.each([
    ['short', { maxOutputTokens: 3 }, FinishReason.MAX_TOKENS],
    ['refused', {}, FinishReason.SAFETY],
  ])('knows why %s stopped', async (model, config, reason) => {
    const answer = await client.models.generateContent({ model, contents, config });
    expect(answer.candidates?.[0]?.finishReason).toBe(reason);
  });

  test('counts tokens, which nobody pays for', async () => {
    expect(await client.models.countTokens({ model: 'counted', contents })).toMatchObject({ totalTokens: 5 });
    expect(await entryOfModel(gateway, 'counted')).toMatchObject({
      status: 'complete',
      unbilledReason: 'token_count',
      chargeNanoUsd: 0n,
    });
  });

  test('embeds, and pays for what went in', async () => {
    const answer = await client.models.embedContent({ model: 'embedded', contents: ['one two', 'three'] });
    expect(answer.embeddings?.map(({ values }) => values?.length)).toEqual([8, 8]);
    expect(await entryOfModel(gateway, 'embedded')).toMatchObject({
      status: 'complete',
      usage: { inputFresh: 3, output: 0 },
      usageSource: 'upstream',
      chargeNanoUsd: 3_000n,
    });
  });

  test.each([undefined, 'v1beta'])('lists what the key can call, from version %s', async (version) => {
    const own = clientFor(gateway.keys.native, version);
    const pager = await own.models.list({ config: { pageSize: 3 } });
    const listed = await Array.fromAsync(pager, ({ name }) => name);
    const names = Object.keys(models).map((id) => `models/${id}`);
    expect(listed).toEqual(expect.arrayContaining(names));
    expect(new Set(listed).size).toBe(listed.length);
    expect(await own.models.get({ model: 'plain' })).toMatchObject({ name: 'models/plain' });
  });

  test.each([
    ['error-400', 400, 'INVALID_ARGUMENT'],
    ['error-429', 429, 'RESOURCE_EXHAUSTED'],
    ['error-503', 502, 'UNAVAILABLE'],
    ['nothing', 404, 'NOT_FOUND'],
  ])('knows the error of %s', async (model, status, word) => {
    const whole = (params: GenerateContentParameters) => client.models.generateContent(params);
    for (const call of [whole, streamed]) {
      const error: unknown = await call({ model, contents }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status, message: expect.stringContaining(word) as unknown });
    }
  });

  test('knows a wrong key', async () => {
    const call = clientFor('wrong').models.generateContent({ model: 'plain', contents });
    await expect(call).rejects.toMatchObject({ status: 401 });
  });

  test('hangs up in the middle', async () => {
    const abort = new AbortController();
    const config = { abortSignal: abort.signal };
    const stream = await client.models.generateContentStream({ model: 'slow', contents, config });
    const read = async () => {
      for await (const chunk of stream) if (chunk.text !== undefined) abort.abort();
    };
    await expect(read()).rejects.toThrow();
    const entry = await entryOfModel(gateway, 'slow');
    expect(entry).toMatchObject({ status: 'caller_gone', unbilledReason: null, usageSource: 'upstream' });
    expect(entry.chargeNanoUsd).toBe(BigInt(5_000 + entry.usage.output * 2_000));
    const gone = await simulator.until(({ outcome }) => outcome === 'client-gone');
    expect(gone.target).toContain('streamGenerateContent?alt=sse');
  });
});
