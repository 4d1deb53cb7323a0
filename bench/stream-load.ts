import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { cpuTimeUs, residentKib } from '../harness/process-usage.ts';
import { frameMark, stampDigits } from './fixed-answer.ts';
import type { FixedUpstream } from './fixed-upstream.ts';
import { callRequest } from './load.ts';
import type { ServerUnderTest } from './server-under-test.ts';

/** What one window of concurrent streams gave. */
export interface StreamWindow {
  readonly frames: number;
  readonly durationMs: number;
  /** From the making of a frame in the upstream to its arrival here; a sample. */
  readonly frameLatenciesUs: readonly number[];
  /** Of the server under test; null for the upstream alone. */
  readonly cpuUs: number | null;
  readonly residentKib: number | null;
}

/** Opening all at once would measure the accept queue. */
const openingBatch = 50;
/** Every so many reads, one time stamp is looked at. */
const sampleEvery = 16;
const markByte = frameMark.charCodeAt(0);

export interface StreamLoad {
  readonly streams: number;
  /** From the first frame until counting begins. */
  readonly settleMs: number;
  readonly durationMs: number;
}

/** Opens streams through a server, has the upstream feed them, and counts the frames that arrive while a window lasts. */
export async function loadStreams(
  server: ServerUnderTest,
  upstream: FixedUpstream,
  { streams, settleMs, durationMs }: StreamLoad,
): Promise<StreamWindow> {
  const request = callRequest(server.key, 1_500, true);
  const counter = new FrameCounter();
  const sockets: Socket[] = [];
  try {
    while (sockets.length < streams) {
      const batch = Array.from({ length: Math.min(openingBatch, streams - sockets.length) }, () =>
        openStream(server.port, request, counter),
      );
      sockets.push(...(await Promise.all(batch)));
    }
    upstream.feeding = true;
    await setTimeout(settleMs);
    return await countFrames(server, counter, durationMs);
  } finally {
    upstream.feeding = false;
    await Promise.all(sockets.map(closeStream));
  }
}

async function countFrames(
  server: ServerUnderTest,
  counter: FrameCounter,
  durationMs: number,
): Promise<StreamWindow> {
  const cpuBefore = server.pid === null ? null : cpuTimeUs(server.pid);
  const startedAt = performance.now();
  counter.restart();
  await setTimeout(durationMs);
  const { frames, latenciesUs } = counter;
  const elapsedMs = performance.now() - startedAt;
  if (latenciesUs.length === 0) throw new Error(`No frame came through ${server.name}.`);
  return {
    frames,
    durationMs: elapsedMs,
    frameLatenciesUs: latenciesUs,
    cpuUs: server.pid === null || cpuBefore === null ? null : cpuTimeUs(server.pid) - cpuBefore,
    residentKib: server.pid === null ? null : residentKib(server.pid),
  };
}

class FrameCounter {
  frames = 0;
  latenciesUs: number[] = [];
  #reads = 0;

  restart(): void {
    this.frames = 0;
    this.latenciesUs = [];
  }

  receive(chunk: Buffer): void {
    let at = chunk.indexOf(markByte);
    if (at >= 0 && this.#reads++ % sampleEvery === 0) this.#sample(chunk, at + 1);
    while (at >= 0) {
      this.frames++;
      at = chunk.indexOf(markByte, at + 1);
    }
  }

  #sample(chunk: Buffer, start: number): void {
    if (start + stampDigits > chunk.length) return;
    const madeAtUs = Number(chunk.toString('latin1', start, start + stampDigits));
    this.latenciesUs.push(Number(process.hrtime.bigint() / 1000n) - madeAtUs);
  }
}

/** Resolves when the first bytes of the answer are there. Rejects when it is no success. */
function openStream(port: number, request: Buffer, counter: FrameCounter): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let opened = false;
    const receive = (length: number, buffer: Uint8Array) => {
      const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, length);
      if (!opened) {
        opened = true;
        if (chunk.toString('latin1', 0, 12) === 'HTTP/1.1 200') resolve(socket);
        else reject(new Error(`Unexpected answer: ${chunk.toString('latin1', 0, 500)}`));
      }
      counter.receive(chunk);
      return true;
    };
    const socket: Socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: { buffer: Buffer.alloc(16_384), callback: receive },
    });
    socket.once('connect', () => socket.write(request));
    // A server may reset what it still had to say when the stream is closed from here.
    socket.on('error', reject);
  });
}

async function closeStream(socket: Socket): Promise<void> {
  if (socket.closed) return;
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
}
