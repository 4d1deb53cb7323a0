import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import {
  APICallError,
  generateText,
  isStepCount,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  tool,
} from 'ai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
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

/** The SDK's providers, each set up with a base URL and a key and nothing else. */
const providers = {
  'openai chat': (model: string) =>
    createOpenAI({ apiKey: site.gateway.keys.completions, baseURL: `${site.gateway.apiOrigin}/v1` }).chat(
      model,
    ),
  'openai responses': (model: string) =>
    createOpenAI({
      apiKey: site.gateway.keys.completions,
      baseURL: `${site.gateway.apiOrigin}/v1`,
    }).responses(model),
  anthropic: (model: string) =>
    createAnthropic({ apiKey: site.gateway.keys.messages, baseURL: `${site.gateway.apiOrigin}/v1` })(model),
  google: (model: string) =>
    createGoogle({ apiKey: site.gateway.keys.native, baseURL: `${site.gateway.apiOrigin}/v1beta` })(model),
} satisfies Record<string, (model: string) => LanguageModel>;

type ProviderName = keyof typeof providers;

const providerNames: readonly ProviderName[] = ['openai chat', 'openai responses', 'anthropic', 'google'];
const pairs = providerNames.flatMap((name) => upstreams.map((upstream) => [name, upstream] as const));

let site: ProtocolSite;

beforeAll(async () => {
  site = await openProtocolSite();
});
afterAll(async () => site[Symbol.asyncDispose]());

/** The SDK's complaints of streams that should be in order, such as a chunk that is not as it knows them. */
const complaints: unknown[] = [];
const onError = ({ error }: { readonly error: unknown }) => void complaints.push(error);
afterEach(() => expect(complaints.splice(0)).toEqual([]));

const prompt = 'How far is the moon?';
const instructions = 'Be brief.';
/** Errors are tried again by the SDK unless it is told not to. */
const once = { maxRetries: 0, maxOutputTokens: 500 };

/** Else the SDK refers to what was said by ids, which only the vendor that said it has. */
const openai = { store: false, include: ['reasoning.encrypted_content'] };
const selfContained = { ...once, providerOptions: { openai } };

const tools = {
  weather: tool({
    description: 'Tells the weather.',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `sun over ${city}`,
  }),
  clock: tool({
    description: 'Tells the time.',
    inputSchema: z.object({ zone: z.string() }),
    execute: ({ zone }) => ({ zone, hour: 12 }),
  }),
};

const distance = Output.object({ schema: z.object({ far: z.boolean(), unit: z.enum(['km', 'mi']) }) });

const picture: ModelMessage = {
  role: 'user',
  content: [
    { type: 'text', text: 'What is this?' },
    { type: 'file', data: Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10]), mediaType: 'image/png' },
  ],
};

/** Thoughts as they are shown; those without words are there for their state. */
function wordsOf(reasoning: readonly { readonly type: string; readonly text?: string }[]): readonly string[] {
  return reasoning.flatMap(({ text }) => text ?? []).filter((text) => text !== '');
}

describe.each(pairs)('provider %s on %s', (name, upstream) => {
  const idOf = (feature: Feature) => modelOf(feature, upstream);
  const modelFor = (feature: Feature) => providers[name](idOf(feature));

  test('has text, whole and streamed', async () => {
    const whole = await generateText({ ...once, model: modelFor('plain'), instructions, prompt });
    expect(whole).toMatchObject({ text: 'This is a simulated', finishReason: 'stop' });
    expect(whole.usage).toMatchObject({ inputTokens: 7, outputTokens: 4, totalTokens: 11 });
    const streamed = streamText({ ...once, model: modelFor('plain'), instructions, prompt, onError });
    expect(await Array.fromAsync(streamed.textStream)).toEqual(['This', ' is', ' a', ' simulated']);
    expect(await streamed.finishReason).toBe('stop');
    expect(await streamed.usage).toMatchObject({ inputTokens: 7, outputTokens: 4 });
  });

  test.each(['tools', 'thinking-tools'] as const)(
    'goes through a loop of parallel calls (%s)',
    async (feature) => {
      const asked = { ...once, model: modelFor(feature), prompt, tools, stopWhen: isStepCount(3) };
      const whole = await generateText(asked);
      expect(whole.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
      expect(whole.steps[0]?.toolCalls.map((call) => [call.toolName, call.input])).toEqual([
        ['weather', { city: 'sample city' }],
        ['clock', { zone: 'sample zone' }],
      ]);
      expect(whole.text).toContain('The tool returned: “');
      const streamed = streamText({ ...asked, onError });
      expect(await streamed.text).toBe(whole.text);
      const steps = await streamed.steps;
      expect(steps[0]?.toolResults.map(({ output }) => output)).toEqual([
        'sun over sample city',
        { zone: 'sample zone', hour: 12 },
      ]);
    },
  );

  test.each(upstreams)('goes on with a loop on %s', async (next) => {
    const prepareStep = ({ stepNumber }: { readonly stepNumber: number }) => ({
      model: stepNumber === 0 ? modelFor('thinking-tools') : providers[name](modelOf('thinking-tools', next)),
    });
    const loop = { ...selfContained, prompt, tools, prepareStep, stopWhen: isStepCount(3) };
    const asked = { ...loop, model: modelFor('plain') };
    const whole = await generateText(asked);
    expect(whole.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(whole.text).toContain('The tool returned: “');
    expect(await streamText({ ...asked, onError }).text).toBe(whole.text);
  });

  test('goes on with a conversation', async () => {
    const first = await generateText({ ...selfContained, model: modelFor('thinking'), prompt });
    const messages: ModelMessage[] = [
      { role: 'user', content: prompt },
      ...first.responseMessages,
      { role: 'user', content: 'And back?' },
    ];
    const second = await generateText({ ...selfContained, model: modelFor('plain'), messages });
    expect(second.text).toBe('This is a simulated');
    const received = bodiesOf(site.simulator).at(-1);
    expect(received).toContain('"This is"');
  });

  test('shows a picture', async () => {
    const { text, usage } = await generateText({ ...once, model: modelFor('vision'), messages: [picture] });
    expect(text).toBe('This is');
    expect(usage.inputTokens).toBe(103);
  });

  test('has structured output, whole and streamed', async () => {
    const asked = { ...once, model: modelFor('schema'), prompt, output: distance };
    expect((await generateText(asked)).output).toEqual({ far: true, unit: 'km' });
    const streamed = streamText({ ...asked, onError });
    expect((await Array.fromAsync(streamed.partialOutputStream)).at(-1)).toEqual({ far: true, unit: 'km' });
  });

  test('tells reasoning from what is said', async () => {
    const asked = { ...once, model: modelFor('thinking'), prompt };
    const whole = await generateText(asked);
    const shown = name === 'openai chat' ? [] : ['This is simulated'];
    expect(wordsOf(whole.reasoning)).toEqual(shown);
    expect(whole.text).toBe('This is');
    const streamed = streamText({ ...asked, onError });
    expect(await streamed.text).toBe('This is');
    expect(wordsOf(await streamed.reasoning)).toEqual(shown);
    expect(await streamed.usage).toMatchObject({ outputTokens: 5 });
  });

  test('knows an answer that was cut short', async () => {
    const asked = { ...once, maxOutputTokens: 16, model: modelFor('short'), prompt };
    expect(await generateText(asked)).toMatchObject({ finishReason: 'length', usage: { outputTokens: 16 } });
    expect(await streamText({ ...asked, onError }).finishReason).toBe('length');
  });

  test('knows a refusal', async () => {
    const asked = { ...once, model: modelFor('refused'), prompt };
    const whole = await generateText(asked);
    const streamed = streamText({ ...asked, onError });
    expect(whole.finishReason).toBe('content-filter');
    expect(await streamed.finishReason).toBe('content-filter');
  });

  test.each([
    ['error-400', 400, false],
    ['error-429', 429, true],
    ['error-503', 502, true],
  ] as const)('knows the error of %s', async (feature, statusCode, isRetryable) => {
    const asked = { ...once, model: modelFor(feature), prompt };
    const thrown: unknown = await generateText(asked).catch((error: unknown) => error);
    expect(APICallError.isInstance(thrown)).toBe(true);
    expect(thrown).toMatchObject({ statusCode, isRetryable });
    const parts = await Array.fromAsync(streamText({ ...asked, onError: () => {} }).stream);
    expect(parts.find(({ type }) => type === 'error')).toMatchObject({ error: { statusCode, isRetryable } });
  });

  test('does not take a stream that breaks off for a whole one', async () => {
    const streamed = streamText({ ...once, model: modelFor('cut'), prompt, onError: () => {} });
    const kinds: string[] = [];
    const read = async () => {
      for await (const part of streamed.stream) kinds.push(part.type);
    };
    await expect(read()).rejects.toThrow();
    expect(kinds.filter((kind) => kind === 'text-delta')).toHaveLength(3);
    expect(kinds).toContain('error');
  });

  test('hangs up in the middle', async () => {
    const abort = new AbortController();
    const asked = { ...once, model: modelFor('slow'), prompt, abortSignal: abort.signal };
    for await (const part of streamText({ ...asked, maxOutputTokens: 5000 }).stream) {
      if (part.type === 'text-delta') abort.abort();
    }
    expect(await latestEntryOfModel(site.gateway, idOf('slow'))).toMatchObject({
      status: 'caller_gone',
      unbilledReason: null,
    });
  });
});

test('a wrong key is an error that is not worth a second try', async () => {
  const model = createOpenAI({ apiKey: 'wrong', baseURL: `${site.gateway.apiOrigin}/v1` }).chat('plain');
  const thrown: unknown = await generateText({ model, prompt }).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ statusCode: 401, isRetryable: false });
});

test('what was said is not known by its id on a channel of another vendor, and the error says what to do', async () => {
  const model = providers['openai responses'](modelOf('plain', 'messages'));
  const first = await generateText({ ...once, model, prompt });
  const messages: ModelMessage[] = [...first.responseMessages, { role: 'user', content: 'And back?' }];
  const thrown: unknown = await generateText({ ...once, model, messages }).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ statusCode: 400, isRetryable: false });
  expect(thrown).toHaveProperty('message', expect.stringContaining("'store' set to false"));
});
