import { describe, expect, test } from 'vitest';
import { defaultDialect } from '../request.ts';
import { noUsage, totalInput, totalOutput } from '../usage.ts';
import { responses } from './index.ts';
import { readUsage } from './meter.ts';
import { message, response, wireUsage } from './stream-frames.fixture.ts';

const encoder = new TextEncoder();

const read = (body: unknown) =>
  responses.readAnswer(
    encoder.encode(typeof body === 'string' ? body : JSON.stringify(body)),
    defaultDialect,
  );

function readingOf(body: object) {
  const answer = read(body);
  if (answer.kind === 'refusal') throw new Error(answer.refusal.message);
  return answer.reading;
}

describe('a whole answer', () => {
  test('is read', () => {
    expect(readingOf(response({ output: [message('né')] }))).toMatchObject({
      usage: {
        ...noUsage,
        inputFresh: 10,
        inputCacheRead: 60,
        inputCacheWrite5m: 30,
        output: 40,
        outputReasoning: 15,
      },
      finishReason: 'stop',
      finishReasonRaw: 'completed',
      modelServed: 'served',
      answerId: 'resp_1',
      hasOutput: true,
      outputBytes: 3,
    });
  });

  test.each([
    [{ output: [{ type: 'function_call', name: 'n', arguments: '{}' }] }, 'tool-calls', 'completed'],
    [{ output: [{ type: 'custom_tool_call', name: 'n', input: '' }] }, 'tool-calls', 'completed'],
    [{ output: [{ type: 'web_search_call' }, message('a')] }, 'stop', 'completed'],
    [
      { output: [{ ...message(null), content: [{ type: 'refusal', refusal: 'no' }] }] },
      'refusal',
      'completed',
    ],
    [
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      'length',
      'max_output_tokens',
    ],
    [
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      'content-filter',
      'content_filter',
    ],
    [{ status: 'incomplete', incomplete_details: null }, null, null],
  ])('%j stopped by %s', (members, finishReason, finishReasonRaw) => {
    expect(readingOf(response(members))).toMatchObject({ finishReason, finishReasonRaw });
  });

  test.each([
    [[], false],
    [[message('')], false],
    [[{ type: 'reasoning', summary: [] }], false],
    [[{ type: 'reasoning', summary: [], encrypted_content: 's' }], true],
    [[{ type: 'image_generation_call', result: 'iVBO' }], true],
  ])('with output %j has output: %s', (output, hasOutput) => {
    expect(readingOf(response({ output })).hasOutput).toBe(hasOutput);
  });

  test.each([
    [response({ status: 'failed', error: { code: 'rate_limit_exceeded', message: 'm' } }), 'rate-limited'],
    [response({ status: 'failed', error: null }), 'server-error'],
    [{ error: { type: 'server_error', code: null, message: 'm', param: null } }, 'server-error'],
    [{ choices: [] }, 'garbled'],
    ['{"output":[]} and more', 'garbled'],
    ['<html>', 'garbled'],
    ['', 'garbled'],
  ])('%j in its place is %s', (body, kind) => {
    expect(read(body)).toMatchObject({ kind: 'refusal', refusal: { kind } });
  });
});

describe('usage', () => {
  test.each([
    [
      { ...wireUsage, input_tokens_details: null, output_tokens_details: null },
      { inputFresh: 100, outputReasoning: 0 },
    ],
    [
      { ...wireUsage, input_tokens_details: { cached_tokens: 170 } },
      { inputFresh: 0, inputCacheRead: 100 },
    ],
    [
      { ...wireUsage, output_tokens_details: { reasoning_tokens: 99 } },
      { output: 40, outputReasoning: 40 },
    ],
    [
      { ...wireUsage, output_tokens_details: { image_tokens: 25 } },
      { output: 15, outputImage: 25 },
    ],
    [
      { ...wireUsage, input_tokens_details: { audio_tokens: 3, image_tokens: 7 } },
      { inputFresh: 90, inputAudio: 3 },
    ],
  ])('%j', (wire, parts) => {
    const usage = readUsage(wire) ?? noUsage;
    expect(usage).toMatchObject(parts);
    expect([totalInput(usage), totalOutput(usage)]).toEqual([100, 40]);
  });

  test.each([null, 7, {}, { input_tokens: -1 }, { output_tokens: 'x' }])('%j is none', (wire) =>
    expect(readUsage(wire)).toBeNull(),
  );
});
