import { describe, expect, test } from 'vitest';
import { JsonArraySplitter } from '../bytes/json-array.ts';
import { concatBytes } from '../bytes/splice.ts';
import { SseSplitter } from '../bytes/sse.ts';
import type { FrameRole } from '../protocol.ts';
import { defaultDialect, type StreamFraming } from '../request.ts';
import { noUsage } from '../usage.ts';
import { generateContent } from './index.ts';
import { array, chunk, counted, events, text, usage } from './stream-frames.fixture.ts';

const encoder = new TextEncoder();
const framings: readonly StreamFraming[] = ['sse', 'json-array'];
const framed = { sse: events, 'json-array': array };

/** Reads as the pipeline does: the rest of an array is its last frame. */
function read(stream: string, framing: StreamFraming = 'sse', chunkBytes = 1 << 20) {
  const bytes = encoder.encode(stream);
  const reader = generateContent.openStream(defaultDialect, framing);
  const splitter = framing === 'sse' ? new SseSplitter() : new JsonArraySplitter(1 << 20);
  const roles: FrameRole[] = [];
  const frames: Uint8Array[] = [];
  const take = (frame: Uint8Array) => {
    frames.push(frame);
    roles.push(reader.read(frame));
  };
  for (let at = 0; at < bytes.length; at += chunkBytes) splitter.push(bytes.slice(at, at + chunkBytes), take);
  const rest = splitter.rest();
  if (rest.length > 0) take(rest);
  expect(concatBytes(frames)).toEqual(bytes);
  const {
    usage: used,
    finishReason,
    finishReasonRaw,
    hasOutput,
    outputBytes,
    usageAtOutputBytes,
  } = reader.reading;
  const reading = { used, finishReason, finishReasonRaw, hasOutput, outputBytes, usageAtOutputBytes };
  const isWhole = roles.at(-1) === 'terminal' || reader.isWholeWithoutTerminal();
  return { roles: roles.map((role) => role[0]).join(''), reading, isWhole, refusal: reader.refusal };
}

const answer = [
  chunk([{ text: '' }]),
  chunk([{ text: 'hm é', thought: true }], undefined, usage({ promptTokenCount: 9, totalTokenCount: 9 })),
  text('Hi "\\u00e9"'),
  chunk([{ functionCall: { name: 'clock', args: {} }, thoughtSignature: 'c2ln' }]),
  chunk([{ text: '', thoughtSignature: 'c2ln' }]),
  chunk([{ text: '' }], 'STOP', counted),
];

test('searches that one chunk tells of are counted, whatever later ones leave out', () => {
  const grounded = (groundingMetadata: object) => ({
    candidates: [{ content: { parts: [{ text: 'a' }] }, groundingMetadata }],
  });
  const { reading } = read(
    events([
      grounded({ webSearchQueries: ['a', 'b'] }),
      grounded({ groundingSupports: [{}] }),
      chunk([{ text: '' }], 'STOP', counted),
    ]),
  );
  expect(reading.used).toMatchObject({ webSearches: 2, groundings: 1 });
});

describe.each(framings)('a stream framed as %s', (framing) => {
  const whole = read(framed[framing](answer), framing);

  test('is read for what it is', () => {
    expect(whole.roles).toBe(framing === 'sse' ? 'pcccpf' : 'pcccpft');
    expect(whole).toMatchObject({ isWhole: true, refusal: null });
    expect(whole.reading).toMatchObject({
      finishReason: 'tool-calls',
      finishReasonRaw: 'STOP',
      hasOutput: true,
      used: { ...noUsage, inputFresh: 3, output: 4 },
    });
    expect(whole.reading.usageAtOutputBytes).toBe(whole.reading.outputBytes);
  });

  test.each([1, 2, 7, 64])('reads the same in chunks of %i bytes', (chunkBytes) => {
    const cut = read(framed[framing](answer), framing, chunkBytes);
    // If a line end is cut in two, its second half is a frame of its own.
    expect({ ...cut, roles: cut.roles.replace(/l$/, '') }).toEqual(whole);
  });

  test('in one chunk is content, and whole at its end', () => {
    const { roles, isWhole } = read(framed[framing]([chunk([{ text: 'Hi' }], 'STOP', counted)]), framing);
    expect([roles[0], isWhole]).toEqual(['c', true]);
  });

  test('without a finish reason is not whole, however it ends', () => {
    expect(read(framed[framing]([text('Hi', counted)]), framing).isWhole).toBe(false);
  });

  test('is whole when each of its candidates has finished', () => {
    const other = (finishReason?: string) => ({
      candidates: [{ index: 1, content: { parts: [{ text: 'b' }] }, finishReason }],
    });
    const open = [text('a'), other(), chunk([], 'STOP')];
    expect(read(framed[framing](open), framing).isWhole).toBe(false);
    expect(read(framed[framing]([...open, other('STOP')]), framing).isWhole).toBe(true);
  });

  test('of a blocked prompt says why, and has nothing else', () => {
    const blocked = { promptFeedback: { blockReason: 'OTHER' }, usageMetadata: { promptTokenCount: 3 } };
    const { roles, reading, isWhole } = read(framed[framing]([blocked]), framing);
    expect([roles[0], isWhole]).toEqual(['f', true]);
    expect(reading).toMatchObject({
      finishReason: 'content-filter',
      finishReasonRaw: 'OTHER',
      hasOutput: false,
      used: { inputFresh: 3, output: 0 },
    });
  });

  test.each([
    ['overloaded', { error: { code: 503, message: 'Busy', status: 'UNAVAILABLE' } }],
    ['rate-limited', { error: { code: 429, message: 'Slower', status: 'RESOURCE_EXHAUSTED' } }],
  ])('ends with an error that is %s', (kind, value) => {
    const { roles, refusal, isWhole } = read(framed[framing]([text('Hi'), value]), framing);
    expect(roles.slice(0, 2)).toBe('ce');
    expect(refusal?.kind).toBe(kind);
    expect(isWhole).toBe(false);
  });

  test('counts output only when the chunk does', () => {
    const promptAlone = usage({ promptTokenCount: 9, totalTokenCount: 9 });
    const early = read(framed[framing]([text('abcdefgh', promptAlone)]), framing).reading;
    expect(early).toMatchObject({
      used: { inputFresh: 9, output: 0 },
      outputBytes: 8,
      usageAtOutputBytes: 0,
    });
    const thoughts = usage({ promptTokenCount: 9, thoughtsTokenCount: 5, totalTokenCount: 14 });
    const thought = [{ text: 'abcd', thought: true }];
    const open = read(framed[framing]([chunk(thought, undefined, thoughts)]), framing).reading;
    expect(open).toMatchObject({ used: { output: 5 }, outputBytes: 4, usageAtOutputBytes: 0 });
    const over = read(framed[framing]([chunk(thought, 'MAX_TOKENS', thoughts)]), framing).reading;
    expect(over).toMatchObject({ used: { output: 5 }, outputBytes: 4, usageAtOutputBytes: 4 });
    const tierAlone = text('ij', usage({ trafficType: 'ON_DEMAND' }));
    const late = read(framed[framing]([text('abcdefgh', counted), tierAlone]), framing).reading;
    expect(late).toMatchObject({
      used: { inputFresh: 3, output: 4 },
      outputBytes: 10,
      usageAtOutputBytes: 8,
    });
  });

  test.each([
    [[{ functionCall: { name: 'clock', args: {} } }], 'c'],
    [[{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }], 'c'],
    [[{ executableCode: { language: 'PYTHON', code: 'print()' } }], 'c'],
    [[{ ofDaysToCome: { a: 1 } }], 'c'],
    [[{ functionCall: {} }], 'p'],
    [[{ text: '', thoughtSignature: 'c2ln', thought: true }], 'p'],
    [[{ partMetadata: { a: 1 } }], 'p'],
    [[], 'p'],
  ])('takes %j for what it is', (parts, role) => {
    expect(read(framed[framing]([chunk(parts)]), framing).roles[0]).toBe(role);
  });

  test.each([
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content-filter'],
    ['SPII', 'content-filter'],
    ['MALFORMED_FUNCTION_CALL', 'error'],
    ['OF_DAYS_TO_COME', 'unknown'],
  ])('%s is %s', (word, reason) => {
    expect(read(framed[framing]([chunk([], word)]), framing).reading.finishReason).toBe(reason);
  });
});

describe('events', () => {
  test('of other protocols and comments are not for callers of this one', () => {
    const stream = `: busy\n\n${events([text('Hi')])}event: ping\ndata:\n\ndata: [DONE]\n\n`;
    expect(read(stream).roles).toBe('fcff');
  });

  // Clients of this protocol read nothing but what begins with data.
  test.each(['event: message\n', ': busy\n', 'id: 7\r\n'])(
    'with a line before their data lose it: %j',
    (line) => {
      const reader = generateContent.openStream(defaultDialect);
      const frame = `data: ${JSON.stringify(text('Hi'))}\n\n`;
      expect([reader.read(encoder.encode(frame)), reader.retold]).toEqual(['content', null]);
      expect(reader.read(encoder.encode(line + frame))).toBe('content');
      expect(new TextDecoder().decode(reader.retold ?? undefined)).toBe(frame);
    },
  );

  // The SDK for Python fails on data without it.
  test('get the space before their data that they lack', () => {
    const reader = generateContent.openStream(defaultDialect);
    const frame = `data: ${JSON.stringify(text('Hi'))}\n\n`;
    expect(reader.read(encoder.encode(frame.replace(' ', '')))).toBe('content');
    expect(new TextDecoder().decode(reader.retold ?? undefined)).toBe(frame);
  });

  test('behind half a line end are passed on as they are', () => {
    const reader = generateContent.openStream(defaultDialect);
    const frame = `data: ${JSON.stringify(text('Hi'))}\r\n\r`;
    expect([reader.read(encoder.encode(frame)), reader.retold]).toEqual(['content', null]);
    expect([reader.read(encoder.encode(`\n${frame}`)), reader.retold]).toEqual(['content', null]);
  });

  test('may spread their data over lines', () => {
    expect(read('data: {"candidates":[{"content":\ndata: {"parts":[{"text":"Hi"}]}}]}\n\n').roles).toBe('c');
  });

  test.each(['<html>busy</html>\n\n', 'data: {"cut":\r\n\r\n', '[{"candidates":[]}]\n\n'])(
    '%j is garbled',
    (stream) => {
      expect(read(stream)).toMatchObject({ roles: 'g', refusal: { kind: 'garbled' } });
    },
  );
});

describe('an array', () => {
  const whole = array([text('Hi', counted), chunk([], 'STOP')]);

  test.each([
    ['without its bracket', whole.slice(0, -3), true],
    ['cut before its end', array([text('Hi', counted)]).slice(0, -3), false],
    ['with more behind it', `${whole}[]`, false],
    ['in one line', whole.replaceAll(/\s+/g, ''), true],
  ])('%s', (_, stream, isWhole) => {
    expect(read(stream, 'json-array').isWhole).toBe(isWhole);
  });

  test.each([
    ['[]', 'garbled'],
    ['<html>', 'garbled'],
    [JSON.stringify(chunk([{ text: 'Hi' }], 'STOP')), 'garbled'],
    ['{"error":{"code":500,"message":"No","status":"INTERNAL"}}', 'server-error'],
    ['[{"error":{"code":500,"message":"No","status":"INTERNAL"}}]', 'server-error'],
  ])('%s is none', (stream, kind) => {
    const { isWhole, refusal } = read(stream, 'json-array');
    expect([isWhole, refusal?.kind]).toEqual([false, kind]);
  });
});

test('an error of ours is in the framing of the stream, and ends no array', () => {
  const failure = {
    code: 'upstream_error',
    message: 'No',
    param: null,
    status: 502,
    retryAfterMs: null,
    upstreamCode: null,
  } as const;
  const encoded = framings.map((framing) =>
    new TextDecoder().decode(generateContent.encodeStreamError(failure, 'trace', framing)),
  );
  expect(encoded[0]).toMatch(/^data: \{"error":\{"code":502,.*"status":"UNAVAILABLE".*\}\}\r\n\r\n$/);
  expect(encoded[1]).toMatch(/^,\r\n\{"error":.*\}\}\r\n$/);
});
