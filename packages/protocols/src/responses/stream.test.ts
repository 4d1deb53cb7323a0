import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { valueText } from '../bytes/json-text.fixture.ts';
import { SseSplitter } from '../bytes/sse.ts';
import { fault } from '../error.ts';
import type { FrameRole } from '../protocol.ts';
import { defaultDialect } from '../request.ts';
import { noUsage } from '../usage.ts';
import { responses } from './index.ts';
import {
  close,
  completed,
  created,
  event,
  incomplete,
  inProgress,
  message,
  open,
  openText,
  response,
  text,
} from './stream-frames.fixture.ts';
import { eventTypes } from './wire.ts';

const encoder = new TextEncoder();

function read(chunks: readonly Uint8Array[]) {
  const reader = responses.openStream(defaultDialect);
  const splitter = new SseSplitter();
  const roles: FrameRole[] = [];
  for (const chunk of chunks) splitter.push(chunk, (frame) => roles.push(reader.read(frame)));
  return { roles: roles.map((role) => role[0]).join(''), reading: plain(reader.reading), reader };
}

/** A reading without the getters of its class. */
function plain({ finishReason, ...own }: ReturnType<typeof responses.openStream>['reading']) {
  return { ...own, finishReason };
}

const readFrames = (...frames: readonly string[]) => read([encoder.encode(frames.join(''))]);

const call = (members: object) => ({
  id: 'fc_1',
  type: 'function_call',
  call_id: 'c',
  name: 'clock',
  ...members,
});
const reasoning = (members: object) => ({ id: 'rs_1', type: 'reasoning', ...members });

const whole = [
  created,
  inProgress,
  open(0, reasoning({ summary: [], encrypted_content: 'c2VhbA' })),
  event('reasoning_summary_part.added', { summary_index: 0, part: { type: 'summary_text', text: '' } }),
  event('reasoning_summary_text.delta', { summary_index: 0, delta: 'hm é' }),
  event('reasoning_summary_text.done', { summary_index: 0, text: 'hm é' }),
  event('reasoning_summary_part.done', { summary_index: 0, part: { type: 'summary_text', text: 'hm é' } }),
  close(0, reasoning({ summary: [{ type: 'summary_text', text: 'hm é' }], encrypted_content: 'c2VhbGVk' })),
  open(1, call({ arguments: '' })),
  event('function_call_arguments.delta', { output_index: 1, delta: '{"a":' }),
  event('function_call_arguments.delta', { output_index: 1, delta: '1}' }),
  event('function_call_arguments.done', { output_index: 1, arguments: '{"a":1}' }),
  close(1, call({ arguments: '{"a":1}', status: 'completed' })),
  completed,
];

describe('a stream', () => {
  test('is read for what it is', () => {
    const { roles, reading, reader } = readFrames(...whole);
    expect(roles).toBe('ppppcppccccpct');
    expect(reading).toMatchObject({
      finishReason: 'tool-calls',
      finishReasonRaw: 'completed',
      modelServed: 'served',
      answerId: 'resp_1',
      hasOutput: true,
      outputBytes: 'hm é'.length + 1 + 'clock{"a":1}'.length,
    });
    expect(reading.usage).toEqual({
      ...noUsage,
      inputFresh: 10,
      inputCacheRead: 60,
      inputCacheWrite5m: 30,
      output: 40,
      outputReasoning: 15,
    });
    expect(reader.refusal).toBeNull();
    expect(reader.isWholeWithoutTerminal()).toBe(false);
  });

  test.each(['\n', '\r\n', '\r'])('survives any chunking, lines ending in %j', (lineEnd) => {
    const bytes = encoder.encode(whole.join('').replaceAll('\n', lineEnd));
    const expected = readFrames(...whole);
    for (let cut = 0; cut <= bytes.length; cut += 5) {
      const seen = read([bytes.slice(0, cut), bytes.slice(cut)]);
      expect(seen.reading).toEqual(expected.reading);
      expect(seen.roles).toBe(expected.roles);
    }
  });

  test('counts its text as what it means, however it is escaped', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', minLength: 1 })), (texts) => {
        const { reading } = readFrames(created, openText, ...texts.map((words) => text(words)));
        expect(reading.outputBytes).toBe(
          encoder.encode(texts.map((words) => words.toWellFormed()).join('')).length,
        );
        expect(reading.hasOutput).toBe(texts.length > 0);
      }),
    );
  });

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content-filter'],
    ['steered', 'unknown'],
  ])('that is incomplete for %s stopped by %s', (reason, expected) => {
    const { roles, reading } = readFrames(created, openText, text('a'), incomplete(reason));
    expect(roles).toBe('ppct');
    expect(reading).toMatchObject({ finishReason: expected, finishReasonRaw: reason });
  });

  test.each([
    ['an empty message', [openText, close(0, message(null))], 'pp', false],
    ['an empty delta', [text('')], 'p', false],
    [
      'reasoning that is sealed',
      [open(0, reasoning({})), close(0, reasoning({ encrypted_content: 's' }))],
      'pc',
      true,
    ],
    [
      'the search of a hosted tool',
      [open(0, { type: 'web_search_call' }), event('web_search_call.searching')],
      'cp',
      true,
    ],
    ['a picture', [event('image_generation_call.partial_image', { partial_image_b64: 'iVBO' })], 'c', true],
    [
      'a refusal',
      [event('refusal.delta', { delta: 'no' }), event('refusal.done', { refusal: 'no' })],
      'cp',
      true,
    ],
    ['a message without deltas', [openText, close(0, message('at once'))], 'pc', true],
    ['a text without deltas', [openText, event('output_text.done', { text: 'at once' })], 'pc', true],
    ['an event of days to come', [event('something.new', { text: '', more: [1] })], 'p', false],
    [
      'comments, pings and what follows the end',
      [': hi\n\n', 'event: ping\ndata: {}\n\n', 'data: [DONE]\n\n'],
      'lll',
      false,
    ],
  ])('with %s', (_, frames, roles, hasOutput) => {
    const read = readFrames(created, ...frames);
    expect(read.roles).toBe(`p${roles}`);
    expect(read.reading.hasOutput).toBe(hasOutput);
  });

  test('counts what is said twice once', () => {
    const twice = [
      openText,
      text('abc'),
      event('output_text.done', { text: 'abc' }),
      close(0, message('abc')),
    ];
    expect(readFrames(created, ...twice, completed).reading.outputBytes).toBe(3);
    expect(readFrames(created, openText, close(0, message('abc')), completed).reading.outputBytes).toBe(3);
    expect(readFrames(created, completed).reading).toMatchObject({ outputBytes: 5, hasOutput: true });
  });

  test("does not count what tools brought as the model's words", () => {
    const found = { type: 'file_search_call', queries: ['q'], results: [{ text: 'a long document' }] };
    expect(readFrames(created, open(0, found), close(0, found)).reading.outputBytes).toBe(0);
  });

  test('that breaks off knows no usage', () => {
    const { reading } = readFrames(created, openText, text('abc'));
    expect(reading).toMatchObject({ usage: null, outputBytes: 3, usageAtOutputBytes: 0, finishReason: null });
    expect(readFrames(created, openText, text('abc'), completed).reading.usageAtOutputBytes).toBe(3);
  });

  const member = fc.constantFrom(
    'item',
    'response',
    'delta',
    'part',
    'text',
    'error',
    'output_index',
    'type',
  );
  const strange = fc
    .array(fc.tuple(member, valueText), { maxLength: 4 })
    .map((members) => members.map(([name, value]) => `,"${name}":${value}`).join(''));

  test('survives members of any shape, and what it takes for content is output', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...eventTypes, 'response.output_text.delta', 'x'),
        strange,
        (type, members) => {
          const { roles, reading, reader } = readFrames(
            `data: {"type":"${type}"${members}}`.replaceAll(/[\r\n]/g, ' '),
            '\n\n',
          );
          expect(roles).toMatch(/^[pcegt]$/);
          if (roles === 'c') expect(reading.hasOutput).toBe(true);
          expect(reader.refusal !== null).toBe(roles === 'e' || roles === 'g');
          expect(reading.outputBytes).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  test('a complete one that refused says so', () => {
    const content = [{ type: 'refusal', refusal: 'no' }];
    const end = event('completed', { response: response({ output: [{ ...message(null), content }] }) });
    expect(readFrames(created, event('refusal.delta', { delta: 'no' }), end).reading.finishReason).toBe(
      'refusal',
    );
  });

  test('may name its events in the frame alone', () => {
    const nameless = whole.map((frame) => frame.replace(/"type":"response[^"]*",?/, ''));
    expect(readFrames(...nameless).roles).toBe('ppppcppccccpct');
  });

  test('may leave out the names', () => {
    const bare = whole.map((frame) => frame.replace(/^event: .*\n/, ''));
    expect(readFrames(...bare)).toMatchObject({ roles: 'ppppcppccccpct' });
  });
});

test('an end under another name is the end, and is told under the one that clients wait for', () => {
  const response = {
    id: 'resp_1',
    status: 'completed',
    output: [],
    usage: { input_tokens: 9, output_tokens: 4 },
  };
  const { roles, reader } = readFrames(created, text('Hi'), event('done', { response }));
  expect([roles, reader.isWholeWithoutTerminal()]).toEqual(['pcf', true]);
  expect(reader.reading).toMatchObject({ finishReason: 'stop', usage: { inputFresh: 9, output: 4 } });
  const missing = new TextDecoder().decode(reader.missingEnd());
  expect(missing).toMatch(/^event: response\.completed\n/);
  expect(dataOf(missing)).toEqual({ type: 'response.completed', sequence_number: 0, response });
  const without = readFrames(created, text('Hi')).reader;
  expect([without.isWholeWithoutTerminal(), without.missingEnd()]).toEqual([false, new Uint8Array(0)]);
});

describe('failures in a stream', () => {
  const failed = (error: object | null) =>
    event('failed', { response: response({ status: 'failed', error }) });
  const nested = (code: string) =>
    event('error', { sequence_number: 2, error: { type: code, code, message: 'words' } });
  const flat = (code: string) => event('error', { sequence_number: 2, code, message: 'words', param: null });

  test.each([
    ['server_error', 'server-error'],
    ['rate_limit_exceeded', 'rate-limited'],
    ['insufficient_quota', 'credential'],
    ['server_is_overloaded', 'overloaded'],
    ['slow_down', 'overloaded'],
    ['context_length_exceeded', 'context-length'],
    ['invalid_prompt', 'content-policy'],
    ['image_content_policy_violation', 'content-policy'],
    ['invalid_image_format', 'invalid-request'],
    ['failed_to_download_image', 'invalid-request'],
    ['vector_store_timeout', 'server-error'],
  ])('%s is %s in every spelling', (code, kind) => {
    const spellings = [nested(code), flat(code), failed({ code, message: 'words' })];
    for (const frame of spellings) {
      const { roles, reader } = readFrames(created, frame);
      expect(roles, frame).toBe('pe');
      expect(reader.refusal).toMatchObject({ kind, status: 200, message: 'words', code });
    }
  });

  test('the first of two errors counts', () => {
    const { roles, reader } = readFrames(
      created,
      nested('rate_limit_exceeded'),
      failed({ code: 'server_error' }),
    );
    expect(roles).toBe('pee');
    expect(reader.refusal?.kind).toBe('rate-limited');
  });

  test.each([
    [failed(null), 'e', 'server-error'],
    ['data: {"error":{"message":"elsewhere"}}\n\n', 'e', 'server-error'],
    ['data: {"type":"error","message":"Overloaded"}\n\n', 'e', 'overloaded'],
    ['<html>no</html>\n\n', 'g', 'garbled'],
    ['event: response.output_text.delta\ndata: {"type":"response.outp\n\n', 'g', 'garbled'],
    ['data: {"choices":[]}\n\n', 'g', 'garbled'],
    [event('completed'), 'g', 'garbled'],
  ])('%s', (frame, role, kind) => {
    const { roles, reader } = readFrames(created, frame);
    expect(roles).toBe(`p${role}`);
    expect(reader.refusal?.kind).toBe(kind);
  });

  test('of ours are told in both places, with the members twice', () => {
    const bytes = responses.encodeStreamError(
      fault('upstream_rate_limited', { message: 'm' }),
      'trace',
      'sse',
    );
    const [error = '', failure = ''] = new TextDecoder().decode(bytes).split(/(?<=\n\n)/);
    expect(error).toMatch(/^event: error\n/);
    expect(dataOf(error)).toEqual({
      type: 'error',
      sequence_number: 0,
      code: 'upstream_rate_limited',
      message: 'm',
      param: null,
      error: {
        message: 'm',
        type: 'rate_limit_error',
        param: null,
        code: 'upstream_rate_limited',
        trace_id: 'trace',
      },
    });
    expect(failure).toMatch(/^event: response.failed\n/);
    expect(dataOf(failure)).toMatchObject({
      type: 'response.failed',
      response: {
        id: 'resp_trace',
        status: 'failed',
        error: { code: 'rate_limit_exceeded', message: 'm' },
        usage: null,
      },
    });
    expect(read([bytes]).roles).toBe('ee');
  });
});

function dataOf(frame: string): unknown {
  return JSON.parse(frame.slice(frame.indexOf('data: ') + 'data: '.length));
}
