import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { callAs } from './support/limited-calls.ts';
import { exchange, type RawAnswer, request } from './support/raw-http.ts';
import { jsonScript, type ScriptedUpstream, startScriptedUpstream } from './support/scripted-upstream.ts';
import { errorCodeOf, type Surface } from './support/surface-calls.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const models = { small: 'vendor-small-1', large: 'vendor-large-1', secret: 'vendor-secret-1' };
  const bound = ['small', 'large'];
  gateway = await openTestGateway({
    channels: [{ id: 'main', origin: upstream.origin, models }],
    moreKeys: {
      'chat-completions': { models: bound },
      responses: { models: bound },
      messages: { group: 'messages', models: bound },
      'generate-content': { group: 'native', models: bound },
      images: { models: bound },
    },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  upstream.close();
});

/** Whole answers of each protocol. */
const answers: Readonly<Record<Surface | 'images', object>> = {
  'chat-completions': {
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  },
  responses: {
    ...{ object: 'response', status: 'completed', usage: { input_tokens: 1, output_tokens: 1 } },
    output: [
      {
        ...{ type: 'message', role: 'assistant' },
        content: [{ type: 'output_text', text: 'hi', annotations: [] }],
      },
    ],
  },
  messages: {
    ...{ type: 'message', role: 'assistant', stop_reason: 'end_turn' },
    ...{ content: [{ type: 'text', text: 'hi' }], usage: { input_tokens: 1, output_tokens: 1 } },
  },
  'generate-content': {
    candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
  },
  images: { created: 1, data: [{ b64_json: 'aGk=' }], usage: { input_tokens: 1, output_tokens: 1 } },
};

/** Calls `small` with further members in the body. */
function call(surface: Surface | 'images', more: object): Promise<RawAnswer> {
  upstream.script = jsonScript(JSON.stringify(answers[surface]));
  upstream.asked = '';
  if (surface !== 'images') return callAs(gateway, surface, surface, 'small', 'json', more);
  const headers = [`authorization: Bearer ${gateway.moreKeys['images']}`, 'content-type: application/json'];
  const body = JSON.stringify({ model: 'small', prompt: 'a cat', ...more });
  return exchange(gateway.apiOrigin, request('POST /v1/images/generations', headers, body));
}

/** Members by which a caller would reach a model that its key may not call, by way of one that it may. */
const elsewhere: readonly (readonly [surface: Surface | 'images', members: object])[] = [
  ['chat-completions', { models: ['small', 'secret'] }],
  ['chat-completions', { models: ['VENDOR-SECRET-1'] }],
  ['chat-completions', { fallbacks: [{ model: 'secret', messages: [] }] }],
  ['chat-completions', { draft_model: 'secret' }],
  ['chat-completions', { plugins: [{ id: 'web', engine: { llm: 'secret' } }] }],
  ['chat-completions', { extra_body: { models: ['secret'] } }],
  ['chat-completions', { providerOptions: { gateway: { models: ['secret'] } } }],
  ['chat-completions', { tools: [{ type: 'x:advisor', parameters: { model: 'secret' } }] }],
  ['responses', { tools: [{ type: 'image_generation', model: 'secret' }] }],
  ['responses', { future: { sub_model: 'vendor-secret-1' } }],
  ['messages', { tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'secret' }] }],
  ['messages', { fallbacks: [{ model: 'secret' }] }],
  ['generate-content', { model: 'models/secret' }],
  ['generate-content', { generationConfig: { routingConfig: { manualMode: { modelName: 'secret' } } } }],
  ['generate-content', { labels: { model: 'secret' } }],
  ['images', { fallback_model: 'secret' }],
  ['images', { refiner: 'vendor-secret-1' }],
];

test.each(elsewhere)('%s with %j is refused before anything is sent', async (surface, members) => {
  const answer = await call(surface, members);
  expect(answer.status).toBe(404);
  expect(errorCodeOf(answer, surface === 'images' ? 'chat-completions' : surface)).toBe('model_not_found');
  // Nobody learns what it is called upstream, and nothing was asked there.
  expect(answer.body.toString()).not.toMatch(/vendor-(small|large)/);
  expect(upstream.asked).toBe('');
  expect(await entryOf(gateway, answer.headers.get('x-trace-id'))).toMatchObject({
    ...{ status: 'failed', unbilledReason: 'refused_by_gateway', errorCode: 'model_not_found' },
    ...{ chargeNanoUsd: 0n, attempts: [] },
  });
});

/** Members that let the upstream choose, that are kept there or that it may read as others: nobody could tell what the call costs. */
const blank: readonly (readonly [surface: Surface, members: object])[] = [
  ['chat-completions', { plugins: [{ id: 'fusion' }] }],
  ['chat-completions', { preset: 'cheap' }],
  ['chat-completions', { Model: 'secret' }],
  ['chat-completions', { tools: [{ type: 'x:fusion' }] }],
  ['responses', { prompt: { id: 'pmpt_1', version: '2' } }],
  ['generate-content', { generationConfig: { routingConfig: { autoMode: {} } } }],
  ['generate-content', { generationConfig: { modelConfig: { featureSelectionPreference: 'COST' } } }],
];

test.each(blank)('%s with %j is a mistake that names the member', async (surface, members) => {
  const answer = await call(surface, members);
  expect(answer.status).toBe(400);
  expect(answer.body.toString().toLowerCase()).toContain(Object.keys(members)[0]?.toLowerCase());
  expect(upstream.asked).toBe('');
});

/** The same members with models that the key may call: they go by the names that they have upstream. */
const allowed: readonly (readonly [surface: Surface | 'images', members: object, asked: object])[] = [
  ['chat-completions', { models: ['large'], route: 'fallback' }, { models: ['vendor-large-1'] }],
  ['chat-completions', { metadata: { topic: 'secret' }, stop: ['secret'] }, { stop: ['secret'] }],
  [
    'responses',
    { tools: [{ type: 'image_generation', model: 'large' }] },
    { tools: [{ type: 'image_generation', model: 'vendor-large-1' }] },
  ],
  ['messages', { fallbacks: [{ model: 'large' }] }, { fallbacks: [{ model: 'vendor-large-1' }] }],
  [
    'generate-content',
    { generationConfig: { routingConfig: { manualMode: { modelName: 'large' } } } },
    { generationConfig: { routingConfig: { manualMode: { modelName: 'vendor-large-1' } } } },
  ],
  ['images', { user: 'secret' }, { user: 'secret', model: 'vendor-small-1' }],
];

test.each(allowed)('%s with %j goes by upstream names', async (surface, members, asked) => {
  expect((await call(surface, members)).status).toBe(200);
  expect(JSON.parse(upstream.asked)).toMatchObject(asked);
});
