import { createGoogle } from '@ai-sdk/google';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { embedMany, generateText, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openTestGateway, type TestGateway } from './support/gateway.ts';

let simulator: Simulator;
let gateway: TestGateway;
let provider: ReturnType<typeof createGoogle>;

beforeAll(async () => {
  simulator = await startSimulator();
  const models = {
    plain: 'sim+tokens=4',
    thinking: 'sim+reasoning=3,tokens=2',
    tools: 'sim+calls=2,reasoning=1',
    cut: 'sim+fault=reset-mid-stream',
  };
  gateway = await openTestGateway({ channels: [{ id: 'simulator', origin: simulator.origin, models }] });
  provider = createGoogle({ baseURL: `${gateway.apiOrigin}/v1beta`, apiKey: gateway.keys.native });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const prompt = 'How far is the moon?';

describe('a client library of another maker', () => {
  test('has an answer, its thoughts and its usage', async () => {
    const answer = await generateText({ model: provider('thinking'), prompt });
    expect([answer.text, answer.reasoningText]).toEqual(['This is', 'This is simulated']);
    expect(answer.usage).toMatchObject({ inputTokens: 5, outputTokens: 5 });
  });

  test('has a stream', async () => {
    const { textStream } = streamText({ model: provider('plain'), prompt });
    expect((await Array.fromAsync(textStream)).join('')).toBe('This is a simulated');
  });

  test('goes through a loop of parallel calls', async () => {
    const cities: string[] = [];
    const weather = tool({
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => {
        cities.push(city);
        return 'two words';
      },
    });
    const stopWhen = stepCountIs(3);
    const result = streamText({ model: provider('tools'), prompt, tools: { weather }, stopWhen });
    expect(await result.text).toContain('The tool returned');
    expect(cities).toEqual(['sample city', 'sample city']);
  });

  test('embeds', async () => {
    const { embeddings } = await embedMany({ model: provider.embeddingModel('plain'), values: ['a', 'b'] });
    expect(embeddings.map(({ length }) => length)).toEqual([8, 8]);
  });

  test('sees a broken stream as an error', async () => {
    const errors: unknown[] = [];
    const result = streamText({
      model: provider('cut'),
      prompt,
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    await result.consumeStream();
    expect(errors.length).toBeGreaterThan(0);
  });
});
