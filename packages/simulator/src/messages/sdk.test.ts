import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Simulator } from '../simulator.ts';
import { startSimulator } from '../simulator.ts';

let simulator: Simulator;
let client: Anthropic;

beforeAll(async () => {
  simulator = await startSimulator();
  client = new Anthropic({ apiKey: 'any', baseURL: simulator.origin, maxRetries: 0 });
});
afterAll(async () => simulator.close());

const messages = [{ role: 'user' as const, content: 'How far is the moon?' }];
const weather = {
  name: 'weather',
  input_schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } },
  },
};

describe('the official SDK', () => {
  test('lists models and counts tokens', async () => {
    const ids = await Array.fromAsync(client.models.list(), (model) => model.id);
    expect(ids).toContain('sim-fast');
    expect(await client.messages.countTokens({ model: 'm', messages })).toEqual({ input_tokens: 5 });
  });

  test('puts a stream together to the whole answer', async () => {
    const params = { model: 'm+reasoning=4,calls=2', max_tokens: 500, messages, tools: [weather] };
    const answer = await client.messages.create(params);
    const streamed = await client.messages.stream(params).finalMessage();
    expect(answer.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use', 'tool_use']);
    expect(answer.content[1]).toMatchObject({ name: 'weather', input: { city: 'sample city', days: 2 } });
    expect(streamed.usage).toMatchObject({ ...answer.usage });
    expect(streamed.stop_reason).toBe('tool_use');
    expect(streamed.content.map((block) => ('input' in block ? block.input : block.type))).toEqual(
      answer.content.map((block) => ('input' in block ? block.input : block.type)),
    );
  });

  test.each([
    [400, Anthropic.BadRequestError],
    [401, Anthropic.AuthenticationError],
    [404, Anthropic.NotFoundError],
    [429, Anthropic.RateLimitError],
    [500, Anthropic.InternalServerError],
  ])('knows the error of %i', async (status, type) => {
    const call = client.messages.create({ model: `m+fault=${status}`, max_tokens: 5, messages });
    await expect(call).rejects.toBeInstanceOf(type);
  });

  test('throws on an error within a stream', async () => {
    const stream = client.messages.stream({ model: 'm+fault=error-mid-stream', max_tokens: 50, messages });
    await expect(stream.finalMessage()).rejects.toThrow(/overloaded_error/);
  });
});
