import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { readBody } from './request-body.ts';

type Body = Awaited<ReturnType<typeof readBody>>;

const bytesMax = 4 * 1024 * 1024;
let server: Server;
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

/** Sends the bytes as one request of the headers, to a server that shows its message to `onMessage`. */
async function send(
  headers: string,
  bytes: readonly (string | Uint8Array)[],
  onMessage: (message: IncomingMessage) => void,
): Promise<void> {
  server = createServer(onMessage).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo; // A listening TCP server has no other kind of address.
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`);
  for (const piece of bytes) {
    await new Promise<void>((resolve) => socket.write(piece, () => setImmediate(resolve)));
  }
}

function bodyOf(headers: string, bytes: readonly (string | Uint8Array)[]): Promise<Body> {
  return new Promise((resolve) => {
    void send(headers, bytes, (message) => void readBody(message, bytesMax).then(resolve));
  });
}

function textOf(body: Body): string | null {
  return body.ok ? Buffer.from(body.value).toString('latin1') : null;
}

function chunked(text: string, size: number): string {
  const pieces = text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];
  return `${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`;
}

describe('a body comes out as it was sent', () => {
  const text = Array.from({ length: 60_000 }, (_, index) => String(index)).join(' ');

  test('empty', async () => {
    expect(textOf(await bodyOf('content-length: 0', []))).toBe('');
  });

  test.each([1, 1000, 100_000, text.length])('of a known length, in pieces of %i', async (size) => {
    const pieces = size === 1 ? ['{', '"a":1', '}'] : (text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? []);
    const whole = pieces.join('');
    expect(textOf(await bodyOf(`content-length: ${whole.length}`, pieces))).toBe(whole);
  });

  test.each([1, 7, 4096, 100_000])('in chunks of %i', async (size) => {
    expect(textOf(await bodyOf('transfer-encoding: chunked', [chunked(text, size)]))).toBe(text);
  });

  test('compressed', async () => {
    const zipped = gzipSync(text);
    const headers = `content-encoding: gzip\r\ncontent-length: ${zipped.length}`;
    expect(textOf(await bodyOf(headers, [zipped]))).toBe(text);
  });

  test('as large as allowed, and not a byte more', async () => {
    const largest = 'a'.repeat(bytesMax);
    expect(textOf(await bodyOf('transfer-encoding: chunked', [chunked(largest, 50_000)]))).toBe(largest);
    const larger = await bodyOf('transfer-encoding: chunked', [chunked(`${largest}a`, 50_000)]);
    expect(larger).toMatchObject({ ok: false, error: { code: 'payload_too_large' } });
  });
});

test('a body in a million chunks takes the memory of its bytes, not of its chunks', async () => {
  const count = 1_000_000;
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void; // What the flag above makes, in contexts made after it.
  const heapBytes = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  // The end of the body is kept back: what is held then is held for as long as the caller likes.
  const chunks = Buffer.alloc(6 * count, '1\r\na\r\n');
  const before = heapBytes();
  await new Promise<void>((resolve) => {
    void send('transfer-encoding: chunked', [chunks], (message) => {
      let received = 0;
      void readBody(message, bytesMax);
      message.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received === count) resolve();
      });
    });
  });
  expect(heapBytes() - before).toBeLessThan(30_000_000);
});
