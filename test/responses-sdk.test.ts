import { type Simulator, startSimulator } from '@headgate/simulator';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf, entryOfModel } from './support/ledger.ts';

/** Public ids and what the simulator does under them. */
const models = {
  plain: 'sim+tokens=12',
  thinking: 'sim+reasoning=5,tokens=3',
  refusing: 'sim+refusal',
  tools: 'sim+calls=2',
  slow: 'sim+tokens=500,rate=100/s',
  aborted: 'sim+tokens=500,rate=100/s',
  'status-429': 'sim+fault=429,retry-after=7s',
  'status-500': 'sim+fault=500',
  'cut-in-the-middle': 'sim+fault=reset-mid-stream',
};

type Params = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream' | 'model'> & {
  readonly model: keyof typeof models;
};

let simulator: Simulator;
let gateway: TestGateway;
/** The SDK pointed at the gateway, and the same SDK pointed at the upstream itself. */
let client: OpenAI;
let original: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({ channels: [{ id: 'a', origin: simulator.origin, models }] });
  const options = { baseURL: `${gateway.apiOrigin}/v1`, maxRetries: 0 };
  client = new OpenAI({ ...options, apiKey: gateway.keys.completions });
  original = new OpenAI({ ...options, apiKey: 'sk-any', baseURL: `${simulator.origin}/v1` });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const input = 'How far is the moon?';
const weather: OpenAI.Responses.Tool = {
  type: 'function',
  name: 'weather',
  strict: true,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};
const patch: OpenAI.Responses.Tool = { type: 'custom', name: 'patch', format: { type: 'text' } };

/** All that must be equal in two answers to the same request: ids have numbers of their own, and time goes by. */
function withoutIdentity(value: unknown): unknown {
  const text = JSON.stringify(value).replaceAll(/\d{12}/g, 'n');
  return JSON.parse(text.replaceAll(/"(created|completed)_at":\d+/g, '"$1_at":0'));
}

/** The same request whole and streamed, through the gateway and around it; the gateway's whole answer. */
async function askOnBoth(params: Params): Promise<OpenAI.Responses.Response> {
  const upstream = { ...params, model: models[params.model] };
  const { _request_id: _, ...whole } = await client.responses.create(params);
  const { _request_id: __, ...expected } = await original.responses.create(upstream);
  expect(withoutIdentity(whole)).toEqual(withoutIdentity(expected));
  const events = await Array.fromAsync(await client.responses.create({ ...params, stream: true }));
  const expectedEvents = await Array.fromAsync(
    await original.responses.create({ ...upstream, stream: true }),
  );
  expect(withoutIdentity(events)).toEqual(withoutIdentity(expectedEvents));
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, index) => index));
  return whole;
}

describe('answers are those of the upstream', () => {
  test('text', async () => {
    const response = await askOnBoth({ model: 'plain', input, instructions: 'Be brief.' });
    expect(response.output_text.split(' ')).toHaveLength(12);
    expect(response.usage).toMatchObject({ input_tokens: 7, output_tokens: 12, total_tokens: 19 });
  });

  test('reasoning, sealed as it came', async () => {
    const include = ['reasoning.encrypted_content' as const];
    const { output } = await askOnBoth({ model: 'thinking', input, include, store: false });
    expect(output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'This is simulated reasoning. The' }] },
      { type: 'message' },
    ]);
    const [thought, said] = output;
    if (thought?.type !== 'reasoning' || said?.type !== 'message') throw new Error('no reasoning');
    const items = [{ role: 'user' as const, content: input }, thought, said];
    await client.responses.create({
      model: 'plain',
      input: [...items, { role: 'user', content: 'And back?' }],
    });
    const body = Buffer.from(simulator.requests.at(-1)?.body ?? '').toString();
    expect(body).toContain(`"encrypted_content":${JSON.stringify(thought.encrypted_content)}`);
  });

  test('a refusal, and an answer that was cut short', async () => {
    const refusing = await askOnBoth({ model: 'refusing', input });
    expect(refusing.output).toMatchObject([{ content: [{ type: 'refusal' }] }]);
    const short = await askOnBoth({ model: 'slow', input, max_output_tokens: 16 });
    expect(short).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      usage: { output_tokens: 16 },
    });
    expect((await latestEntry('refusing')).finishReason).toBe('refusal');
    expect((await latestEntry('slow')).finishReason).toBe('length');
  });

  test('parallel calls of functions and custom tools', async () => {
    const { output } = await askOnBoth({ model: 'tools', input, tools: [weather, patch] });
    expect(output).toMatchObject([
      { type: 'function_call', name: 'weather', arguments: '{"city":"sample city"}' },
      { type: 'custom_tool_call', name: 'patch', input: 'simulated input' },
    ]);
    expect((await latestEntry('tools')).finishReason).toBe('tool-calls');
  });
});

async function latestEntry(model: keyof typeof models) {
  const [latest] = (await Array.fromAsync(gateway.store.exportEntries({ model }))).slice(-1);
  if (latest === undefined) throw new Error(`no call of ${model}`);
  return latest;
}

describe('conversations', () => {
  test('a loop of tools, the history sent again', async () => {
    const asked = await client.responses.stream({ model: 'tools', input, tools: [weather] }).finalResponse();
    const calls = asked.output.filter((item) => item.type === 'function_call');
    expect(calls.map((call) => call.parsed_arguments as unknown)).toEqual([
      { city: 'sample city' },
      { city: 'sample city' },
    ]);
    const results = calls.map(({ call_id }) => ({
      type: 'function_call_output' as const,
      call_id,
      output: 'sunny',
    }));
    const history = [{ role: 'user' as const, content: input }, ...calls, ...results];
    const answer = await client.responses.create({ model: 'tools', input: history, tools: [weather] });
    expect(answer.output_text).toContain('The tool returned: “sunny”');
  });

  test('one that the upstream remembers', async () => {
    const first = await client.responses.create({ model: 'plain', input });
    const next = { model: 'plain', input: 'And back?', previous_response_id: first.id };
    const second = await client.responses.create(next);
    expect(second.usage?.input_tokens).toBe(5 + 12 + 2);
    const strange = client.responses.create({ ...next, previous_response_id: 'resp_unknown' });
    expect(await failureOf(strange)).toMatchObject({ status: 400, code: 'previous_response_not_found' });
  });
});

test('structured output is parsed, whole and streamed', async () => {
  const distance = z.object({ far: z.boolean(), unit: z.enum(['km', 'mi']) });
  const params = { model: 'plain', input, text: { format: zodTextFormat(distance, 'distance') } };
  const whole = await client.responses.parse(params);
  expect(whole.output_parsed).toEqual({ far: true, unit: 'km' });
  expect((await client.responses.stream(params).finalResponse()).output_parsed).toEqual(whole.output_parsed);
});

/** The SDK throws this. */
async function failureOf(promise: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const failure: unknown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (failure instanceof OpenAI.APIError) return failure;
  throw new Error('the call did not fail as the SDK fails', { cause: failure });
}

describe('failures are of the class the SDK has for them', () => {
  test.each([
    ['no-such-model', OpenAI.NotFoundError, { status: 404, code: 'model_not_found', param: 'model' }],
    ['status-429', OpenAI.RateLimitError, { status: 429, code: 'upstream_rate_limited' }],
    ['status-500', OpenAI.InternalServerError, { status: 502, code: 'upstream_error' }],
  ])('%s', async (model, kind, members) => {
    const failure = await failureOf(client.responses.create({ model, input }));
    expect(failure).toBeInstanceOf(kind);
    expect(failure).toMatchObject(members);
    expect((await entryOf(gateway, failure.requestID ?? '')).httpStatus).toBe(members.status);
    expect(await failureOf(client.responses.create({ model, input, stream: true }))).toBeInstanceOf(kind);
  });

  test('a wrong key is 401', async () => {
    const wrong = client.withOptions({ apiKey: `${gateway.keys.completions}x` });
    const failure = await failureOf(wrong.responses.create({ model: 'plain', input }));
    expect(failure).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  test('a stream that breaks off throws, after what had come', async () => {
    const stream = client.responses.stream({ model: 'cut-in-the-middle', input });
    let words = 0;
    stream.on('response.output_text.delta', () => words++);
    expect(await failureOf(stream.finalResponse())).toMatchObject({
      code: 'upstream_error',
      type: 'server_error',
    });
    expect(words).toBe(3);
  });
});

test('an abort in the middle of a stream reaches the upstream', async () => {
  const stream = await client.responses.create({ model: 'aborted', input: 'to be aborted', stream: true });
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') stream.controller.abort();
  }
  await simulator.until(
    ({ body, outcome }) => outcome === 'client-gone' && Buffer.from(body).includes('to be aborted'),
  );
  expect(await entryOfModel(gateway, 'aborted')).toMatchObject({
    status: 'caller_gone',
    usageSource: 'estimated',
    unbilledReason: null,
  });
});
