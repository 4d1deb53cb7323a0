import { describe, expect, test } from 'vitest';
import { SseSplitter } from '../bytes/sse.ts';
import type { FrameRole } from '../protocol.ts';
import { type Dialect, defaultDialect } from '../request.ts';
import { noUsage } from '../usage.ts';
import { messages } from './index.ts';
import {
  close,
  delta,
  event,
  finish,
  open,
  openText,
  ping,
  start,
  stop,
  text,
} from './stream-frames.fixture.ts';

const encoder = new TextEncoder();

function read(chunks: readonly Uint8Array[], dialect: Partial<Dialect> = {}) {
  const reader = messages.openStream({ ...defaultDialect, ...dialect });
  const splitter = new SseSplitter();
  const roles: FrameRole[] = [];
  for (const chunk of chunks) splitter.push(chunk, (frame) => roles.push(reader.read(frame)));
  const { usage, finishReason, modelServed, hasOutput, outputBytes, usageAtOutputBytes } = reader.reading;
  const reading = { usage, finishReason, modelServed, hasOutput, outputBytes, usageAtOutputBytes };
  return { roles: roles.map((role) => role[0]).join(''), reading, reader };
}

const readFrames = (...frames: readonly string[]) => read([encoder.encode(frames.join(''))]);

const whole = [
  start,
  ping,
  open(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'hm é' }),
  delta(0, { type: 'signature_delta', signature: 'c2ln' }),
  close(0),
  open(1, { type: 'tool_use', id: 't', name: 'clock', input: {} }),
  delta(1, { type: 'input_json_delta', partial_json: '' }),
  delta(1, { type: 'input_json_delta', partial_json: '{"a":' }),
  delta(1, { type: 'input_json_delta', partial_json: '1}' }),
  close(1),
  finish('tool_use', { output_tokens: 40, output_tokens_details: { thinking_tokens: 3 } }),
  stop,
];

describe('a stream', () => {
  test('is read for what it is', () => {
    const { roles, reading, reader } = readFrames(...whole);
    expect(roles).toBe('plpccpcpccpft');
    expect(reading).toMatchObject({ finishReason: 'tool-calls', modelServed: 'served', hasOutput: true });
    expect(reading.usage).toEqual({
      ...noUsage,
      inputFresh: 7,
      inputCacheRead: 20,
      inputCacheWrite5m: 10,
      inputCacheWrite1h: 20,
      output: 40,
      outputReasoning: 3,
    });
    expect(reader.refusal).toBeNull();
  });

  test.each([whole, whole.map((frame) => frame.replaceAll('\n', '\r\n'))])(
    'survives any chunking',
    (...frames) => {
      const bytes = encoder.encode(frames.join(''));
      const expected = read([bytes]);
      for (let cut = 0; cut <= bytes.length; cut++) {
        const seen = read([bytes.slice(0, cut), bytes.slice(cut)]);
        expect(seen.reading).toEqual(expected.reading);
        expect(seen.roles).toBe(expected.roles);
      }
    },
  );

  test('counts the text of frames alike but for it', () => {
    const texts = ['a', 'é"}', '😀', '日本', 'x'.repeat(300)];
    const { roles, reading } = readFrames(start, openText, ...texts.map(text));
    expect(roles).toBe('ppccccc');
    expect(reading.outputBytes).toBe(encoder.encode(texts.join('')).length);
  });

  test('names the container that it worked in, at its end', () => {
    const id = (...frames: readonly string[]) => readFrames(...frames).reader.reading.containerId;
    const end = finish('end_turn', {}).replace(
      '"stop_reason"',
      '"container":{"id":"container_1"},"stop_reason"',
    );
    expect(id(start, openText, text('a'), close(0), end)).toBe('container_1');
    expect(id(start, openText, text('a'), close(0), finish('end_turn', {}))).toBeNull();
  });

  test('an opening that holds nothing is not content; one that names a tool is', () => {
    expect(readFrames(start, openText, close(0)).reading.hasOutput).toBe(false);
    expect(readFrames(start, open(0, { type: 'redacted_thinking', data: 'x' })).roles).toBe('pc');
    expect(readFrames(start, open(0, { type: 'text', text: 'at once' })).roles).toBe('pc');
  });

  test('what comes after its beginning again is not a second beginning', () => {
    const second = start.replace('"input_tokens":7', '"input_tokens":700').replace('served', 'other');
    const { reading } = readFrames(
      start,
      openText,
      text('a'),
      second,
      text('b'),
      finish('end_turn', { output_tokens: 2 }),
      stop,
    );
    expect(reading).toMatchObject({ modelServed: 'served', usage: { inputFresh: 7, output: 2 } });
  });

  test('the end supersedes the beginning, unless it knows of no input', () => {
    const usageAfter = (usage: object) =>
      readFrames(start, text('a'), finish('end_turn', usage)).reading.usage;
    expect(usageAfter({ input_tokens: 9, output_tokens: 4 })).toMatchObject({
      inputFresh: 9,
      inputCacheRead: 20,
      output: 4,
    });
    const zeros = { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    expect(usageAfter({ ...zeros, output_tokens: 4 })).toMatchObject({
      inputFresh: 7,
      inputCacheWrite1h: 20,
    });
  });

  test('that breaks off knows its input, and that its usage does not cover the output', () => {
    const { reading } = readFrames(start, openText, text('abc'));
    expect(reading).toMatchObject({ outputBytes: 3, usageAtOutputBytes: 0, finishReason: null });
    expect(reading.usage).toMatchObject({ inputFresh: 7, inputCacheRead: 20, output: 1 });
    const covered = readFrames(start, openText, text('abc'), finish('end_turn', { output_tokens: 1 }));
    expect(covered.reading).toMatchObject({ outputBytes: 3, usageAtOutputBytes: 3 });
  });

  test('passes events of days to come and is silent about comments', () => {
    expect(
      readFrames(start, ': hello\n\n', event('content_block_pause', { index: 0 }), text('a')).roles,
    ).toBe('plpc');
  });

  test('without its last frame is whole when a finish came, unless the dialect says that it must have one', () => {
    const frames = [start, openText, text('a'), finish('end_turn', { output_tokens: 1 })];
    const bytes = encoder.encode(frames.join(''));
    const { reader } = read([bytes]);
    expect(reader.isWholeWithoutTerminal()).toBe(true);
    expect(new TextDecoder().decode(reader.missingEnd())).toBe(event('message_stop', {}));
    expect(read([bytes], { streamEnd: 'done-frame' }).reader.isWholeWithoutTerminal()).toBe(false);
    const cut = encoder.encode(frames.slice(0, 3).join(''));
    expect(read([cut]).reader.isWholeWithoutTerminal()).toBe(false);
  });

  test('events without a name, which every client passes over, are named', () => {
    const nameless = (frame: string) => frame.replace(/^event: .*\n/, '');
    const { reader } = readFrames(start, openText, text('a'));
    for (const frame of [text('b'), text('c'), finish('end_turn', { output_tokens: 1 })]) {
      reader.read(encoder.encode(nameless(frame)));
      expect(reader.retold && new TextDecoder().decode(reader.retold)).toBe(frame);
    }
    reader.read(encoder.encode(text('d')));
    expect(reader.retold).toBeNull();
    expect(reader.reading).toMatchObject({ outputBytes: 4, finishReason: 'stop' });
  });

  test('what has neither a name nor JSON is passed over among events with names, and counted', () => {
    const { roles, reader } = readFrames(start, openText, text('a'), 'data: {"cut":\n\n', text('b'));
    expect([roles, reader.skipped, reader.refusal]).toEqual(['ppcfc', 1, null]);
    const named = readFrames(start, text('a'), 'event: content_block_delta\ndata: {"cut":\n\n');
    expect(named.reader.refusal?.kind).toBe('garbled');
  });
});

describe('failures in a stream', () => {
  const error = (type: string) => event('error', { error: { type, message: 'words' } });

  test.each([
    ['overloaded_error', 'overloaded'],
    ['api_error', 'server-error'],
    ['rate_limit_error', 'rate-limited'],
    ['invalid_request_error', 'invalid-request'],
    ['authentication_error', 'credential'],
    ['permission_error', 'conflict'],
    ['not_found_error', 'invalid-request'],
    ['request_too_large', 'invalid-request'],
    ['timeout_error', 'server-error'],
  ])('%s is %s', (type, kind) => {
    const { roles, reader } = readFrames(start, error(type));
    expect(roles).toBe('pe');
    expect(reader.refusal).toMatchObject({ kind, status: 200, message: 'words', type });
  });

  test.each([
    ['<html>no</html>\n\n', 'g'],
    ['event: content_block_delta\ndata: {"type":"content_b\n\n', 'g'],
    ['data: {"choices":[]}\n\n', 'g'],
    ['data: {"error":{"message":"elsewhere"}}\n\n', 'e'],
  ])('%s', (frame, role) => {
    const { roles, reader } = readFrames(start, frame);
    expect(roles).toBe(`p${role}`);
    expect(reader.refusal).not.toBeNull();
  });

  test('an error of ours is an event that the SDKs know', () => {
    const frame = messages.encodeStreamError(
      {
        code: 'upstream_error',
        message: 'm',
        param: null,
        status: 502,
        retryAfterMs: null,
        upstreamCode: null,
      },
      'trace',
      'sse',
    );
    expect(new TextDecoder().decode(frame)).toMatch(/^event: error\ndata: \{"type":"error",.*\}\n\n$/);
  });
});
