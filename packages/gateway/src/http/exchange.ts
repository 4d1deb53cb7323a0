import { randomFillSync } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Platform } from '@headgate/protocols';
import type { Random } from '../ports/clock.ts';
import type { HeaderList, MemoryShare, Reply } from '../ports/data-plane.ts';
import type { Gateway } from '../ports/gateway.ts';
import type { Observer } from '../ports/observer.ts';
import type { BodyTaker } from './body.ts';

/** One request of a caller and the way back to it, whichever lane it came by. */
export interface Exchange extends Reply {
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  /** True when there is an `idempotency-key`. */
  readonly isNamed: boolean;
  /** The address that the connection comes from, which may be a proxy's; undefined once it is gone. */
  readonly peer: string | undefined;
  /** By its name in lower case; a repeated one as Node joins it. */
  header(name: string): string | undefined;
  /** In whose shape it is answered, and the headers every answer carries. Called before anything is sent. */
  address(platform: Platform, headers: HeaderList): void;
  /** Asks for the body, once; a caller that waits to be asked for it is. `bytesMax` bounds it as it is sent. */
  takeBody(taker: BodyTaker, bytesMax: number, memory: MemoryShare): void;
  /** Calls back once nothing of an answer that is over is kept for its caller any more; perhaps at once. */
  afterDelivery(done: () => void): void;
}

/** The header in which each surface's SDKs look for the id of a call, beside `x-trace-id`. */
const traceHeaders = { completions: 'x-request-id', messages: 'request-id', native: null } as const;

/** The headers that name a call, on every answer. */
export function identityHeaders(platform: Platform, traceId: string): HeaderList {
  const alias = traceHeaders[platform];
  return alias === null ? ['x-trace-id', traceId] : ['x-trace-id', traceId, alias, traceId];
}

/** Random bytes of one id; ids whose bytes are asked of the system together. */
const [idBytes, idsInPool] = [10, 512];

/**
 * Makes ids of calls: a UUID of version 7 without its dashes (RFC 9562 §5.7), which begins with the time and has 74 random
 * bits. One system call serves hundreds of them.
 */
export function traceIds(now: () => number): () => string {
  const pool = Buffer.alloc(idBytes * idsInPool);
  let at = pool.length;
  let timeMs = -1;
  let prefix = '';
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      for (let id = 0; id < pool.length; id += idBytes) {
        pool.writeUInt8(0x70 | (pool.readUInt8(id) & 0x0f), id);
        pool.writeUInt8(0x80 | (pool.readUInt8(id + 2) & 0x3f), id + 2);
      }
      at = 0;
    }
    const nowMs = now();
    if (nowMs !== timeMs) {
      timeMs = nowMs;
      prefix = nowMs.toString(16).padStart(12, '0');
    }
    at += idBytes;
    return prefix + pool.toString('hex', at - idBytes, at);
  };
}

/** How long a caller may take for an answer that is written to its end. */
export interface DeliveryLimits {
  /** Taking nothing of it. */
  readonly stallMs: number;
  /** Taking all of it. */
  readonly callMs: number;
}

/** How far the process is on its way out; read for every request. */
export interface Departure {
  /** Connections are closed behind their answers, so that callers open others: perhaps to a process that took over. */
  readonly isLeaving: boolean;
  /** The process is about to stop, and takes no more calls. */
  readonly isDraining: boolean;
}

/** Everything that a port needs of the gateway, besides answers. */
export interface PortParts extends Pick<Gateway, 'clock' | 'watchdog'> {
  readonly limits: DeliveryLimits;
  readonly observer: Pick<Observer, 'refused'>;
  readonly random: Random;
  readonly departure: Departure;
}

/** Up to this size bytes are written as one string with what stands around them; above it copying costs more than a second write. */
export const joinedBytesMax = 16_000;

/** The bytes as a string of the same length, one character a byte. */
export function latin1(bytes: Uint8Array): string {
  // A stream's frame is a view of a buffer already, and another one costs as much as the string.
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString('latin1');
}

/**
 * Writes bytes as one chunk of a chunked body (RFC 9112 §7.1), in one write, behind `before` and in front of `after`; no
 * bytes are no chunk, which would be HTTP's end of the body. The bytes are the caller's again afterwards. False: the
 * connection is full.
 */
export function writeChunk(
  sink: Pick<Socket, 'write' | 'cork' | 'uncork'>,
  before: string,
  bytes: Uint8Array,
  after: string,
): boolean {
  const { length } = bytes;
  if (length === 0) return sink.write(before + after, 'latin1');
  const start = `${before}${length.toString(16)}\r\n`;
  if (length <= joinedBytesMax) return sink.write(`${start}${latin1(bytes)}\r\n${after}`, 'latin1');
  sink.cork();
  sink.write(start, 'latin1');
  sink.write(new Uint8Array(bytes));
  const isWritable = sink.write(`\r\n${after}`, 'latin1');
  sink.uncork();
  return isWritable;
}

/** Counts answers under way and tells when there are none. */
export class Activity {
  count = 0;
  #waiting: (() => void)[] = [];

  begin(): void {
    this.count += 1;
  }

  end(): void {
    this.count -= 1;
    if (this.count > 0) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }

  idle(): Promise<void> {
    if (this.count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
