import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSseEvent, SseSplitter, withoutCommentText } from './sse.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function split(chunks: readonly Uint8Array[]): { frames: string[]; rest: string } {
  const splitter = new SseSplitter();
  const frames: string[] = [];
  for (const chunk of chunks)
    expect(splitter.push(chunk, (frame) => frames.push(decoder.decode(frame)))).toBe(true);
  return { frames, rest: decoder.decode(splitter.rest()) };
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted(
    (a, b) => a - b,
  );
  return ends.map((end, n) => bytes.slice(ends[n - 1] ?? 0, end));
}

/** All that the events of the frames say, blank ones left out: the same however the stream was cut. */
function events(frames: readonly string[]) {
  return frames.map((frame) => readSseEvent(encoder.encode(frame))).filter((event) => event.data !== null);
}

const streams = {
  'line feeds': ': hi\n\ndata: 1\n\nevent: x\ndata: 2\ndata: 3\n\n',
  'carriage returns and line feeds': ': hi\r\n\r\ndata: 1\r\n\r\nevent: x\r\ndata: 2\r\ndata: 3\r\n\r\n',
  'carriage returns': ': hi\r\rdata: 1\r\revent: x\rdata: 2\rdata: 3\r\r',
  'mixed line ends': ': hi\r\n\ndata: 1\n\r\nevent: x\rdata: 2\ndata: 3\r\r\n',
};

describe('SseSplitter', () => {
  test.each(Object.entries(streams))('splits %s', (_, stream) => {
    const { frames, rest } = split([encoder.encode(stream)]);
    expect(frames).toHaveLength(3);
    expect(frames.join('')).toBe(stream);
    expect(rest).toBe('');
    expect(events(frames)).toEqual([
      { name: null, data: '1', isWellFormed: true },
      { name: 'x', data: '2\n3', isWellFormed: true },
    ]);
  });

  test.each(Object.entries(streams))('%s survive any cut', (_, stream) => {
    const bytes = encoder.encode(stream);
    const whole = events(split([bytes]).frames);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const { frames, rest } = split([bytes.slice(0, cut), bytes.slice(cut)]);
      expect(frames.join('') + rest).toBe(stream);
      expect(events(frames)).toEqual(whole);
    }
    const oneByOne = split(Array.from(bytes, (byte) => Uint8Array.of(byte)));
    expect(oneByOne.frames.join('') + oneByOne.rest).toBe(stream);
    expect(events(oneByOne.frames)).toEqual(whole);
  });

  test('never loses, adds or reorders a byte', () => {
    const line = fc.constantFrom('data: a', 'data:b', 'event: e', ': c', '', '', 'x');
    const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 });
    fc.assert(
      fc.property(lines, fc.array(fc.nat(), { maxLength: 6 }), (parts, cuts) => {
        const stream = parts.map((part) => part.join('')).join('');
        const bytes = encoder.encode(stream);
        const { frames, rest } = split(cutAt(bytes, cuts));
        expect(frames.join('') + rest).toBe(stream);
        expect(events(frames)).toEqual(events(split([bytes]).frames));
      }),
      { numRuns: 2_000 },
    );
  });

  test('hands out views of the chunk, without a copy', () => {
    const chunk = encoder.encode('data: 1\n\ndata: 2\n\n');
    const buffers = new Set<ArrayBufferLike>();
    new SseSplitter().push(chunk, (frame) => buffers.add(frame.buffer));
    expect([...buffers]).toEqual([chunk.buffer]);
  });

  test('keeps what comes after the last whole frame', () => {
    expect(split([encoder.encode('data: 1\n\ndata: [DO'), encoder.encode('NE]\n')])).toEqual({
      frames: ['data: 1\n\n'],
      rest: 'data: [DONE]\n',
    });
  });

  test('a frame over the bound ends it, in one chunk or in many', () => {
    const frames: Uint8Array[] = [];
    const keep = (frame: Uint8Array) => frames.push(frame);
    const inOne = new SseSplitter(1000);
    const long = new Uint8Array(1000).fill(0x61);
    expect(inOne.push(new Uint8Array([...encoder.encode('data: 1\n\n')]), keep)).toBe(true);
    const longFrame = new Uint8Array(1000 + 2).fill(0x61);
    longFrame.set([0x0a, 0x0a], 1000);
    expect(inOne.push(longFrame, keep)).toBe(false);
    expect(inOne.push(encoder.encode('data: 2\n\n'), keep)).toBe(false);
    const inMany = new SseSplitter(1000);
    expect(inMany.push(long, keep)).toBe(true);
    expect(inMany.push(Uint8Array.of(0x61), keep)).toBe(false);
    expect(inMany.push(encoder.encode('\n\n'), keep)).toBe(false);
    expect(frames).toHaveLength(1);
  });
});

describe('withoutCommentText', () => {
  test.each([
    [': BUSY at acme\n\n', ':\n\n'],
    [':\n\n', ':\n\n'],
    [': a\r\n: b\r\n\r\n', ':\r\n:\r\n\r\n'],
    [': a\ndata: 1\n: b\ndata: 2\n\n', ':\ndata: 1\n:\ndata: 2\n\n'],
    [': never ended', ':'],
    ['data: ": no comment"\nid:1\n\n', 'data: ": no comment"\nid:1\n\n'],
  ])('%j', (frame, bare) => {
    expect(decoder.decode(withoutCommentText(encoder.encode(frame)))).toBe(bare);
  });

  test('the event stays what it was, and without comments every byte', () => {
    const line = fc.constantFrom('data: a', 'event: b', ': c', ':', 'id: 1', 'data');
    const end = fc.constantFrom('\n', '\r\n');
    fc.assert(
      fc.property(fc.array(fc.tuple(line, end)), (lines) => {
        const frame = encoder.encode(lines.flat().join(''));
        const bare = withoutCommentText(frame);
        expect(readSseEvent(bare)).toEqual(readSseEvent(frame));
        if (lines.every(([text]) => !text.startsWith(':'))) expect(bare).toBe(frame);
      }),
    );
  });
});

describe('readSseEvent', () => {
  test.each([
    ['data: {"a":1}\n\n', { name: null, data: '{"a":1}', isWellFormed: true }],
    ['data:x\n\n', { name: null, data: 'x', isWellFormed: true }],
    ['data:  two spaces\n\n', { name: null, data: ' two spaces', isWellFormed: true }],
    ['data\n\n', { name: null, data: '', isWellFormed: true }],
    [': comment\n\n', { name: null, data: null, isWellFormed: true }],
    ['\n', { name: null, data: null, isWellFormed: true }],
    [
      'id: 7\nretry: 10\nevent: error\r\ndata: a\rdata: b\n\n',
      { name: 'error', data: 'a\nb', isWellFormed: true },
    ],
    ['\uFEFFdata: 1\n\n', { name: null, data: '1', isWellFormed: true }],
    ['x-trace: 1\ndata: 1\n\n', { name: null, data: '1', isWellFormed: true }],
    ['<html>\n: comment\n\n', { name: null, data: null, isWellFormed: true }],
    ['{"error":{\n"message":"x"}}\n\n', { name: null, data: null, isWellFormed: false }],
    ['<html>\n\n', { name: null, data: null, isWellFormed: false }],
  ])('reads %j', (frame, event) => {
    expect(readSseEvent(encoder.encode(frame))).toEqual(event);
  });
});
