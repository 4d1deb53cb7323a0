import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { type LanguageModel, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';

let simulator: Simulator;
let gateway: TestGateway;

const paths = {
  'chat-completions': '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  'generate-content': '/models/{model}:{action}',
} as const;

/** Models by the protocol of the channel that breaks off: one of the caller's own, and one of another. */
const models = Object.keys(paths) as readonly (keyof typeof paths)[];
const said = 'This is a simulated answer; no real model was asked.';

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  const broken = models.map((protocol) => ({
    id: `broken-${protocol}`,
    origin,
    priority: 0,
    protocols: { [protocol]: paths[protocol] },
    models: { [protocol]: 'sim+tokens=10,fault=cut-mid-stream' },
  }));
  const sound = {
    id: 'sound',
    origin,
    priority: 1,
    models: Object.fromEntries(models.map((model) => [model, 'sim+tokens=10'])),
  };
  gateway = await openTestGateway({ channels: [...broken, sound], rescue: true });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const prompt = 'one two three';

/** Three words of the first channel are delivered before it breaks off. */
describe.each(models)('a stream that a channel of %s breaks off', (model) => {
  test('is whole for the SDK of chat completions', async () => {
    const client = new OpenAI({
      apiKey: gateway.keys.completions,
      baseURL: `${gateway.apiOrigin}/v1`,
      maxRetries: 0,
    });
    const stream = client.chat.completions.stream({
      model,
      messages: [{ role: 'user', content: prompt }],
      stream_options: { include_usage: true },
    });
    const answer = await stream.finalChatCompletion();
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: said } });
    expect(answer.usage?.completion_tokens).toBeGreaterThan(8);
  });

  test('is whole for the SDK of responses', async () => {
    const client = new OpenAI({
      apiKey: gateway.keys.completions,
      baseURL: `${gateway.apiOrigin}/v1`,
      maxRetries: 0,
    });
    const answer = await client.responses.stream({ model, input: prompt }).finalResponse();
    expect(answer).toMatchObject({ status: 'completed', output_text: said, headgate: { rescued: true } });
  });

  test('is whole for the SDK of messages', async () => {
    const client = new Anthropic({
      apiKey: gateway.keys.messages,
      baseURL: gateway.apiOrigin,
      maxRetries: 0,
    });
    const messages = [{ role: 'user' as const, content: prompt }];
    const answer = await client.messages.stream({ model, messages, max_tokens: 100 }).finalMessage();
    expect(answer.content).toMatchObject([{ type: 'text', text: said }]);
    expect(answer.stop_reason).toBe('end_turn');
    expect(answer.usage.output_tokens).toBeGreaterThan(8);
  });

  test('is whole for the SDK of the native surface', async () => {
    const client = new GoogleGenAI({
      apiKey: gateway.keys.native,
      httpOptions: { baseUrl: gateway.apiOrigin },
    });
    const chunks = await Array.fromAsync(
      await client.models.generateContentStream({ model, contents: prompt }),
    );
    expect(chunks.map(({ text }) => text ?? '').join('')).toBe(said);
    expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
    expect(chunks.at(-1)?.usageMetadata?.candidatesTokenCount).toBeGreaterThan(8);
  });

  test.each(['chat', 'responses', 'messages', 'native'] as const)(
    'is whole for the AI SDK by %s',
    async (way) => {
      const openai = createOpenAI({ apiKey: gateway.keys.completions, baseURL: `${gateway.apiOrigin}/v1` });
      const anthropic = createAnthropic({
        apiKey: gateway.keys.messages,
        baseURL: `${gateway.apiOrigin}/v1`,
      });
      const google = createGoogle({ apiKey: gateway.keys.native, baseURL: `${gateway.apiOrigin}/v1beta` });
      const byWay: Readonly<Record<typeof way, LanguageModel>> = {
        chat: openai.chat(model),
        responses: openai.responses(model),
        messages: anthropic(model),
        native: google(model),
      };
      const result = streamText({ model: byWay[way], prompt, maxRetries: 0 });
      expect(await result.text).toBe(said);
      expect(await result.finishReason).toBe('stop');
    },
  );
});
