import { describe, expect, test } from 'vitest';
import { defaultDialect, type Work } from '../inbound-request.ts';
import { countReading } from '../protocol.ts';
import { noUsage } from '../usage.ts';
import { generateContent } from './index.ts';
import { chunk, counted } from './stream-frames.fixture.ts';

const encoder = new TextEncoder();

function readAnswer(body: unknown, work: Work = 'answer') {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return generateContent.readAnswer(encoder.encode(text), defaultDialect, work);
}

describe('an answer', () => {
  test('is read in full', () => {
    const parts = [{ text: 'é', thought: true }, { text: 'Hi' }, { functionCall: { name: 'clock' } }];
    expect(readAnswer(chunk(parts, 'STOP', counted))).toMatchObject({
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
    expect(readAnswer(body)).toMatchObject({ kind: 'answer', reading: { finishReason, hasOutput: false } });
  });

  test.each([
    [{ error: { code: 503, message: 'Busy', status: 'UNAVAILABLE' } }, 'overloaded'],
    [[{ error: { code: 400, message: 'No', status: 'INVALID_ARGUMENT' } }], 'invalid-request'],
    [{ choices: [] }, 'garbled'],
    ['<html>', 'garbled'],
    ['', 'garbled'],
    ['{"candidates":[', 'garbled'],
  ])('%j is none', (body, kind) => {
    expect(readAnswer(body)).toMatchObject({ kind: 'refusal', refusal: { kind } });
  });
});

describe('a count', () => {
  test.each([{ totalTokens: 31, promptTokensDetails: [] }, {}])('%j is one', (body) => {
    expect(readAnswer(body, 'count')).toBe(countReading);
  });

  test.each([{ error: { code: 500, message: 'No' } }, { totalTokens: 'many' }, '<html>'])(
    '%j is none',
    (body) => {
      expect(readAnswer(body, 'count').kind).toBe('refusal');
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
    expect(readAnswer(body, 'embed')).toMatchObject({ kind: 'answer', reading });
  });

  test.each([{ error: { code: 500, message: 'No' } }, {}, '[]', '{"embedding":'])('%j is none', (body) => {
    expect(readAnswer(body, 'embed').kind).toBe('refusal');
  });
});
