import Anthropic from '@anthropic-ai/sdk';
import { type Simulator, startSimulator } from '@headgate/simulator';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';

/*
 * Official SDKs at a gateway whose channels serve well-known models in another protocol than the caller's: what arrives there is what
 * the model takes, and what is not is told.
 */

const models = ['claude-sonnet-4-5', 'claude-opus-5', 'gpt-5', 'deepseek-reasoner', 'gemini-3-pro-preview'];

let simulator: Simulator;
let gateway: TestGateway;

const channel = (id: string, protocol: string, path: string, served: readonly string[]) => ({
  id,
  origin: simulator.origin,
  protocols: { [protocol]: path },
  models: Object.fromEntries(served.map((model) => [model, model])),
});

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({
    reasoning: models,
    channels: [
      channel('messages', 'messages', '/messages', ['claude-sonnet-4-5', 'claude-opus-5']),
      channel('chat', 'chat-completions', '/chat/completions', ['gpt-5', 'deepseek-reasoner']),
      channel('native', 'generate-content', '/models/{model}:{action}', ['gemini-3-pro-preview']),
    ],
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

async function sentBody(): Promise<unknown> {
  const { sequence } = await simulator.until((one) => one.sequence === simulator.requestCount);
  const last = simulator.requests.find((one) => one.sequence === sequence);
  return JSON.parse(Buffer.from(last?.body ?? []).toString());
}

const hello = [{ role: 'user' as const, content: 'one two three' }];

async function chat(body: Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'messages'>) {
  const client = new OpenAI({ baseURL: `${gateway.apiOrigin}/v1`, apiKey: gateway.keys.completions });
  const { response, data } = await client.chat.completions
    .create({ messages: hello, ...body })
    .withResponse();
  expect(data.choices[0]?.message.content).toMatch(/\w/);
  return { losses: response.headers.get('x-headgate-losses'), sent: await sentBody() };
}

async function message(body: Omit<Anthropic.MessageCreateParamsNonStreaming, 'messages'>) {
  // Without a time-out the client refuses long answers itself.
  const timeout = 60_000;
  const client = new Anthropic({ baseURL: gateway.apiOrigin, apiKey: gateway.keys.messages, timeout });
  const { response, data } = await client.messages.create({ messages: hello, ...body }).withResponse();
  expect(data.content.length).toBeGreaterThan(0);
  return { losses: response.headers.get('x-headgate-losses'), sent: await sentBody() };
}

test('an effort of a chat caller is a budget beside its answer', async () => {
  const { losses, sent } = await chat({
    model: 'claude-sonnet-4-5',
    reasoning_effort: 'high',
    max_completion_tokens: 500,
    temperature: 0.2,
  });
  expect(sent).toMatchObject({
    max_tokens: 16_884,
    thinking: { type: 'enabled', budget_tokens: 16_384 },
  });
  expect(sent).not.toHaveProperty('temperature');
  expect(losses?.split(', ').sort()).toEqual(['max_completion_tokens', 'temperature']);
});

test('a model that takes words gets the nearest, and its own limit', async () => {
  const { losses, sent } = await chat({ model: 'claude-opus-5', reasoning_effort: 'minimal', top_p: 0.5 });
  expect(sent).toMatchObject({
    max_tokens: 128_000,
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low' },
  });
  expect(losses?.split(', ').sort()).toEqual(['reasoning_effort', 'top_p']);
});

test('words of the messages protocol that a chat model lacks become its own', async () => {
  const { losses, sent } = await message({
    model: 'gpt-5',
    max_tokens: 400_000,
    thinking: { type: 'adaptive' },
    output_config: { effort: 'xhigh' },
    stop_sequences: ['END'],
  });
  expect(sent).toMatchObject({ reasoning_effort: 'high', max_completion_tokens: 128_000 });
  expect(sent).not.toHaveProperty('stop');
  expect(sent).not.toHaveProperty('max_tokens');
  expect(losses?.split(', ').sort()).toEqual(['max_tokens', 'stop_sequences', 'thinking']);
});

test('a budget is a level where the model has levels', async () => {
  const thinking = { type: 'enabled', budget_tokens: 9_000 } as const;
  const { losses, sent } = await message({ model: 'gemini-3-pro-preview', max_tokens: 10_000, thinking });
  expect(sent).toMatchObject({
    generationConfig: { maxOutputTokens: 10_000, thinkingConfig: { thinkingLevel: 'HIGH' } },
  });
  expect(losses).toBe('thinking');
});

test('a picture is refused by its name for a model that reads none, and nothing is sent', async () => {
  const before = simulator.requestCount;
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
  const body = {
    model: 'deepseek-reasoner',
    max_tokens: 9,
    messages: [{ role: 'user', content: [{ type: 'image', source }] }],
  };
  const headers = { 'x-api-key': gateway.keys.messages, 'content-type': 'application/json' };
  const answer = await fetch(`${gateway.apiOrigin}/v1/messages`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('call a model that reads pictures');
  expect(simulator.requestCount).toBe(before);
});

test('in its vendor’s own protocol a request goes as it came', async () => {
  const { losses, sent } = await chat({ model: 'gpt-5', reasoning_effort: 'xhigh', temperature: 0.2 });
  expect(sent).toEqual({ model: 'gpt-5', messages: hello, reasoning_effort: 'xhigh', temperature: 0.2 });
  expect(losses).toBeNull();
});
