import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonRecord } from '../json.ts';
import { listOf, parseJson, recordOf } from '../json.ts';
import { exchange, nativeRequest, openRaw, readAnswer } from '../raw-exchange.fixture.ts';
import type { Simulator } from '../simulator.ts';
import { startSimulator } from '../simulator.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(async () => simulator.close());

const anything: unknown = expect.anything();
const signature: unknown = expect.stringMatching(/^[\w+/]+==$/);
const functionDeclarations = [
  { name: 'weather', parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } } },
  { name: 'clock', parametersJsonSchema: { type: 'object' } },
];
const tools = [{ functionDeclarations }];

async function ask(target: string, members: object = {}) {
  return exchange(simulator.origin, nativeRequest(target, members));
}

async function whole(model: string, members: object = {}): Promise<JsonRecord> {
  const { status, body } = await ask(`${model}:generateContent`, members);
  expect(status, body).toBe(200);
  return recordOf(parseJson(body));
}

async function chunks(model: string, members: object = {}): Promise<readonly JsonRecord[]> {
  const { body, headers } = await ask(`${model}:streamGenerateContent?alt=sse`, members);
  expect(headers['content-type']).toBe('text/event-stream');
  const frames = body.split('\r\n\r\n');
  expect(frames.pop()).toBe('');
  return frames.map((frame) => recordOf(parseJson(/^data: (\{.*\})$/.exec(frame)?.[1] ?? frame)));
}

function partsOf(chunk: JsonRecord | undefined): readonly unknown[] {
  const [candidate] = listOf(chunk?.['candidates']);
  return listOf(recordOf(recordOf(candidate)['content'])['parts']);
}

describe('a whole answer', () => {
  test('has the members that are set and no others', async () => {
    const { responseId, ...answer } = await whole('m+tokens=2');
    expect(responseId).toMatch(/^sim\d+$/);
    expect(answer).toEqual({
      candidates: [{ content: { parts: [{ text: 'This is' }], role: 'model' }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: 3,
        candidatesTokenCount: 2,
        totalTokenCount: 5,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 3 }],
        candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 2 }],
      },
      modelVersion: 'm',
    });
  });

  test.each(['v1', 'v1beta', 'v1alpha'])('is given under /%s', async (version) => {
    const request = nativeRequest('m:generateContent', {}).replace('/v1beta/', `/${version}/`);
    expect(await exchange(simulator.origin, request)).toMatchObject({ status: 200 });
  });

  test('counts thoughts beside candidates and the cache within the prompt', async () => {
    expect(await whole('m+tokens=2,reasoning=3,hidden-reasoning=4,prompt=1000,cached=700')).toMatchObject({
      usageMetadata: {
        promptTokenCount: 1000,
        cachedContentTokenCount: 700,
        cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 700 }],
        candidatesTokenCount: 2,
        thoughtsTokenCount: 7,
        totalTokenCount: 1009,
      },
    });
  });

  test('shows thoughts and signs the last text', async () => {
    const parts = partsOf(await whole('m+tokens=1,reasoning=2'));
    expect(parts).toEqual([
      { text: 'This is', thought: true },
      { text: 'This', thoughtSignature: signature },
    ]);
  });

  test.each([
    ['m+tokens=50', { generationConfig: { maxOutputTokens: 4 } }, 'MAX_TOKENS'],
    ['m+tokens=50', { generation_config: { max_output_tokens: 4 } }, 'MAX_TOKENS'],
    ['m+refusal', {}, 'SAFETY'],
    ['m', { tools }, 'STOP'],
    ['m+finish=MALFORMED_FUNCTION_CALL', {}, 'MALFORMED_FUNCTION_CALL'],
    ['m+finish=null', {}, undefined],
  ])('%s with %j finishes with %s', async (model, members, reason) => {
    const [candidate] = listOf((await whole(model, members))['candidates']);
    expect(recordOf(candidate)['finishReason']).toBe(reason);
  });

  test('calls the tools that are allowed, and signs the first call', async () => {
    const both = partsOf(await whole('m+calls=2,reasoning=1', { tools }));
    expect(both).toMatchObject([
      { thought: true },
      {
        functionCall: { name: 'weather', args: { city: 'sample city' } },
        thoughtSignature: anything,
      },
      { functionCall: { name: 'clock', args: {} } },
    ]);
    expect(both[2]).not.toHaveProperty('thoughtSignature');
    const config = { function_calling_config: { mode: 'ANY', allowed_function_names: ['clock'] } };
    expect(partsOf(await whole('m', { tools, tool_config: config }))).toMatchObject([
      { functionCall: { name: 'clock' } },
    ]);
    const none = { functionCallingConfig: { mode: 'NONE' } };
    expect(partsOf(await whole('m', { tools, toolConfig: none }))).toMatchObject([{ text: anything }]);
  });

  test('counts the system, results and media by kind, and speaks to the last result', async () => {
    const contents = [
      { role: 'user', parts: [{ text: 'one' }, { inlineData: { mimeType: 'image/png', data: '' } }] },
      { role: 'model', parts: [{ functionCall: { name: 'clock', args: { long: 'a b c' } } }] },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'clock', response: { output: 'two words' } } },
          { file_data: { mime_type: 'application/pdf', file_uri: 'x' } },
        ],
      },
    ];
    const answer = await whole('m', {
      systemInstruction: { parts: [{ text: 'be brief' }] },
      contents,
      tools,
    });
    expect(answer).toMatchObject({
      usageMetadata: {
        promptTokenCount: 205,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 5 },
          { modality: 'IMAGE', tokenCount: 100 },
          { modality: 'DOCUMENT', tokenCount: 100 },
        ],
      },
    });
    expect(JSON.stringify(answer)).toContain('The tool returned: “two words”');
  });

  test.each([
    { responseSchema: { type: 'OBJECT', properties: { days: { type: 'INTEGER' } } } },
    { response_json_schema: { type: 'object', properties: { days: { type: 'integer' } } } },
  ])('satisfies %j', async (config) => {
    const generationConfig = { responseMimeType: 'application/json', ...config };
    expect(partsOf(await whole('m', { generationConfig }))).toEqual([{ text: '{"days":1}' }]);
  });

  test('has a candidate for each that is asked for', async () => {
    const answer = await whole('m+tokens=1', { generationConfig: { candidateCount: 2 } });
    expect(answer).toMatchObject({
      candidates: [{ finishReason: 'STOP' }, { index: 1, finishReason: 'STOP' }],
      usageMetadata: { candidatesTokenCount: 2 },
    });
  });

  test('has none when the prompt is blocked', async () => {
    const { candidates, promptFeedback, usageMetadata } = await whole('m+refusal,tokens=0');
    expect(candidates).toBeUndefined();
    expect(promptFeedback).toEqual({ blockReason: 'PROHIBITED_CONTENT' });
    expect(usageMetadata).toMatchObject({ promptTokenCount: 3, totalTokenCount: 3 });
  });
});

describe('a stream', () => {
  test('of events has a chunk per token and finishes with the last of them', async () => {
    const all = await chunks('m+tokens=2,reasoning=1');
    expect(all.map((chunk) => partsOf(chunk))).toEqual([
      [{ text: 'This', thought: true }],
      [{ text: 'This' }],
      [{ text: ' is' }],
      [{ text: '', thoughtSignature: anything }],
    ]);
    expect(all.map(({ usageMetadata }) => recordOf(usageMetadata)['totalTokenCount'])).toEqual([4, 5, 6, 6]);
    expect(all.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] });
  });

  test('gives a call as a whole, and its tokens at once', async () => {
    const [first, second, last] = await chunks('m+calls=2', { tools });
    expect(partsOf(first)).toMatchObject([
      { functionCall: { name: 'weather', args: { city: 'sample city' } } },
    ]);
    expect(partsOf(second)).toMatchObject([{ functionCall: { name: 'clock', args: {} } }]);
    expect(first).toMatchObject({ usageMetadata: { candidatesTokenCount: 4 } });
    expect(last).toMatchObject({ usageMetadata: { candidatesTokenCount: 6 } });
  });

  test.each([
    ['usage=never', false, false],
    ['usage=finish', false, true],
    ['usage=asked', true, true],
  ])('%s', async (word, first, last) => {
    const all = await chunks(`m+tokens=1,${word}`);
    expect('usageMetadata' in (all[0] ?? {})).toBe(first);
    expect('usageMetadata' in (all.at(-1) ?? {})).toBe(last);
  });

  test('without alt=sse is one array, with the same chunks as its elements', async () => {
    const { body, headers } = await ask('m+tokens=2:streamGenerateContent');
    expect(headers['content-type']).toBe('application/json; charset=UTF-8');
    expect(body).toMatch(/^\[\{\n.*\n\}\n,\r\n\{\n.*\n\}\n,\r\n\{\n.*\n\}\n\]$/s);
    const ids = (list: readonly unknown[]) => list.map((chunk) => ({ ...recordOf(chunk), responseId: '' }));
    expect(ids(listOf(parseJson(body)))).toEqual(ids(await chunks('m+tokens=2')));
  });

  test('of a blocked prompt is one chunk', async () => {
    expect(await chunks('m+refusal,tokens=0')).toMatchObject([{ promptFeedback: { blockReason: anything } }]);
  });
});

describe('errors and faults', () => {
  test.each([
    ['m+fault=401', 401, 'UNAUTHENTICATED'],
    ['m+fault=429', 429, 'RESOURCE_EXHAUSTED'],
    ['m+fault=503', 503, 'UNAVAILABLE'],
    ['m+fault=500', 500, 'INTERNAL'],
    ['m+fault=418', 418, 'INVALID_ARGUMENT'],
    ['m+fault=400,code=context_length_exceeded', 400, 'INVALID_ARGUMENT'],
  ])('%s is a %i in the envelope of the protocol', async (model, code, status) => {
    const answer = await ask(`${model}:generateContent`);
    expect(answer.status).toBe(code);
    expect(parseJson(answer.body)).toMatchObject({ error: { code, status } });
  });

  test('details say which key is wrong and when to come back', async () => {
    const key = await ask('m+fault=400,code=invalid_api_key:generateContent');
    expect(key.body).toContain('"reason":"API_KEY_INVALID"');
    const limit = await ask('m+fault=429,retry-after=info:34.4s:generateContent');
    expect(limit.headers).not.toHaveProperty('retry-after');
    expect(JSON.parse(limit.body)).toMatchObject({
      error: { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }] },
    });
  });

  test('contents are required', async () => {
    const { status, body } = await ask('m:generateContent', { contents: [] });
    expect([status, body]).toEqual([400, expect.stringContaining('contents is not specified')]);
  });

  test('an error in a stream of events is an event, and nothing follows it', async () => {
    const all = await chunks('m+fault=error-mid-stream,at=2');
    expect(all).toHaveLength(3);
    expect(all.at(-1)).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } });
  });

  test('an error in an array is its last element', async () => {
    const { body } = await ask('m+fault=error-mid-stream,at=1:streamGenerateContent');
    expect(listOf(parseJson(body))).toMatchObject([{ candidates: anything }, { error: { code: 503 } }]);
  });

  test.each([
    ['before-content', '[', 'text'],
    ['mid-stream', ',\r\n', 'finishReason'],
    ['before-done', 'finishReason', '\n]'],
  ])('a reset of an array %s comes after %j and before %j', async (place, seen, unseen) => {
    const raw = openRaw(simulator.origin);
    raw.send(nativeRequest(`m+fault=reset-${place}:streamGenerateContent`));
    expect(await raw.farewell).toBe('RST');
    const body = readAnswer(raw.received)?.body;
    expect(body).toContain(seen);
    expect(body).not.toContain(unseen);
    raw.close();
  });
});

describe('prompts that are not answered', () => {
  const contents = [{ parts: [{ text: 'four words are here' }] }];

  test.each([
    { contents },
    { generateContentRequest: { contents } },
    { generate_content_request: { contents } },
  ])('countTokens counts %j', async (members) => {
    const { status, body } = await ask('m:countTokens', { contents: undefined, ...members });
    expect(status).toBe(200);
    const promptTokensDetails = [{ modality: 'TEXT', tokenCount: 4 }];
    expect(JSON.parse(body)).toEqual({ totalTokens: 4, promptTokensDetails });
  });

  test('embedContent gives a vector, the same for the same text', async () => {
    const content = { parts: [{ text: 'some text' }] };
    const { body } = await ask('m:embedContent', { contents: undefined, content, outputDimensionality: 3 });
    const requests = [{ content, output_dimensionality: 3 }, { content: { parts: [{ text: 'other' }] } }];
    const batch = await ask('m:batchEmbedContents', { contents: undefined, requests });
    const [first, second] = listOf(recordOf(parseJson(batch.body))['embeddings']);
    expect(parseJson(body)).toEqual({ embedding: first, usageMetadata: { promptTokenCount: 2 } });
    expect(listOf(recordOf(first)['values'])).toHaveLength(3);
    expect(listOf(recordOf(second)['values'])).toHaveLength(8);
    expect(parseJson(batch.body)).toMatchObject({ usageMetadata: { promptTokenCount: 3 } });
  });
});

test('the list of models comes in pages, and one by its name', async () => {
  const get = async (target: string) =>
    exchange(simulator.origin, `GET ${target} HTTP/1.1\r\nhost: simulator\r\n\r\n`);
  const first = recordOf(parseJson((await get('/v1beta/models?pageSize=2')).body));
  expect(first['models']).toMatchObject([{ name: 'models/sim-fast' }, { name: 'models/sim-demo' }]);
  const rest = await get(`/v1beta/models?pageSize=2&pageToken=${String(first['nextPageToken'])}`);
  expect(parseJson(rest.body)).toEqual({
    models: [expect.objectContaining({ name: 'models/sim-reasoning' })],
  });
  expect((await get('/v1beta/models/sim-demo')).body).toContain('"name":"models/sim-demo"');
  expect((await get('/v1beta/models/nothing')).status).toBe(404);
});
