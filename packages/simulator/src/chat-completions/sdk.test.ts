import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Simulator } from '../simulator.ts';
import { startSimulator } from '../simulator.ts';

let simulator: Simulator;
let client: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  client = new OpenAI({ apiKey: 'sk-any', baseURL: `${simulator.origin}/v1`, maxRetries: 0 });
});
afterAll(async () => simulator.close());

const messages = [{ role: 'user' as const, content: 'How far is the moon?' }];

const weather: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } },
      required: ['city', 'days'],
    },
  },
};
const weatherArguments = { city: 'sample city', days: 2 };

async function collect(body: Omit<OpenAI.ChatCompletionCreateParamsStreaming, 'messages' | 'stream'>) {
  return Array.fromAsync(await client.chat.completions.create({ messages, stream: true, ...body }));
}

describe('the official SDK', () => {
  test('lists models and retrieves one', async () => {
    const ids = await Array.fromAsync(client.models.list(), (model) => model.id);
    expect(ids).toContain('sim-fast');
    expect(await client.models.retrieve('sim-fast')).toMatchObject({ object: 'model' });
    await expect(client.models.retrieve('no/such')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('creates an answer that says it is simulated', async () => {
    const answer = await client.chat.completions.create({ model: 'sim-fast', messages });
    const [choice] = answer.choices;
    expect(choice?.message.content).toMatch(/^This is a simulated answer/);
    expect(choice?.message.content).toContain('How far is the moon?');
    expect(choice).toMatchObject({ index: 0, finish_reason: 'stop', logprobs: null });
    expect(answer.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: wordCount(choice) });
  });

  test('streams the same answer, with usage only when asked', async () => {
    const whole = await client.chat.completions.create({ model: 'm', messages });
    const silent = await collect({ model: 'm' });
    expect(textOf(silent)).toBe(whole.choices[0]?.message.content);
    expect(silent.every((chunk) => !('usage' in chunk))).toBe(true);
    const counted = await collect({ model: 'm', stream_options: { include_usage: true } });
    expect(counted.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    expect(counted.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
  });

  test('calls a tool, whole and in pieces', async () => {
    const whole = await client.chat.completions.create({ model: 'm', messages, tools: [weather] });
    const [call] = whole.choices[0]?.message.tool_calls ?? [];
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual(weatherArguments);

    const final = await client.chat.completions
      .stream({ model: 'm+calls=2', messages, tools: [weather] })
      .finalChatCompletion();
    const calls = final.choices[0]?.message.tool_calls ?? [];
    const pieced = calls.map((each) => (each.type === 'function' ? each.function.arguments : ''));
    expect(`[${pieced}]`).toBe(JSON.stringify([weatherArguments, weatherArguments]));
  });

  test('answers in words once a tool has returned', async () => {
    const conversation: OpenAI.ChatCompletionMessageParam[] = [
      ...messages,
      {
        role: 'assistant',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'sunny' },
    ];
    const answer = await client.chat.completions.create({
      model: 'm',
      messages: conversation,
      tools: [weather],
    });
    expect(answer.choices[0]?.message.content).toContain('The tool returned: “sunny”');
  });

  test('forced, forbidden, custom and serial calls', async () => {
    const choose = async (model: string, body: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>) =>
      (await client.chat.completions.create({ model, messages, tools: [weather], ...body, stream: false }))
        .choices[0];
    const named = await choose('m', { tool_choice: { type: 'function', function: { name: 'weather' } } });
    expect(named).toMatchObject({ finish_reason: 'stop', message: { tool_calls: [{ type: 'function' }] } });
    expect((await choose('m', { tool_choice: 'none' }))?.message.tool_calls).toBeUndefined();
    expect((await choose('m+calls=3', { parallel_tool_calls: false }))?.message.tool_calls).toHaveLength(1);
    const custom = await choose('m', { tools: [{ type: 'custom', custom: { name: 'run' } }] });
    expect(custom?.message.tool_calls).toMatchObject([
      { type: 'custom', custom: { input: 'simulated input' } },
    ]);
  });

  test('structured output satisfies its schema', async () => {
    const schema = { type: 'object', properties: { far: { type: 'boolean' }, unit: { enum: ['km', 'mi'] } } };
    const answer = await client.chat.completions.create({
      model: 'm',
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'distance', schema } },
    });
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ far: true, unit: 'km' });
  });

  test('refusals, limits, reasoning and several choices', async () => {
    const create = async (model: string, body: object = {}) =>
      client.chat.completions.create({ model, messages, ...body });
    const refused = (await create('m+refusal')).choices[0]?.message;
    expect(refused?.content).toBeNull();
    expect(refused?.refusal).toMatch(/^This is a simulated refusal/);
    expect(await create('m', { max_completion_tokens: 4 })).toMatchObject({
      choices: [{ finish_reason: 'length', message: { content: 'This is a simulated' } }],
      usage: { completion_tokens: 4 },
    });
    expect(await create('m+reasoning=7,hidden-reasoning=5,tokens=3,cached=2')).toMatchObject({
      choices: [{ message: { reasoning_content: 'This is simulated reasoning. The question is' } }],
      usage: {
        completion_tokens: 15,
        prompt_tokens_details: { cached_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 12 },
      },
    });
    expect(await create('m+tokens=3', { n: 3 })).toMatchObject({
      choices: [{ index: 0 }, { index: 1 }, { index: 2 }],
      usage: { completion_tokens: 9 },
    });
  });

  test.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])('sees status %i as its own class of error', async (status, errorClass) => {
    const request = client.chat.completions.create({ model: `m+fault=${status}`, messages });
    await expect(request).rejects.toBeInstanceOf(errorClass);
  });

  test('throws on an error inside a stream', async () => {
    await expect(collect({ model: 'm+fault=error-mid-stream' })).rejects.toBeInstanceOf(OpenAI.APIError);
  });

  test('retries a transient fault and succeeds', async () => {
    const patient = client.withOptions({ maxRetries: 1 });
    const model = 'm+fault=503,times=1,retry-after=ms:1ms';
    const answer = await patient.chat.completions.create({ model, messages });
    expect(answer.choices).toHaveLength(1);
  });

  test('hangs up when aborted', async () => {
    const stream = await client.chat.completions.create({
      model: 'aborted+rate=5/s',
      messages,
      stream: true,
    });
    for await (const _ of stream) stream.controller.abort();
    const gone = await simulator.until(({ outcome }) => outcome === 'client-gone');
    expect(gone.clientGoneAfterMs).toBeLessThan(2_000);
  });
});

describe('usage in a stream', () => {
  test.each([
    ['unasked', 1],
    ['every', 5],
    ['content', 1],
    ['finish', 1],
    ['never', 0],
  ])('%s states it on %i chunks, the last one exact', async (placement, count) => {
    const chunks = await collect({ model: `m+tokens=3,usage=${placement}` });
    const usages = chunks.flatMap(({ usage }) => usage ?? []);
    expect(usages).toHaveLength(count);
    expect(usages.at(-1)?.completion_tokens).toBe(count === 0 ? undefined : 3);
  });
});

function textOf(chunks: readonly OpenAI.ChatCompletionChunk[]): string {
  return chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
}

function wordCount(choice: OpenAI.ChatCompletion.Choice | undefined): number {
  return choice?.message.content?.split(/\s+/).length ?? 0;
}
