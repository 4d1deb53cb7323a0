import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { uncounted } from '../ports/data-plane.ts';
import { BodyPlaces, decoderOf, decoding, GrowingBytes, gift } from './body.ts';
import { converse, digestOf, openTestPort } from './port.fixture.ts';

const bytesMax = 4 * 1024 * 1024;

async function answerTo(
  lane: 'plain' | 'node',
  headers: string,
  pieces: readonly (string | Uint8Array)[],
): Promise<string> {
  await using port = await openTestPort(lane);
  const head = `POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n\r\n`;
  const { text } = await converse(port.api, [head, ...pieces], 3000);
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

function chunked(text: string, size: number): string {
  const pieces = text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];
  return `${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`;
}

describe.each(['plain', 'node'] as const)('a body comes out as it was sent, lane %s', (lane) => {
  const text = Array.from({ length: 60_000 }, (_, index) => String(index)).join(' ');

  test('empty', async () => {
    expect(await answerTo(lane, 'content-length: 0', [])).toBe(`POST / ${digestOf(Buffer.from(''))}`);
  });

  test.each([1, 1000, 100_000, text.length])('of a known length, in pieces of %i', async (size) => {
    const pieces = size === 1 ? ['{', '"a":1', '}'] : (text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? []);
    const whole = pieces.join('');
    const seen = await answerTo(lane, `content-length: ${whole.length}`, pieces);
    expect(seen).toBe(`POST / ${digestOf(Buffer.from(whole))}`);
  });

  test.each([1, 7, 4096, 100_000])('in chunks of %i', async (size) => {
    const part = size === 1 ? text.slice(0, 50_000) : text;
    const seen = await answerTo(lane, 'transfer-encoding: chunked', [chunked(part, size)]);
    expect(seen).toBe(`POST / ${digestOf(Buffer.from(part))}`);
  });

  test('as large as allowed, and not a byte more', async () => {
    const largest = 'a'.repeat(bytesMax);
    const seen = await answerTo(lane, 'transfer-encoding: chunked', [chunked(largest, 50_000)]);
    expect(seen).toBe(`POST / ${digestOf(Buffer.from(largest))}`);
    const larger = await answerTo(lane, 'transfer-encoding: chunked', [chunked(`${largest}a`, 50_000)]);
    expect(larger).toBe('POST / payload_too_large');
  });

  test('in a million chunks it takes the memory of its bytes, not of its chunks', {
    timeout: 60_000,
  }, async () => {
    const count = 1_000_000;
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void; // What the flag above makes, in contexts made after it.
    const heapBytes = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const chunks = Buffer.alloc(6 * count, '1\r\na\r\n');
    let grown = 0;
    const before = heapBytes();
    await using port = await openTestPort(lane, {
      bodyMs: 60_000,
      onBody: (body, exchange) => {
        grown = heapBytes() - before;
        exchange.send(200, [], Buffer.from(digestOf(body)));
      },
    });
    const head = 'POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n';
    const { text: answer } = await converse(port.api, [head, chunks, '0\r\n\r\n'], 60_000);
    expect(answer).toContain(digestOf(Buffer.alloc(count, 'a')));
    expect(grown).toBeLessThan(30_000_000);
  });

  test('many that come at once, one after the other on each connection, are not mixed up', async () => {
    await using port = await openTestPort(lane);
    const callers = Array.from({ length: 12 }, async (_, caller) => {
      const bodies = [20_000, 70_000, 300_000, 1_000_000].map((length, index) =>
        Buffer.alloc(length + 1000 * caller, `${caller}.${index}|`),
      );
      const pieces = bodies.flatMap((body) => [
        `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`,
        body.subarray(0, body.length / 3),
        body.subarray(body.length / 3),
      ]);
      const { text } = await converse(port.api, pieces, 1000);
      for (const body of bodies) expect(text).toContain(digestOf(body));
    });
    await Promise.all(callers);
  });

  test('one that never comes is 408', async () => {
    await using port = await openTestPort(lane, { bodyMs: 200, headersMs: 200 });
    const { text: answer } = await converse(
      port.api,
      ['POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc'],
      3000,
    );
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
  });

  test('a caller who resets in the middle of one does no harm', async () => {
    await using port = await openTestPort(lane);
    const socket = connect(Number(new URL(port.api.origin).port), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc', () =>
      socket.resetAndDestroy(),
    );
    await expect.poll(() => port.seen.map(({ body }) => body)).toEqual(['request_timeout']);
    await expect.poll(() => port.api.active).toBe(0);
  });
});

test('a compressed body is decompressed, within the bound', async () => {
  const decode = decoderOf('gzip');
  if (!decode.ok || decode.value === null) throw new Error('gzip is not known');
  const { value } = decode;
  const read = (bytes: Uint8Array) =>
    new Promise<string>((resolve) => {
      const taker = {
        onBody: (body: Uint8Array) => resolve(Buffer.from(body).toString()),
        onNoBody: ({ code }: { code: string }) => resolve(code),
      };
      decoding(taker, value, 1000, uncounted).onBody(bytes, gift);
    });
  expect(await read(gzipSync('a'.repeat(1000)))).toBe('a'.repeat(1000));
  expect(await read(gzipSync('a'.repeat(1001)))).toBe('payload_too_large');
  expect(await read(Buffer.from('no gzip'))).toBe('invalid_request');
});

test('a small body that is waited for keeps no more memory than it announced', () => {
  const bytes = new GrowingBytes(100, bytesMax, new BodyPlaces(), uncounted);
  expect(bytes.room()?.buffer.byteLength).toBe(100);
});

test('a place that was given back is read into again, and not before', () => {
  const places = new BodyPlaces();
  const fill = (text: string) => {
    const bytes = new GrowingBytes(100_000, 100_000, places, uncounted);
    for (let at = 0; at < 100_000; at += 10_000) bytes.append(Buffer.alloc(10_000, text));
    return bytes;
  };
  const first = fill('a');
  const second = fill('b');
  expect(first.all().equals(Buffer.alloc(100_000, 'a'))).toBe(true);
  const { buffer } = first.all();
  first.giveBack();
  first.giveBack();
  const third = fill('c');
  expect(third.all().buffer).toBe(buffer);
  expect(fill('d').all().buffer).not.toBe(buffer);
  expect(second.all().equals(Buffer.alloc(100_000, 'b'))).toBe(true);
  expect(third.all().equals(Buffer.alloc(100_000, 'c'))).toBe(true);
});

test('places that nobody needs are kept up to a bound', () => {
  const places = new BodyPlaces();
  const size = 4 * 1024 * 1024;
  const lent = Array.from({ length: 12 }, () => places.take(size, size));
  for (const place of lent) places.giveBack(place);
  const again = Array.from({ length: 12 }, () => places.take(size, size));
  expect(again.filter((place) => lent.includes(place))).toHaveLength(8);
});

test('a piece that begins where a small place ends is not taken for one inside it', () => {
  const memory = Buffer.alloc(200, 'b').fill('a', 0, 100);
  const bytes = new GrowingBytes(0, 1000, new BodyPlaces(), uncounted);
  bytes.append(memory.subarray(0, 100));
  bytes.append(memory.subarray(100));
  expect(bytes.all().toString()).toBe('a'.repeat(100) + 'b'.repeat(100));
});

test('an announced length is believed a part at a time', () => {
  const announced = 32 * 1024 * 1024;
  const bytes = new GrowingBytes(announced, announced, new BodyPlaces(), uncounted);
  bytes.append(Buffer.alloc(10));
  bytes.append(Buffer.alloc(10));
  expect(bytes.all().buffer.byteLength).toBeLessThanOrEqual(128 * 1024);
  bytes.append(Buffer.alloc(128 * 1024));
  expect(bytes.all().buffer.byteLength).toBeLessThanOrEqual(17 * 128 * 1024);
});
