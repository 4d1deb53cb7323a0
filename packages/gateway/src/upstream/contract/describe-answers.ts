import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { outcomeOf, requestTo } from './recorded-answer.ts';
import { answerAlways, okAnswer, type ReceivedRequest } from './scripted-upstream.ts';
import { type OpenClient, setUpWorkbench } from './workbench.ts';

export function describeAnswers(open: OpenClient): void {
  const workbench = setUpWorkbench(open);

  test('a request arrives as given, with nothing added but what HTTP needs', async () => {
    const received: (ReceivedRequest | null)[] = [];
    const upstream = await workbench.upstream(async (connection) => {
      received.push(await connection.request());
      connection.write(okAnswer);
    });
    const headers = ['content-type', 'application/json', 'x-mixed', 'a b, c', 'x-mixed', 'd'];
    const path = '/v1/answers?beta=true&x=%20';
    const body = Buffer.from([0, 255, 13, 10, 128]);
    await outcomeOf(workbench.client(), requestTo(upstream.origin, { path, headers, body: [body] }));
    const [requestLine, ...lines] = received[0]?.head.split('\r\n') ?? [];
    expect(requestLine).toBe('POST /v1/answers?beta=true&x=%20 HTTP/1.1');
    expect(lines.sort()).toEqual([
      'connection: keep-alive',
      'content-length: 5',
      'content-type: application/json',
      `host: 127.0.0.1:${upstream.port}`,
      'x-mixed: a b, c',
      'x-mixed: d',
    ]);
    expect(received[0]?.body).toEqual(body);
  });

  test.each([
    ['GET', [], null],
    ['POST', [], '0'],
    ['POST', [Buffer.alloc(0)], '0'],
  ] as const)('%s with the body %o announces the length %s', async (method, body, length) => {
    const received: (ReceivedRequest | null)[] = [];
    const upstream = await workbench.upstream(async (connection) => {
      received.push(await connection.request());
      connection.write(okAnswer);
    });
    await outcomeOf(workbench.client(), requestTo(upstream.origin, { method, body }));
    expect(/content-length: (\d+)/.exec(received[0]?.head ?? '')?.[1] ?? null).toBe(length);
  });

  test('a large body arrives whole', async () => {
    const body = Buffer.alloc(3_000_000, 'abcdefg');
    const received: (ReceivedRequest | null)[] = [];
    const upstream = await workbench.upstream(async (connection) => {
      received.push(await connection.request());
      connection.write(okAnswer);
    });
    const pieces = [body.subarray(0, 10), body.subarray(10, 10), body.subarray(10)];
    await outcomeOf(workbench.client(), requestTo(upstream.origin, { body: pieces }));
    expect(received[0]?.body.equals(body)).toBe(true);
  });

  const wholeAnswers = {
    'of a length': ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', 200, 'hello'],
    'of length 0': ['HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n', 500, ''],
    'in chunks': [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x="y"\r\nlo\r\n0\r\nx-trailer: 1\r\n\r\n',
      200,
      'hello',
    ],
    'without a body by its status': ['HTTP/1.1 204 None\r\n\r\n', 204, ''],
    'without a reason phrase': ['HTTP/1.1 429\r\ncontent-length: 2\r\n\r\nno', 429, 'no'],
    'after an interim one': [
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
      200,
      'ok',
    ],
    'that sends elsewhere': [
      'HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n',
      307,
      '',
    ],
  } as const;

  test.each(Object.entries(wholeAnswers))('an answer %s is read to its end', async (_, expected) => {
    const [bytes, status, body] = expected;
    const upstream = await workbench.upstream(answerAlways(bytes));
    const outcome = await outcomeOf(workbench.client(), requestTo(upstream.origin));
    expect(outcome).toMatchObject({ status, body, failure: null });
    expect(upstream.connections).toHaveLength(1);
  });

  test('an answer without a length ends with its connection', async () => {
    const upstream = await workbench.upstream(async (connection) => {
      await connection.answer('HTTP/1.1 200 OK\r\n\r\nall there is');
      connection.socket.end();
    });
    const outcome = await outcomeOf(workbench.client(), requestTo(upstream.origin));
    expect(outcome).toMatchObject({ status: 200, body: 'all there is', failure: null });
  });

  test('header names are in lower case, and a repeated header is joined', async () => {
    const upstream = await workbench.upstream(
      answerAlways(
        'HTTP/1.1 200 OK\r\nX-One:  1 \r\nx-two: a\r\nX-TWO: b\r\nx-empty:\r\ncontent-length: 0\r\n\r\n',
      ),
    );
    const { headers } = await outcomeOf(workbench.client(), requestTo(upstream.origin));
    expect(Object.fromEntries(headers)).toEqual({
      'x-one': '1',
      'x-two': 'a, b',
      'x-empty': '',
      'content-length': '0',
    });
  });

  const codings = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    deflate: deflateSync,
    'DEFLATE ': deflateRawSync,
    br: brotliCompressSync,
    zstd: zstdCompressSync,
  };
  const compressed = (coding: string, bytes: Uint8Array) =>
    Buffer.concat([
      Buffer.from(
        `HTTP/1.1 200 OK\r\nx-one: 1\r\ncontent-encoding: ${coding}\r\ncontent-length: ${bytes.length}\r\n\r\n`,
      ),
      bytes,
    ]);

  test.each(Object.entries(codings))('a compressed answer is decoded: %s', async (coding, compress) => {
    const text = 'hello, '.repeat(100_000);
    const upstream = await workbench.upstream(answerAlways(compressed(coding, compress(text))));
    const client = workbench.client();
    for (let n = 0; n < 2; n++) {
      const { headers, body, failure } = await outcomeOf(client, requestTo(upstream.origin));
      expect([body === text, failure, [...headers]]).toEqual([true, null, [['x-one', '1']]]);
    }
    expect(upstream.connections).toHaveLength(1);
  });

  test.each(Object.entries(codings))('half a compressed answer is none: %s', async (coding, compress) => {
    const half = compress('hello, '.repeat(100_000)).subarray(0, -5);
    const upstream = await workbench.upstream(answerAlways(compressed(coding, half)));
    const outcome = await outcomeOf(workbench.client(), requestTo(upstream.origin));
    expect(outcome.failure).toMatchObject({ kind: 'garbled' });
  });

  test('an answer that would become too long is cut off, and one in a coding that nobody knows stays as it is', async () => {
    const bomb = await workbench.upstream(
      answerAlways(compressed('gzip', gzipSync(Buffer.alloc(50_000_000)))),
    );
    const outcome = await outcomeOf(workbench.client(), requestTo(bomb.origin));
    expect(outcome.failure?.detail).toMatch(/100 times/);
    expect(outcome.body.length).toBeLessThan(6_000_000);
    const strange = await workbench.upstream(answerAlways(compressed('secret', Buffer.from('abc'))));
    expect((await outcomeOf(workbench.client(), requestTo(strange.origin))).body).toBe('abc');
  });

  test('an answer before the end of the request counts, and its connection is not used again', async () => {
    const upstream = await workbench.upstream(({ number, socket }) => {
      socket.once('data', () => {
        socket.pause();
        socket.write(number === 1 ? 'HTTP/1.1 413 Too large\r\ncontent-length: 3\r\n\r\nbig' : okAnswer);
      });
    });
    const client = workbench.client();
    const body = Buffer.alloc(20_000_000);
    const early = await outcomeOf(client, requestTo(upstream.origin, { body: [body] }));
    expect(early).toMatchObject({ status: 413, body: 'big', failure: null });
    expect((await outcomeOf(client, requestTo(upstream.origin))).body).toBe('ok');
    expect(upstream.connections).toHaveLength(2);
  });

  test.each([
    ['a header with a line break', { headers: ['x-a', 'b\r\nx-smuggled: 1'] }],
    ['a header beyond latin-1', { headers: ['x-a', '\u0100'] }],
    ['a header name with a line break', { headers: ['x-a\r\nx-b', 'c'] }],
    ['a path with a blank', { path: '/v1 HTTP/1.1' }],
    ['a path with a line break', { path: '/v1\r\n' }],
    ['a path without a slash', { path: 'v1' }],
  ])('%s is never sent', async (_, changes) => {
    const upstream = await workbench.upstream(answerAlways(okAnswer));
    const client = workbench.client();
    expect(() => outcomeOf(client, requestTo(upstream.origin, changes))).toThrow(TypeError);
    expect(upstream.connections).toHaveLength(0);
  });
}
