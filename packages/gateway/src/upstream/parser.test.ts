import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keepAliveHintMs, maxHeadBytes, type ParseState, ResponseHead, ResponseParser } from './parser.ts';

interface Reading {
  readonly status: number | null;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly progress: ParseState;
  readonly hasSurplus: boolean;
  readonly calls: number;
}

/** Reads pieces until one of them ends the answer, as a connection does. */
function read(pieces: readonly Buffer[]): Reading {
  const chunks: Uint8Array[] = [];
  let head: ResponseHead | null = null;
  const parser = new ResponseParser({
    onHead: (given) => {
      head = given;
    },
    onData: (chunk) => chunks.push(Buffer.from(chunk)),
  });
  let progress: ParseState = 'more';
  for (const piece of pieces) {
    progress = parser.read(Buffer.from(piece));
    if (progress !== 'more') break;
  }
  const seen: ResponseHead | null = parser.head;
  expect(seen).toBe(head);
  return {
    status: seen?.status ?? null,
    headers: [...(seen?.headers ?? [])],
    body: Buffer.concat(chunks).toString('latin1'),
    progress,
    hasSurplus: parser.hasSurplus,
    calls: chunks.length,
  };
}

const readWhole = (text: string) => read([Buffer.from(text, 'latin1')]);

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const bounds = [0, ...cuts.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
}

const bodyBytes = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1'));

const countedAnswer = bodyBytes.map(
  (body) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
);

const chunk = fc
  .tuple(bodyBytes, fc.constantFrom('', ';a', ';name="va;lue"'), fc.boolean())
  .map(([data, extension, upper]) => {
    const size = data.length.toString(16);
    return data === '' ? '' : `${upper ? size.toUpperCase() : `0${size}`}${extension}\r\n${data}\r\n`;
  });

const chunkedAnswer = fc
  .tuple(fc.array(chunk, { maxLength: 8 }), fc.constantFrom('', 'x-trailer: 1\r\n', 'a: b\r\nc: d\r\n'))
  .map(([chunks, trailers]) => {
    const head = 'HTTP/1.1 200 OK\r\nX-A: one\r\nx-a: two\r\nTransfer-Encoding: Chunked\r\n\r\n';
    return `${head}${chunks.join('')}0\r\n${trailers}\r\n`;
  });

const interim = fc.constantFrom('', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Hints\r\nlink: a\r\n\r\n');

/** One byte changed or removed: most of these are not HTTP any more, and all must be read alike in any pieces. */
const damaged = fc
  .tuple(fc.oneof(countedAnswer, chunkedAnswer), fc.nat(), fc.integer({ min: 0, max: 255 }))
  .map(([answer, position, byte]) => {
    const at = position % answer.length;
    return answer.slice(0, at) + String.fromCharCode(byte) + answer.slice(at + 1);
  });

describe('whatever pieces an answer arrives in', () => {
  const anyAnswer = fc
    .tuple(interim, fc.oneof(countedAnswer, chunkedAnswer, damaged))
    .map((parts) => parts.join(''));

  test('it is read the same', () => {
    fc.assert(
      fc.property(anyAnswer, fc.array(fc.nat(), { maxLength: 6 }), (answer, cuts) => {
        const bytes = Buffer.from(answer, 'latin1');
        const { calls: _, hasSurplus: _whole, ...whole } = read([bytes]);
        const { calls: _calls, hasSurplus: _pieces, ...pieces } = read(cut(bytes, cuts));
        expect(pieces).toEqual(whole);
      }),
      { numRuns: 2000 },
    );
  });

  test('byte by byte it is read the same', () => {
    fc.assert(
      fc.property(anyAnswer, (answer) => {
        const bytes = Buffer.from(answer, 'latin1');
        const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
        const { calls: _, hasSurplus: _whole, ...whole } = read([bytes]);
        const { calls: _calls, hasSurplus: _pieces, ...pieces } = read(single);
        expect(pieces).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });
});

test('many chunks in one read are handed over in one piece', () => {
  const chunks = ['hel', 'lo', ' ', 'world'].map((data) => `${data.length}\r\n${data}\r\n`).join('');
  const reading = readWhole(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  expect(reading).toMatchObject({ body: 'hello world', calls: 1, progress: 'complete', hasSurplus: false });
});

test.each([
  'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok!',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n\n',
  'HTTP/1.1 204 None\r\n\r\n0',
])('surplus behind an answer is noticed', (answer) => {
  expect(readWhole(answer)).toMatchObject({ progress: 'complete', hasSurplus: true });
});

const headed = (head: string) => readWhole(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
const chunked = (body: string) => readWhole(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}`);

test.each([
  ['a bare line feed', readWhole('HTTP/1.1 200 OK\nx: y\r\n\r\n')],
  ['a bare carriage return', headed('x: a\rb')],
  ['HTTP/2', readWhole('HTTP/2.0 200 OK\r\n\r\n')],
  ['HTTP/1.2', readWhole('HTTP/1.2 200 OK\r\n\r\n')],
  ['a status of two digits', readWhole('HTTP/1.1 20 OK\r\n\r\n')],
  ['a status of four digits', readWhole('HTTP/1.1 2000 OK\r\n\r\n')],
  ['an empty header name', headed(': x')],
  ['a folded line', headed('a: b\r\n\tc')],
  ['another transfer coding', headed('transfer-encoding: gzip, chunked')],
  ['a transfer coding said twice', headed('transfer-encoding: chunked\r\ntransfer-encoding: chunked')],
  ['a transfer coding in HTTP/1.0', readWhole('HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')],
  [
    'a length and a coding without a body',
    readWhole('HTTP/1.1 204 N\r\ncontent-length: 0\r\ntransfer-encoding: chunked\r\n\r\n'),
  ],
  ['a length with a sign', headed('content-length: +2')],
  ['a length beyond counting', headed(`content-length: ${'9'.repeat(16)}`)],
  ['a list of lengths that differ', headed('content-length: 2, 3')],
  ['a hexadecimal length', headed('content-length: 0x2')],
  ['an empty length', headed('content-length:')],
  ['an empty chunk size', chunked('\r\nok')],
  ['a chunk size with a prefix', chunked('0x2\r\nok\r\n')],
  ['a chunk size with a blank', chunked('2 \r\nok\r\n')],
  ['a chunk size ended by a bare line feed', chunked('2\nok\r\n')],
  ['a line feed in an extension', chunked('2;a\nok\r\n')],
  ['an extension without an end', chunked(`2;${'a'.repeat(5000)}`)],
  ['a carriage return without its line feed', chunked('2\rok\r\n')],
  ['a chunk without an end', chunked('2\r\nok3\r\nyes')],
  ['a trailer with a bare line feed', chunked('0\r\na: b\n\r\n')],
  ['trailers without an end', chunked(`0\r\na: ${'b'.repeat(maxHeadBytes)}`)],
  ['interim answers without an end', readWhole('HTTP/1.1 102 Wait\r\nx: y\r\n\r\n'.repeat(4000))],
])('%s is garbled', (_, reading) => {
  expect(reading.progress).toBe('garbled');
});

test('a repeated length of one value is a length', () => {
  expect(readWhole('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nContent-Length: 2\r\n\r\nok')).toMatchObject({
    progress: 'complete',
    body: 'ok',
  });
});

test('a head of the largest size is read', () => {
  const fill = 'a'.repeat(maxHeadBytes - 'HTTP/1.1 204 N\r\nx: '.length);
  expect(readWhole(`HTTP/1.1 204 N\r\nx: ${fill}\r\n\r\n`).progress).toBe('complete');
  expect(readWhole(`HTTP/1.1 204 N\r\nx: ${fill}a\r\n\r\n`).progress).toBe('garbled');
});

test.each([
  ['HTTP/1.1 200 OK\r\ncontent-length: 0', true],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: Close', false],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: x, close', false],
  ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive', true],
  ['HTTP/1.1 200 OK', false],
  ['HTTP/1.0 200 OK\r\ncontent-length: 0', false],
  ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: Keep-Alive', true],
  ['HTTP/1.1 204 N', true],
  ['HTTP/1.1 204 N\r\ncontent-length: 0', true],
  ['HTTP/1.1 204 N\r\ncontent-length: 3', false],
  ['HTTP/1.1 304 N\r\ntransfer-encoding: chunked', false],
])('%j keeps its connection: %s', (text, keepsAlive) => {
  expect(new ResponseHead(text)).toMatchObject({ problem: null, keepsAlive });
});

test.each([
  ['timeout=5', 5000],
  ['timeout=5, max=100', 5000],
  ['max=1, timeout="30"', 30_000],
  ['max=100', null],
  ['timeout=soon', null],
])('the hint "%s" is %s ms', (value, hintMs) => {
  expect(keepAliveHintMs(value)).toBe(hintMs);
});

test('a header that looks like part of the language is only a header', () => {
  const head = new ResponseHead('HTTP/1.1 204 N\r\n__proto__: a\r\nconstructor: b');
  expect([...head.headers]).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});
