import { describe, expect, test } from 'vitest';
import { countReading } from '../protocol.ts';
import { defaultDialect } from '../request.ts';
import { noUsage } from '../usage.ts';
import { messages } from './index.ts';
import { readUsage } from './meter.ts';

const encoder = new TextEncoder();
const read = (body: unknown) =>
  messages.readAnswer(encoder.encode(typeof body === 'string' ? body : JSON.stringify(body)), defaultDialect);

function readingOf(body: object) {
  const answer = read(body);
  if (answer.kind === 'refusal') throw new Error(answer.refusal.message);
  return answer.reading;
}

const answer = {
  type: 'message',
  model: 'served',
  content: [{ type: 'text', text: 'né' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: 2 },
};

describe('a count', () => {
  const readCount = (text: string) => messages.readAnswer(encoder.encode(text), defaultDialect, 'count');

  test('is one by its number', () => {
    expect(readCount('{"input_tokens":0,"new":1}')).toBe(countReading);
  });

  test.each(['{}', '{"input_tokens":"5"}', '[5]', 'nothing', JSON.stringify(answer)])('is not %s', (text) => {
    expect(readCount(text).kind).toBe('refusal');
  });

  test('of ours is in the same words', () => {
    const bytes = messages.encodeTokenCount?.(7) ?? expect.fail('there are no words for it');
    expect(new TextDecoder().decode(bytes)).toBe('{"input_tokens":7}');
  });
});

describe('a whole answer', () => {
  test('is read', () => {
    expect(readingOf(answer)).toMatchObject({
      usage: { ...noUsage, inputFresh: 3, output: 2 },
      finishReason: 'stop',
      finishReasonRaw: 'end_turn',
      modelServed: 'served',
      hasOutput: true,
      outputBytes: 3,
    });
  });

  test('names the container that it worked in', () => {
    const container = { id: 'container_1', expires_at: '2026-01-01T00:00:00Z' };
    expect(readingOf({ ...answer, container }).containerId).toBe('container_1');
    expect(readingOf({ ...answer, id: 'msg_1', container: null })).toMatchObject({
      answerId: 'msg_1',
      containerId: null,
    });
  });

  test.each([
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool-calls'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['refusal', 'refusal'],
    ['invented', 'unknown'],
  ])('that stopped with %s stopped by %s', (raw, reason) => {
    expect(readingOf({ ...answer, stop_reason: raw }).finishReason).toBe(reason);
  });

  test.each([
    [[], false],
    [[{ type: 'text', text: '' }], false],
    [[{ type: 'thinking', thinking: '', signature: 's' }], true],
    [[{ type: 'tool_use', id: 't', name: 'n', input: {} }], true],
  ])('with content %j has output: %s', (content, hasOutput) => {
    expect(readingOf({ ...answer, content }).hasOutput).toBe(hasOutput);
  });

  test.each([
    [{ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }, 'overloaded'],
    ['<html>', 'garbled'],
    ['', 'garbled'],
    [{ choices: [] }, 'garbled'],
  ])('%j in its place is %s', (body, kind) => {
    expect(read(body)).toMatchObject({ kind: 'refusal', refusal: { kind } });
  });
});

describe('usage', () => {
  test('counts the cache apart from the input', () => {
    const wire = {
      input_tokens: 10,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 12, ephemeral_1h_input_tokens: 18 },
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 4 },
    };
    expect(readUsage(wire)).toEqual({
      ...noUsage,
      inputFresh: 10,
      inputCacheRead: 20,
      inputCacheWrite5m: 12,
      inputCacheWrite1h: 18,
      output: 9,
      outputReasoning: 4,
    });
  });

  test.each([
    [{ cache_creation_input_tokens: 30 }, 30, 0],
    [{ cache_creation: { ephemeral_1h_input_tokens: 5 } }, 0, 5],
    [{ cache_creation_input_tokens: 30, cache_creation: { ephemeral_1h_input_tokens: 5 } }, 25, 5],
    [{ cache_creation_input_tokens: 3, cache_creation: { ephemeral_1h_input_tokens: 5 } }, 0, 3],
    [{ cache_creation_input_tokens: null, cache_creation: null }, 0, 0],
  ])('of cache writes %j', (members, inputCacheWrite5m, inputCacheWrite1h) => {
    expect(readUsage({ input_tokens: 1, ...members })).toMatchObject({
      inputCacheWrite5m,
      inputCacheWrite1h,
    });
  });

  test('is the sum of the iterations where they are listed', () => {
    const iterations = [
      { type: 'compaction', input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 1 },
      { type: 'message', input_tokens: 20, output_tokens: 5 },
    ];
    expect(readUsage({ input_tokens: 20, output_tokens: 5, iterations })).toEqual({
      ...noUsage,
      inputFresh: 120,
      inputCacheRead: 1,
      output: 15,
    });
    expect(readUsage({ input_tokens: 20, output_tokens: 5, iterations: [] })).toMatchObject({ output: 5 });
  });

  test('of each request is told with its model, where the answer lists them', () => {
    const usage = {
      ...{ input_tokens: 412, output_tokens: 531 },
      iterations: [
        { type: 'message', input_tokens: 412, output_tokens: 89 },
        { type: 'advisor_message', model: 'wise-1', input_tokens: 823, output_tokens: 1_612 },
        { type: 'message', input_tokens: 1_348, cache_read_input_tokens: 412, output_tokens: 442 },
      ],
    };
    const body = { type: 'message', model: 'quick-1', content: [{ type: 'text', text: 'a' }], usage };
    const whole = messages.readAnswer(encoder.encode(JSON.stringify(body)), defaultDialect);
    const expected = [
      { model: null, usage: { ...noUsage, inputFresh: 412, output: 89 } },
      { model: 'wise-1', usage: { ...noUsage, inputFresh: 823, output: 1_612 } },
      { model: null, usage: { ...noUsage, inputFresh: 1_348, inputCacheRead: 412, output: 442 } },
    ];
    expect(whole).toMatchObject({ reading: { modelServed: 'quick-1', iterations: expected } });
    const stream = messages.openStream(defaultDialect);
    for (const event of [
      { type: 'message_start', message: { ...body, content: [], usage: { input_tokens: 412 } } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    ])
      stream.read(encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
    expect(stream.reading.iterations).toEqual(expected);
  });

  test.each([null, 7, {}, { input_tokens: -1 }, { output_tokens: 'x' }, { input_tokens: 1e300 }])(
    '%j is none',
    (wire) => expect(readUsage(wire)).toBeNull(),
  );
});

test('a refusal says what its details say', () => {
  const error = {
    type: 'invalid_request_error',
    message: 'no',
    details: { error_code: 'thread_unsupported' },
  };
  const refusal = messages.readRefusal(400, encoder.encode(JSON.stringify({ type: 'error', error })));
  expect(refusal).toMatchObject({ kind: 'invalid-request', code: 'thread_unsupported' });
});

test("a model that is not there is named as this protocol's vendor names it", () => {
  const error = { type: 'not_found_error', message: 'model: some-model-1' };
  const refusal = messages.readRefusal(404, encoder.encode(JSON.stringify({ type: 'error', error })));
  expect(refusal.kind).toBe('model-missing');
});
