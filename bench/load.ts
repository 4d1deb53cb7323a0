import { connect, type Socket } from 'node:net';
import { callPath, modelName } from './fixed-answer.ts';
import type { ServerUnderTest } from './server-under-test.ts';

/** What one window of closed-loop load gave. */
export interface LoadWindow {
  readonly requests: number;
  readonly durationMs: number;
  readonly latenciesUs: readonly number[];
}

/** A load ends with the first of its bounds. */
export interface LoadBounds {
  readonly durationMs: number;
  /** Calls, give or take those under way. */
  readonly callsMax?: number;
}

/**
 * Loads a server for a while: `concurrency` kept-alive connections, each sending its next request when the answer to the
 * one before is complete. Rejects when a connection breaks or an answer is anything but 200.
 */
export async function loadServer(
  server: ServerUnderTest,
  request: Buffer,
  concurrency: number,
  { durationMs, callsMax = Number.POSITIVE_INFINITY }: LoadBounds,
): Promise<LoadWindow> {
  const latenciesUs: number[] = [];
  const startedAt = performance.now();
  const deadline = startedAt + durationMs;
  const goesOn = (now: number) => now < deadline && latenciesUs.length < callsMax;
  const callers = Array.from({ length: concurrency }, () =>
    callInTurn(server.port, request, goesOn, latenciesUs),
  );
  await Promise.all(callers);
  return { requests: latenciesUs.length, durationMs: performance.now() - startedAt, latenciesUs };
}

/** The bytes of a call whose body has about the given size. */
export function callRequest(key: string, bodyBytes: number, stream: boolean): Buffer {
  const words = 'The quick brown fox jumps over the lazy dog. ';
  const overhead = 110;
  const content = words.repeat(Math.ceil(bodyBytes / words.length)).slice(0, bodyBytes - overhead);
  const body = JSON.stringify({ model: modelName, stream, messages: [{ role: 'user', content }] });
  return Buffer.from(
    `POST ${callPath} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\nuser-agent: headgate-bench\r\n` +
      `content-type: application/json\r\naccept: */*\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function callInTurn(
  port: number,
  request: Buffer,
  goesOn: (now: number) => boolean,
  latenciesUs: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let answerBytesLeft = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(request);
    };
    const receive = (length: number, buffer: Uint8Array) => {
      if (answerBytesLeft === 0) {
        const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, length);
        answerBytesLeft = answerLength(chunk);
        if (answerBytesLeft === 0)
          socket.destroy(new Error(`Unexpected answer: ${chunk.toString('latin1', 0, 500)}`));
      }
      answerBytesLeft -= length;
      if (answerBytesLeft > 0) return true;
      const now = performance.now();
      latenciesUs.push((now - sentAt) * 1000);
      if (goesOn(now)) send();
      else socket.end(resolve);
      return true;
    };
    const socket: Socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: { buffer: Buffer.alloc(65_536), callback: receive },
    });
    socket.once('connect', send);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('The server closed the connection.')));
  });
}

/** Bytes of an answer, head included; 0 when it is not a success of known length. */
function answerLength(chunk: Buffer): number {
  const headBytes = chunk.indexOf('\r\n\r\n') + 4;
  const head = chunk.toString('latin1', 0, headBytes);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return head.startsWith('HTTP/1.1 200') && length !== undefined ? headBytes + Number(length) : 0;
}
