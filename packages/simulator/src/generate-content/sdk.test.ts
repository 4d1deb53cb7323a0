import { ApiError, GoogleGenAI, Type } from '@google/genai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Simulator } from '../simulator.ts';
import { startSimulator } from '../simulator.ts';

let simulator: Simulator;
let client: GoogleGenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  const httpOptions = { baseUrl: simulator.origin, apiVersion: 'v1beta' };
  client = new GoogleGenAI({ apiKey: 'any', httpOptions });
});
afterAll(async () => simulator.close());

const contents = 'How far is the moon?';
const weather = {
  name: 'weather',
  parameters: {
    type: Type.OBJECT,
    properties: { city: { type: Type.STRING }, days: { type: Type.INTEGER, minimum: 2 } },
  },
};

describe('the official SDK', () => {
  test('lists models, counts tokens and embeds', async () => {
    const models = await client.models.list();
    expect(await Array.fromAsync(models, ({ name }) => name)).toContain('models/sim-fast');
    expect(await client.models.countTokens({ model: 'm', contents })).toMatchObject({ totalTokens: 5 });
    const { embeddings } = await client.models.embedContent({ model: 'm', contents: ['one', 'two'] });
    expect(embeddings?.map(({ values }) => values?.length)).toEqual([8, 8]);
  });

  test('puts a stream together to the whole answer', async () => {
    const params = {
      model: 'm+reasoning=4,calls=2',
      contents,
      config: { tools: [{ functionDeclarations: [weather] }] },
    };
    const answer = await client.models.generateContent(params);
    const chunks = await Array.fromAsync(await client.models.generateContentStream(params));
    const called = { name: 'weather', args: { city: 'sample city', days: 2 } };
    expect(answer.functionCalls).toMatchObject([called, called]);
    expect(chunks.flatMap(({ functionCalls = [] }) => functionCalls)).toMatchObject([called, called]);
    expect(chunks.at(-1)?.usageMetadata).toEqual(answer.usageMetadata);
    expect(answer.usageMetadata).toMatchObject({ promptTokenCount: 5, thoughtsTokenCount: 4 });
  });

  test.each([400, 401, 404, 429, 500, 503])('knows the error of %i', async (status) => {
    const error = await client.models
      .generateContent({ model: `m+fault=${status}`, contents })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status });
  });

  test('throws on an error within a stream', async () => {
    const stream = await client.models.generateContentStream({ model: 'm+fault=error-mid-stream', contents });
    await expect(Array.fromAsync(stream)).rejects.toThrow(/UNAVAILABLE/);
  });
});
