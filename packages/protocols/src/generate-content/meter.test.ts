import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countReading } from '../protocol.ts';
import { defaultDialect, type Work } from '../request.ts';
import { noUsage, totalInput, totalOutput } from '../usage.ts';
import { generateContent } from './index.ts';
import { readUsage } from './meter.ts';
import { chunk, counted } from './stream-frames.fixture.ts';

const text = (tokenCount: number) => ({ modality: 'TEXT', tokenCount });
const image = (tokenCount: number) => ({ modality: 'IMAGE', tokenCount });
const audio = (tokenCount: number) => ({ modality: 'AUDIO', tokenCount });

test.each<readonly [string, object, object]>([
  [
    'a prompt and an answer',
    { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 },
    { inputFresh: 5, output: 7 },
  ],
  [
    'thoughts beside the candidates',
    { promptTokenCount: 5, candidatesTokenCount: 7, thoughtsTokenCount: 4, totalTokenCount: 16 },
    { inputFresh: 5, output: 11, outputReasoning: 4 },
  ],
  [
    'thoughts and no answer',
    { promptTokenCount: 5, thoughtsTokenCount: 4, totalTokenCount: 9 },
    { inputFresh: 5, output: 4, outputReasoning: 4 },
  ],
  [
    'a cache within the prompt',
    { promptTokenCount: 100, cachedContentTokenCount: 80, candidatesTokenCount: 1 },
    { inputFresh: 20, inputCacheRead: 80, output: 1 },
  ],
  [
    'what tools put in, beside the prompt',
    { promptTokenCount: 10, toolUsePromptTokenCount: 30, candidatesTokenCount: 1, totalTokenCount: 41 },
    { inputFresh: 40, output: 1 },
  ],
  [
    'pictures and sounds in the prompt, films and documents as text',
    {
      promptTokenCount: 1000,
      candidatesTokenCount: 1,
      promptTokensDetails: [
        text(10),
        image(258),
        audio(32),
        { modality: 'VIDEO', tokenCount: 600 },
        { modality: 'DOCUMENT', tokenCount: 100 },
      ],
    },
    { inputFresh: 710, inputImage: 258, inputAudio: 32, output: 1 },
  ],
  [
    'a cached sound, once',
    {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 1,
      promptTokensDetails: [text(50), audio(50)],
      cacheTokensDetails: [text(20), audio(40)],
    },
    { inputFresh: 30, inputCacheRead: 20, inputCacheReadAudio: 40, inputAudio: 10, output: 1 },
  ],
  [
    'a picture and a sound in the answer',
    {
      promptTokenCount: 5,
      candidatesTokenCount: 1300,
      thoughtsTokenCount: 7,
      candidatesTokensDetails: [image(1290), audio(4)],
    },
    { inputFresh: 5, output: 13, outputReasoning: 7, outputImage: 1290, outputAudio: 4 },
  ],
  [
    'an answer that only the total counts',
    { promptTokenCount: 5, totalTokenCount: 9 },
    { inputFresh: 5, output: 4 },
  ],
  [
    'details larger than what they are of',
    {
      promptTokenCount: 5,
      candidatesTokenCount: 2,
      promptTokensDetails: [image(9)],
      candidatesTokensDetails: [image(9)],
    },
    { inputImage: 5, outputImage: 2 },
  ],
])('%s', (_, wire, parts) => {
  expect(readUsage(wire)).toEqual({ ...noUsage, ...parts });
});

test.each([[undefined], [null], [7], [{}], [{ trafficType: 'ON_DEMAND' }], [{ promptTokenCount: '5' }]])(
  '%j is no usage',
  (wire) => {
    expect(readUsage(wire)).toBeNull();
  },
);

test('the parts add up to the total, whatever the details say', () => {
  const count = fc.nat(10_000);
  const details = fc.array(
    fc.record({ modality: fc.constantFrom('TEXT', 'IMAGE', 'AUDIO', 'VIDEO'), tokenCount: count }),
  );
  fc.assert(
    fc.property(
      count,
      count,
      count,
      count,
      count,
      details,
      details,
      (prompt, cached, tools, candidates, thoughts, a, b) => {
        const used = readUsage({
          promptTokenCount: prompt,
          cachedContentTokenCount: cached,
          toolUsePromptTokenCount: tools,
          candidatesTokenCount: candidates,
          thoughtsTokenCount: thoughts,
          promptTokensDetails: a,
          cacheTokensDetails: b,
          candidatesTokensDetails: b,
        });
        expect(used === null ? null : [totalInput(used), totalOutput(used)]).toEqual([
          prompt + tools,
          candidates + thoughts,
        ]);
      },
    ),
  );
});

const encoder = new TextEncoder();

function readBody(body: unknown, work: Work = 'answer') {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return generateContent.readAnswer(encoder.encode(text), defaultDialect, work);
}

describe('an answer', () => {
  test('is read in full', () => {
    const parts = [{ text: 'é', thought: true }, { text: 'Hi' }, { functionCall: { name: 'clock' } }];
    expect(readBody(chunk(parts, 'STOP', counted))).toMatchObject({
      kind: 'answer',
      reading: {
        usage: { ...noUsage, inputFresh: 3, output: 4 },
        finishReason: 'tool-calls',
        finishReasonRaw: 'STOP',
        modelServed: 'served',
        hasOutput: true,
        outputBytes: 4 + '{"name":"clock"}'.length,
      },
    });
  });

  test.each([
    ['without content', { candidates: [{ finishReason: 'MAX_TOKENS' }] }, 'length'],
    [
      'without parts',
      { candidates: [{ content: { role: 'model' }, finishReason: 'SAFETY' }] },
      'content-filter',
    ],
    ['whose prompt was blocked', { promptFeedback: { blockReason: 'SAFETY' } }, 'content-filter'],
    ['that finished without a word', { candidates: [{ content: { parts: [] } }] }, null],
  ])('%s is one all the same', (_, body, finishReason) => {
    expect(readBody(body)).toMatchObject({ kind: 'answer', reading: { finishReason, hasOutput: false } });
  });

  test.each([
    [{ error: { code: 503, message: 'Busy', status: 'UNAVAILABLE' } }, 'overloaded'],
    [[{ error: { code: 400, message: 'No', status: 'INVALID_ARGUMENT' } }], 'invalid-request'],
    [{ choices: [] }, 'garbled'],
    ['<html>', 'garbled'],
    ['', 'garbled'],
    ['{"candidates":[', 'garbled'],
  ])('%j is none', (body, kind) => {
    expect(readBody(body)).toMatchObject({ kind: 'refusal', refusal: { kind } });
  });
});

describe('a count', () => {
  test.each([{ totalTokens: 31, promptTokensDetails: [] }, {}])('%j is one', (body) => {
    expect(readBody(body, 'count')).toBe(countReading);
  });

  test.each([{ error: { code: 500, message: 'No' } }, { totalTokens: 'many' }, '<html>'])(
    '%j is none',
    (body) => {
      expect(readBody(body, 'count').kind).toBe('refusal');
    },
  );

  test('of ours is in the words of the protocol', () => {
    const encoded = generateContent.encodeTokenCount?.(12);
    expect(new TextDecoder().decode(encoded)).toBe('{"totalTokens":12}');
  });
});

describe('an embedding', () => {
  test.each([
    [{ embedding: { values: [0.5] } }, null],
    [
      { embeddings: [{ values: [1] }], usageMetadata: { promptTokenCount: 8 } },
      { ...noUsage, inputFresh: 8 },
    ],
  ])('%j is one', (body, usage) => {
    const reading = { usage, hasOutput: true, outputBytes: 0 };
    expect(readBody(body, 'embed')).toMatchObject({ kind: 'answer', reading });
  });

  test.each([{ error: { code: 500, message: 'No' } }, {}, '[]', '{"embedding":'])('%j is none', (body) => {
    expect(readBody(body, 'embed').kind).toBe('refusal');
  });
});
