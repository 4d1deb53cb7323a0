import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseJson } from '../json.ts';
import { systemClock } from '../server/clock.ts';
import type { Simulator } from '../simulator.ts';
import { startSimulator } from '../simulator.ts';

type Params = Partial<Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>>;

let simulator: Simulator;
let client: OpenAI;

beforeAll(async () => {
  // Two answers are compared, and a second may pass between them.
  simulator = await startSimulator({ clock: { ...systemClock(), epochMs: () => 1_770_000_000_000 } });
  client = new OpenAI({ apiKey: 'sk-any', baseURL: `${simulator.origin}/v1`, maxRetries: 0 });
});
afterAll(async () => simulator.close());

const input = 'How far is the moon?';
const weather: OpenAI.Responses.Tool = {
  type: 'function',
  name: 'weather',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } },
  },
};

async function create(model: string, params: Params = {}) {
  return client.responses.create({ model, input, ...params });
}

describe('the official SDK', () => {
  test('reads a whole answer with its text and usage', async () => {
    const response = await create('sim-fast');
    expect(response.output_text).toMatch(/^This is a simulated answer.*How far is the moon\?/);
    expect(response).toMatchObject({ status: 'completed', object: 'response', error: null });
    expect(response.usage).toMatchObject({
      input_tokens: 5,
      output_tokens: response.output_text.split(' ').length,
    });
  });

  test.each<readonly [string, Params]>([
    ['m+tokens=6', {}],
    ['m+refusal', {}],
    ['m+reasoning=5,tokens=3', { include: ['reasoning.encrypted_content'] }],
    ['m+calls=3,reasoning=2', { tools: [weather, { type: 'custom', name: 'run' }] }],
    ['m+tokens=40', { max_output_tokens: 16 }],
    ['m+tokens=0', {}],
  ])('puts the stream of %s together to the whole answer', async (model, params) => {
    const whole = await client.responses.parse({ model, input, ...params });
    const streamed = await client.responses.stream({ model, input, ...params }).finalResponse();
    expect(withoutNumbers(streamed)).toEqual(withoutNumbers(whole));
  });

  test('calls tools in parallel and answers once all have returned', async () => {
    const asked = await create('m+calls=2', { tools: [weather] });
    const calls = asked.output.filter((item) => item.type === 'function_call');
    expect(calls.map(({ name, arguments: text }) => [name, parseJson(text)])).toEqual([
      ['weather', { city: 'sample city', days: 2 }],
      ['weather', { city: 'sample city', days: 2 }],
    ]);
    const results = calls.map(({ call_id }, index) => ({
      type: 'function_call_output' as const,
      call_id,
      output: `result ${index}`,
    }));
    const history = [{ role: 'user' as const, content: input }, ...calls, ...results];
    const answer = await create('m', { tools: [weather], input: history });
    expect(answer.output_text).toContain('The tool returned: “result 1”');
  });

  test('parses structured output', async () => {
    const schema = {
      type: 'object',
      properties: { far: { type: 'boolean' }, unit: { enum: ['km', 'mi'] } },
    };
    const format = { type: 'json_schema' as const, name: 'distance', schema, strict: true };
    const parsed = await client.responses.parse({ model: 'm', input, text: { format } });
    expect(parsed.output_parsed).toEqual({ far: true, unit: 'km' });
  });

  test('counts input tokens', async () => {
    const counted = await client.responses.inputTokens.count({ model: 'm', instructions: 'be brief', input });
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: 7 });
  });

  test.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [404, OpenAI.NotFoundError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])('sees status %i as its own class of error', async (status, errorClass) => {
    await expect(create(`m+fault=${status}`)).rejects.toBeInstanceOf(errorClass);
  });

  test('throws on an error inside a stream', async () => {
    const stream = client.responses.stream({ model: 'm+fault=error-mid-stream,code=server_error', input });
    await expect(stream.finalResponse()).rejects.toThrow();
  });
});

/** Without the number every answer has in its ids, and the null the SDK gives to some parts of it only. */
function withoutNumbers(response: object): unknown {
  return parseJson(JSON.stringify(response).replaceAll(/\d{12}|,"parsed":null/g, ''));
}
