import { describe, expect, test } from 'vitest';
import { parseAs } from '../bytes/json-text.fixture.ts';
import { SseSplitter } from '../bytes/sse.ts';
import type { FrameRole, StreamReader } from '../protocol.ts';
import { type Dialect, defaultDialect } from '../request.ts';
import { noUsage, totalInput, totalOutput } from '../usage.ts';
import { chatCompletions } from './index.ts';
import { type StreamFixture, streamFixtures } from './stream-frames.fixture.ts';

const encoder = new TextEncoder();

interface StreamSeen {
  readonly roles: readonly FrameRole[];
  readonly reader: StreamReader;
}

function readStream(chunks: readonly Uint8Array[], dialect: Partial<Dialect> = {}): StreamSeen {
  const reader = chatCompletions.openStream({ ...defaultDialect, ...dialect });
  const splitter = new SseSplitter();
  const roles: FrameRole[] = [];
  for (const chunk of chunks) splitter.push(chunk, (frame) => roles.push(reader.read(frame)));
  return { roles, reader };
}

function readFrames(frames: readonly string[], dialect: Partial<Dialect> = {}): StreamSeen {
  return readStream([encoder.encode(frames.join(''))], dialect);
}

const letters = (roles: readonly FrameRole[]) => roles.map((role) => role[0]).join('');

function summary({ roles, reader }: StreamSeen) {
  const { usage, finishReason, outputBytes } = reader.reading;
  const tokens = usage === null ? null : { input: totalInput(usage), output: totalOutput(usage) };
  return { roles: letters(roles), usage: tokens, finish: finishReason, outputBytes };
}

function expected({ roles, usage, finish, outputBytes }: StreamFixture) {
  return { roles, usage, finish, outputBytes };
}

const dialectOf = (fixture: StreamFixture) => ({
  reasoningOutsideCompletion: fixture.reasoningOutsideCompletion ?? false,
});

describe.each(streamFixtures)('$name', (fixture) => {
  const bytes = encoder.encode(fixture.frames.join(''));

  test('is read for what it is', () => {
    const seen = readStream([bytes], dialectOf(fixture));
    expect(summary(seen)).toEqual(expected(fixture));
    expect(seen.reader.refusal).toBeNull();
    expect(seen.reader.reading.hasOutput).toBe(true);
  });

  test('survives any chunking', () => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      const seen = readStream([bytes.slice(0, cut), bytes.slice(cut)], dialectOf(fixture));
      // A cut between CR and LF moves the LF to the next frame's beginning, or leaves it over at the end.
      expect(summary(seen)).toEqual(expected(fixture));
    }
    const oneByOne = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(summary(readStream(oneByOne, dialectOf(fixture)))).toEqual(expected(fixture));
  });
});

const content = (text: string) =>
  `data: {"id":"1","model":"m","choices":[{"delta":{"content":${text}}}],"p":0}\n\n`;

describe('frames alike but for their text', () => {
  test('are counted as the first one is', () => {
    const texts = ['"a"', '"\\u00e9\\"}"', '"\\ud83d\\ude00"', '"日本"', `"${'x'.repeat(300)}"`];
    const { roles, reader } = readFrames(texts.map(content));
    expect(letters(roles)).toBe('ccccc');
    const bytes = texts.reduce((sum, text) => sum + encoder.encode(parseAs<string>(text)).length, 0);
    expect(reader.reading.outputBytes).toBe(bytes);
  });

  test.each([
    [content('""'), 'p'],
    [content('null'), 'p'],
    [content('"b"').replace('"p":0', '"p":1'), 'c'],
    [content('"b"').replace('}],', ',"finish_reason":"stop"}],'), 'c'],
    [content('""').replace('}],', ',"finish_reason":"stop"}],'), 'f'],
    [content('"b"').replace('"p":0', '"usage":{"prompt_tokens":1,"completion_tokens":1}'), 'c'],
    [content('"b"').replace('"p":0', '"error":{"message":"x"}'), 'e'],
    [content('"b"').replace('}\n\n', '\n\n'), 'g'],
    [content('"b').replace('\n\n', ' \n\n'), 'g'],
    [content('"b\\"').replace('\n\n', ' \n\n'), 'g'],
    [`${content('"b"').trimEnd()} x\n\n`, 'g'],
  ])('are told from others: %j', (frame, role) => {
    expect(letters(readFrames([content('"a"'), frame]).roles)).toBe(`c${role}`);
  });

  test('arguments of a tool call are counted piece by piece', () => {
    const piece = (text: string) =>
      `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":null,"function":{"arguments":${text}}}]}}]}\n\n`;
    const { roles, reader } = readFrames(['"{\\"a\\":"', '"\\u00e9"', '""', '"}"'].map(piece));
    expect(letters(roles)).toBe('cccc');
    expect(reader.reading.outputBytes).toBe('{"a":'.length + 2 + 1);
  });

  test('nesting without end is garbled', () => {
    const deep = `data: {"choices":[{"delta":{"content":${'['.repeat(100_000)}\n\n`;
    expect(letters(readFrames([deep]).roles)).toBe('g');
  });

  test('a template does not outlive a change of the frames', () => {
    const frames = Array.from({ length: 40 }, (_, n) => content('"a"').replace('"p":0', `"p":${n}`));
    const { roles, reader } = readFrames(frames);
    expect(letters(roles)).toBe('c'.repeat(40));
    expect(reader.reading.outputBytes).toBe(40);
  });
});

describe('a usage report', () => {
  const usage = '"usage":{"prompt_tokens":1,"completion_tokens":1}';
  const report = `data: {"choices":[],${usage}}\n\n`;

  test.each([
    ['none', [content('"abc"')], 0],
    ['after the content', [content('"abc"'), report], 3],
    ['with the content', [content('"abc"').replace('"p":0', usage)], 3],
    ['before more content', [content('"abc"'), report, content('"de"')], 3],
    ['without a count, later', [content('"abc"'), report, content('"d"').replace('"p":0', '"usage":{}')], 3],
    ['again at the end', [report, content('"abc"'), content('"de"'), report], 5],
  ])('%s is known by the output it covers', (_, frames, covered) => {
    expect(readFrames(frames).reader.reading.usageAtOutputBytes).toBe(covered);
  });
});

describe('errors within a stream', () => {
  const overloaded = {
    kind: 'overloaded',
    status: 200,
    message: 'Server overloaded',
    code: null,
    param: null,
  };

  test.each([
    [
      'data: {"error":{"message":"Server overloaded","type":"server_error","code":null}}\n\n',
      { ...overloaded, type: 'server_error' },
    ],
    ['event: error\ndata: {"error":{"message":"Server overloaded"}}\n\n', { ...overloaded, type: null }],
    ['event: error\ndata: {"message":"Server overloaded"}\n\n', { ...overloaded, type: null }],
    [
      'data: {"object":"error","message":"Server overloaded","type":"X","code":503}\n\n',
      { ...overloaded, type: 'X', code: '503' },
    ],
    [
      'data: {"id":"1","error":{"code":502,"message":"Bad"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}\n\n',
      { kind: 'server-error', status: 200, message: 'Bad', type: null, code: '502', param: null },
    ],
    [
      'data: {"choices":[{"delta":{},"finish_reason":"error"}]}\n\n',
      { kind: 'server-error', status: 200, message: 'error', type: null, code: 'error', param: null },
    ],
    [
      'data: {"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}\n\n',
      {
        ...overloaded,
        message: 'insufficient_system_resource',
        type: null,
        code: 'insufficient_system_resource',
      },
    ],
    [
      'data: [{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}]\n\n',
      {
        kind: 'rate-limited',
        status: 200,
        message: 'Quota',
        type: 'RESOURCE_EXHAUSTED',
        code: '429',
        param: null,
      },
    ],
    ['{"error":{"message":"Server overloaded"}}\n\n', { ...overloaded, type: null }],
  ])('%j', (frame, refusal) => {
    const { roles, reader } = readFrames([frame]);
    expect(roles).toEqual(['error']);
    expect(reader.refusal).toEqual(refusal);
    expect(reader.reading.hasOutput).toBe(false);
  });

  test.each([
    'data: {"choices":[{\n\n',
    'data: <html>\n\n',
    '<html><body>no</body></html>\n\n',
    'data: 5\n\n',
    'data: {"error":{}\n\n',
    'event: error\ndata: {}\n\n',
  ])('what is not of the protocol is garbled: %j', (frame) => {
    const { roles, reader } = readFrames([frame]);
    expect(roles).toEqual(['garbled']);
    expect(reader.refusal?.kind).toBe('garbled');
  });

  test('the first one stays', () => {
    const { reader } = readFrames([
      'data: {"error":{"message":"one"}}\n\n',
      'data: {"error":{"message":"two"}}\n\n',
    ]);
    expect(reader.refusal?.message).toBe('one');
  });

  test('null and empty errors are none', () => {
    expect(
      letters(readFrames(['data: {"error":null,"choices":[{"delta":{"content":"x"}}]}\n\n']).roles),
    ).toBe('c');
  });
});

describe('the end', () => {
  const frames = [content('"a"'), 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'];

  test('without a terminal frame is whole when a finish came, and has the frame it lacks', () => {
    const { reader } = readFrames(frames);
    expect(reader.isWholeWithoutTerminal()).toBe(true);
    expect(new TextDecoder().decode(reader.missingEnd())).toBe('data: [DONE]\n\n');
    expect(readFrames(frames.slice(0, 1)).reader.isWholeWithoutTerminal()).toBe(false);
  });

  test('is the terminal frame alone where the dialect says so', () => {
    expect(readFrames(frames, { streamEnd: 'done-frame' }).reader.isWholeWithoutTerminal()).toBe(false);
  });

  test('is not whole before as many choices have finished as were asked for', () => {
    const reader = chatCompletions.openStream(defaultDialect, 'sse', 2);
    for (const frame of frames) reader.read(encoder.encode(frame));
    expect(reader.isWholeWithoutTerminal()).toBe(false);
  });

  test('is not whole before every choice has finished', () => {
    const part = (index: number, finish: string) =>
      `data: {"choices":[{"delta":{"content":"a"},"finish_reason":${finish},"index":${index}}]}\n\n`;
    const isWhole = (...parts: string[]) => readFrames(parts).reader.isWholeWithoutTerminal();
    expect(isWhole(part(0, 'null'), part(1, 'null'), part(0, '"stop"'))).toBe(false);
    expect(isWhole(part(0, 'null'), part(1, 'null'), part(0, '"stop"'), part(1, '"length"'))).toBe(true);
    expect(isWhole(part(1, '"stop"'), part(12, 'null'))).toBe(false);
    const both = 'data: {"choices":[{"delta":{},"finish_reason":"stop"},{"delta":{"content":"b"}}]}\n\n';
    expect(isWhole(both)).toBe(false);
    expect(isWhole(both, 'data: {"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}\n\n')).toBe(true);
  });

  test('a frame with content that finishes is content, and its finish is known', () => {
    const frame = 'data: {"choices":[{"delta":{"content":"all"},"finish_reason":"stop"}]}\n\n';
    const { roles, reader } = readFrames([frame]);
    expect(roles).toEqual(['content']);
    expect(reader.reading).toMatchObject({ finishReason: 'stop', hasOutput: true });
    expect(reader.isWholeWithoutTerminal()).toBe(true);
  });

  test('is not whole after an error', () => {
    const broken = [...frames, 'data: {"error":{"message":"late"}}\n\n'];
    expect(readFrames(broken).reader.isWholeWithoutTerminal()).toBe(false);
  });

  test('a blank finish reason is none', () => {
    const { roles, reader } = readFrames(['data: {"choices":[{"delta":{},"finish_reason":""}]}\n\n']);
    expect(roles).toEqual(['preamble']);
    expect(reader.reading).toMatchObject({ finishReason: null, finishReasonRaw: null, hasOutput: false });
  });

  test('an unknown finish reason is kept beside the unified one', () => {
    const { reader } = readFrames([
      'data: {"model":"m-2","choices":[{"delta":{},"finish_reason":"tired"}]}\n\n',
    ]);
    expect(reader.reading).toMatchObject({
      finishReason: 'unknown',
      finishReasonRaw: 'tired',
      modelServed: 'm-2',
    });
  });
});

const readAnswer = (text: string) => chatCompletions.readAnswer(encoder.encode(text), defaultDialect);

function reading(text: string) {
  const answer = readAnswer(text);
  if (answer.kind !== 'answer') throw new Error(answer.refusal.message);
  const { usage, finishReason, finishReasonRaw, modelServed, hasOutput, outputBytes } = answer.reading;
  return { usage, finishReason, finishReasonRaw, modelServed, hasOutput, outputBytes };
}

const withMessage = (message: string, finish = '"stop"') =>
  `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"message":${message},"finish_reason":${finish}}]}`;

describe('readAnswer', () => {
  test('reads usage, finish and what was said', () => {
    const text = `\n{"id":"1","choices":[{"message":{"role":"assistant","content":"h\\u00e9","refusal":null,"annotations":[]},"finish_reason":"stop"}],
      "model":"m-2026","usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}} `;
    expect(reading(text)).toEqual({
      usage: { ...noUsage, inputFresh: 5, output: 2 },
      finishReason: 'stop',
      finishReasonRaw: 'stop',
      modelServed: 'm-2026',
      hasOutput: true,
      outputBytes: 3,
    });
  });

  test.each([
    [
      '{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}',
      'tool-calls',
      3,
    ],
    ['{"role":"assistant","content":null,"refusal":"No."}', 'refusal', 3],
    ['{"role":"assistant","content":"","audio":{"id":"a","data":"AAAA","transcript":"hi"}}', 'stop', 2],
    [
      '{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"b"}]}',
      'stop',
      2,
    ],
  ])('sees output in %s', (message, finishReason, outputBytes) => {
    expect(reading(withMessage(message))).toMatchObject({ hasOutput: true, finishReason, outputBytes });
  });

  test.each([
    '{"role":"assistant","content":""}',
    '{"role":"assistant","name":"bot","id":"msg_1","type":"message","status":"done","content":""}',
    '{"role":"assistant","content":null,"tool_calls":[]}',
    '{}',
    'null',
  ])('sees no output in %s', (message) => {
    expect(reading(withMessage(message, 'null'))).toMatchObject({
      hasOutput: false,
      finishReason: null,
      outputBytes: 0,
    });
  });

  test.each([
    ['{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":4}}', 'blank'],
    ['', 'garbled'],
    ['   ', 'garbled'],
    ['<!DOCTYPE html><html></html>', 'garbled'],
    ['{"choices":[', 'garbled'],
    ['null', 'garbled'],
    ['{}', 'garbled'],
    ['{"id":"1","object":"chat.completion"}', 'garbled'],
    ['{"choices":null}', 'garbled'],
    ['data: {"choices":[]}\n\n', 'garbled'],
    ['{"error":{"message":"The engine is currently overloaded, please try again later"}}', 'overloaded'],
    ['{"error":{"message":"x","code":429}}', 'rate-limited'],
    ['{"error":"something broke"}', 'server-error'],
    ['[{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}]', 'overloaded'],
    ['{"object":"error","message":"bad","type":"BadRequestError","code":400}', 'invalid-request'],
    [withMessage('{"content":"half"}', '"error"'), 'server-error'],
  ])('finds the refusal in a 200: %s', (text, kind) => {
    const answer = readAnswer(text);
    expect(answer.kind === 'refusal' ? answer.refusal : null).toMatchObject({ kind, status: 200 });
  });
});

describe('in the midst of an answer', () => {
  const retoldOf = (frame: string) => {
    const { reader, roles } = readFrames([content('"a"'), frame]);
    return [letters(roles), reader.retold && new TextDecoder().decode(reader.retold)];
  };

  test.each(['<html>busy</html>\n\n', 'upstream busy\nretrying\n\n', '{"choices":\n\n'])(
    'text that no client sees is passed over and counted: %j',
    (text) => {
      const { reader, roles } = readFrames([content('"a"'), text, content('"b"')]);
      expect([letters(roles), reader.skipped, reader.refusal]).toEqual(['cfc', 1, null]);
    },
  );

  test('an error is one however it is framed, and data that is no JSON fails for every client', () => {
    const kinds = ['{"error":{"message":"late"}}\n\n', 'data: {"choices":\n\n'].map(
      (frame) => readFrames([content('"a"'), frame]).reader.refusal?.kind,
    );
    expect(kinds).toEqual(['server-error', 'garbled']);
  });

  // Clients parse the data of every event, also where there is none.
  test.each(['data:\n\n', 'event: ping\n\n', 'id: 7\n\n', ': busy\nretry: 100\r\n\r\n'])(
    'a sign of life that no client can read is told as a comment: %j',
    (frame) => expect(retoldOf(frame)).toEqual(['cl', ':\n\n']),
  );

  test.each([': busy\n\n', 'event: ping\ndata: {}\n\n'])('one that they can is not: %j', (frame) =>
    expect(retoldOf(frame)).toEqual(['cl', null]),
  );

  test('what is read as it is, is not told anew', () =>
    expect(retoldOf(content('"b"'))).toEqual(['cc', null]));
});
