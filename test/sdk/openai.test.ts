import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
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
let client: OpenAI;

beforeAll(async () => {
  site = await openProtocolSite();
  client = new OpenAI({
    apiKey: site.gateway.keys.completions,
    baseURL: `${site.gateway.apiOrigin}/v1`,
    maxRetries: 0,
  });
});
afterAll(async () => site[Symbol.asyncDispose]());

const question = 'How far is the moon?';
const distance = z.object({ far: z.boolean(), unit: z.enum(['km', 'mi']) });
const picture = 'data:image/png;base64,iVBORw0KGgo=';
const schemas = {
  weather: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  clock: { type: 'object', properties: { zone: { type: 'string' } } },
};
const words = ['This', ' is', ' a', ' simulated'];
const toolReply = /The tool returned: “.*result of clock.*”/;

const failures = [
  ['error-400', OpenAI.BadRequestError],
  ['error-429', OpenAI.RateLimitError],
  ['error-503', OpenAI.InternalServerError],
] as const;

const errorOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);
const lastBody = () => bodiesOf(site.simulator).at(-1) ?? '';

async function expectHangUp(model: string): Promise<void> {
  expect(await latestEntryOfModel(site.gateway, model)).toMatchObject({
    status: 'caller_gone',
    unbilledReason: null,
  });
}

describe.each(upstreams)('chat completions on %s', (upstream) => {
  const asked = (feature: Feature) => ({
    model: modelOf(feature, upstream),
    messages: [{ role: 'user' as const, content: question }],
  });

  test('have text, whole and streamed', async () => {
    const system = { role: 'system' as const, content: 'Be brief.' };
    const params = { ...asked('plain'), messages: [system, ...asked('plain').messages] };
    const { choices, usage, object } = await client.chat.completions.create(params);
    expect(choices).toMatchObject([
      { index: 0, message: { role: 'assistant', content: words.join('') }, finish_reason: 'stop' },
    ]);
    expect(usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 4, total_tokens: 11 });
    expect(object).toBe('chat.completion');
    const stream = client.chat.completions.stream({ ...params, stream_options: { include_usage: true } });
    const pieces: string[] = [];
    stream.on('content', (piece) => pieces.push(piece));
    const final = await stream.finalChatCompletion();
    expect(pieces.filter((piece) => piece !== '')).toEqual(words);
    expect(final.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: words.join('') } });
    expect(final.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 4 });
  });

  test.each([
    ['tools', false],
    ['tools', true],
    ['thinking-tools', false],
    ['thinking-tools', true],
  ] as const)('run tools in a loop of parallel calls (%s, stream: %s)', async (feature, stream) => {
    const tools = Object.entries(schemas).map(([name, parameters]) => ({
      type: 'function' as const,
      function: { name, description: name, parameters, parse: String, function: () => `result of ${name}` },
    }));
    const params = { ...asked(feature), tools };
    const runner = stream
      ? client.chat.completions.runTools({ ...params, stream })
      : client.chat.completions.runTools(params);
    expect(await runner.finalContent()).toMatch(toolReply);
    const [first] = runner.allChatCompletions();
    expect(first?.choices[0]?.finish_reason).toBe('tool_calls');
    const calls = first?.choices[0]?.message.tool_calls?.map(
      (call) => call.type === 'function' && call.function,
    );
    expect(calls).toMatchObject([
      { name: 'weather', arguments: '{"city":"sample city"}' },
      { name: 'clock', arguments: '{"zone":"sample zone"}' },
    ]);
    expect(lastBody()).toContain('result of weather');
  });

  test('show a picture', async () => {
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'image_url' as const, image_url: { url: picture } },
    ];
    const params = { ...asked('vision'), messages: [{ role: 'user' as const, content }] };
    expect((await client.chat.completions.create(params)).usage?.prompt_tokens).toBe(103);
  });

  test('have structured output, whole and streamed', async () => {
    const params = { ...asked('schema'), response_format: zodResponseFormat(distance, 'distance') };
    const expected = { far: true, unit: 'km' };
    const whole = await client.chat.completions.parse(params);
    expect(whole.choices[0]?.message.parsed).toEqual(expected);
    const streamed = await client.chat.completions.stream(params).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual(expected);
  });

  test('count reasoning, and keep it out of the text', async () => {
    const params = { ...asked('thinking'), reasoning_effort: 'low' as const };
    const { choices, usage } = await client.chat.completions.create(params);
    expect(choices[0]?.message).toMatchObject({ content: 'This is', reasoning_content: 'This is simulated' });
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(3);
    const chunks = await Array.fromAsync(await client.chat.completions.create({ ...params, stream: true }));
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta ?? []);
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('This is');
    const thoughts = deltas.map((delta) => ('reasoning_content' in delta ? delta.reasoning_content : ''));
    expect(thoughts.join('')).toBe('This is simulated');
  });

  test('know an answer that was cut short', async () => {
    const params = { ...asked('short'), max_completion_tokens: 16 };
    const whole = await client.chat.completions.create(params);
    expect(whole.choices[0]?.finish_reason).toBe('length');
    expect(whole.usage?.completion_tokens).toBe(16);
  });

  test('know a refusal', async () => {
    const whole = (await client.chat.completions.create(asked('refused'))).choices[0];
    const streamed = (await client.chat.completions.stream(asked('refused')).finalChatCompletion())
      .choices[0];
    for (const choice of [whole, streamed]) {
      const isRefused = choice?.finish_reason === 'content_filter' || Boolean(choice?.message.refusal);
      expect(isRefused).toBe(true);
    }
  });

  test.each(failures)('know the error of %s', async (feature, type) => {
    for (const stream of [false, true]) {
      const thrown = await errorOf(client.chat.completions.create({ ...asked(feature), stream }));
      expect(thrown).toBeInstanceOf(type);
      expect(thrown).toHaveProperty('requestID', expect.stringMatching(/^[0-9a-f]{32}$/));
    }
  });

  test('throw when a stream breaks off, after what had come', async () => {
    const stream = client.chat.completions.stream(asked('cut'));
    const pieces: string[] = [];
    stream.on('content', (piece) => pieces.push(piece));
    expect(await errorOf(stream.finalChatCompletion())).toBeInstanceOf(OpenAI.APIError);
    expect(pieces.filter((piece) => piece !== '')).toHaveLength(3);
  });

  test('hang up in the middle', async () => {
    const stream = await client.chat.completions.create({ ...asked('slow'), stream: true });
    for await (const { choices } of stream) if (choices[0]?.delta.content) stream.controller.abort();
    await expectHangUp(modelOf('slow', upstream));
  });
});

describe.each(upstreams)('responses on %s', (upstream) => {
  const asked = (feature: Feature) => ({ model: modelOf(feature, upstream), input: question });

  test('have text, whole and streamed', async () => {
    const params = { ...asked('plain'), instructions: 'Be brief.' };
    const whole = await client.responses.create(params);
    expect(whole).toMatchObject({
      output_text: words.join(''),
      status: 'completed',
      usage: { input_tokens: 7, output_tokens: 4, total_tokens: 11 },
    });
    const events = await Array.fromAsync(await client.responses.create({ ...params, stream: true }));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(
      events.flatMap((event) => (event.type === 'response.output_text.delta' ? event.delta : [])),
    ).toEqual(words);
    const final = await client.responses.stream(params).finalResponse();
    expect(final.output_text).toBe(whole.output_text);
    expect(final.usage).toEqual(whole.usage);
  });

  test.each([
    ['tools', false],
    ['tools', true],
    ['thinking-tools', false],
    ['thinking-tools', true],
  ] as const)('go through a loop of parallel calls (%s, stream: %s)', async (feature, stream) => {
    const tools = Object.entries(schemas).map(([name, parameters]) => ({
      type: 'function' as const,
      strict: false,
      name,
      parameters,
    }));
    const include = ['reasoning.encrypted_content' as const];
    const ask = (input: OpenAI.Responses.ResponseInput): Promise<OpenAI.Responses.Response> => {
      const params = { model: modelOf(feature, upstream), tools, include, store: false, input };
      return stream ? client.responses.stream(params).finalResponse() : client.responses.create(params);
    };
    const history: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }];
    const { output } = await ask(history);
    const calls = output.filter((item) => item.type === 'function_call');
    expect(calls.map((call) => [call.name, call.arguments])).toEqual([
      ['weather', '{"city":"sample city"}'],
      ['clock', '{"zone":"sample zone"}'],
    ]);
    const results = calls.map(({ call_id, name }) => ({
      type: 'function_call_output' as const,
      call_id,
      output: `result of ${name}`,
    }));
    const said = output.filter((item) => item.type === 'function_call' || item.type === 'reasoning');
    expect(said).toHaveLength(output.length);
    expect((await ask([...history, ...said, ...results])).output_text).toMatch(toolReply);
    expect(lastBody()).toContain('result of weather');
  });

  test('show a picture', async () => {
    const content = [
      { type: 'input_text' as const, text: 'What is this?' },
      { type: 'input_image' as const, image_url: picture, detail: 'auto' as const },
    ];
    const params = { model: modelOf('vision', upstream), input: [{ role: 'user' as const, content }] };
    expect((await client.responses.create(params)).usage?.input_tokens).toBe(103);
  });

  test('have structured output, whole and streamed', async () => {
    const params = { ...asked('schema'), text: { format: zodTextFormat(distance, 'distance') } };
    const expected = { far: true, unit: 'km' };
    expect((await client.responses.parse(params)).output_parsed).toEqual(expected);
    expect((await client.responses.stream(params).finalResponse()).output_parsed).toEqual(expected);
  });

  test('see reasoning', async () => {
    const params = { ...asked('thinking'), reasoning: { effort: 'low', summary: 'auto' } as const };
    const whole = await client.responses.create(params);
    const streamed = await client.responses.stream(params).finalResponse();
    for (const { output, output_text, usage } of [whole, streamed]) {
      expect(output_text).toBe('This is');
      expect(output[0]).toMatchObject({ type: 'reasoning', summary: [{ text: 'This is simulated' }] });
      expect(usage).toMatchObject({ output_tokens: 5, output_tokens_details: { reasoning_tokens: 3 } });
    }
  });

  test('know an answer that was cut short', async () => {
    const whole = await client.responses.create({ ...asked('short'), max_output_tokens: 16 });
    expect(whole).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      usage: { output_tokens: 16 },
    });
  });

  test('know a refusal', async () => {
    const whole = await client.responses.create(asked('refused'));
    const streamed = await client.responses.stream(asked('refused')).finalResponse();
    for (const { output, incomplete_details } of [whole, streamed]) {
      const isRefused = incomplete_details?.reason === 'content_filter';
      expect(isRefused || JSON.stringify(output).includes('"type":"refusal"')).toBe(true);
    }
  });

  test.each(failures)('know the error of %s', async (feature, type) => {
    for (const stream of [false, true]) {
      const thrown = await errorOf(client.responses.create({ ...asked(feature), stream }));
      expect(thrown).toBeInstanceOf(type);
    }
  });

  test('throw when a stream breaks off, after what had come', async () => {
    const stream = client.responses.stream(asked('cut'));
    let pieces = 0;
    stream.on('response.output_text.delta', () => pieces++);
    expect(await errorOf(stream.finalResponse())).toBeInstanceOf(OpenAI.APIError);
    expect(pieces).toBe(3);
  });

  test('hang up in the middle', async () => {
    const stream = await client.responses.create({ ...asked('slow'), stream: true });
    for await (const { type } of stream) {
      if (type === 'response.output_text.delta') stream.controller.abort();
    }
    await expectHangUp(modelOf('slow', upstream));
  });
});
