import { connect, type Socket } from 'node:net';
import { startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type FloodUpstream,
  floodBytes,
  startFloodUpstream,
  wholeAnswerBytes,
} from './support/flood-upstream.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entriesOf, entryOf } from './support/ledger.ts';
import { chatRequest, RawConnection } from './support/raw-http.ts';

const mebibyte = 1024 * 1024;
const frames = 12_000;
const answerBytes = floodBytes(frames);

/** A caller that only counts what it reads, and keeps the end of it. */
class Reader {
  readonly #socket: Socket;
  bytes = 0;
  head = '';
  tail = '';
  isClosed = false;

  constructor(origin: string, bytes: Uint8Array) {
    this.#socket = connect(Number(new URL(origin).port), '127.0.0.1');
    this.#socket.on('data', (chunk) => this.#take(chunk.toString('latin1')));
    this.#socket.on('close', () => {
      this.isClosed = true;
    });
    this.#socket.on('error', () => {});
    this.#socket.write(bytes);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Takes a little, and stops again. */
  sip(): void {
    this.#socket.once('data', () => this.pause());
    this.resume();
  }

  /** The connection is still there; a caller who does not read notices by writing. */
  probe(): 'open' | 'closed' {
    if (!this.isClosed) this.#socket.write('\r\n');
    return this.isClosed ? 'closed' : 'open';
  }

  close(): void {
    this.#socket.destroy();
  }

  get traceId(): string | undefined {
    return /x-trace-id: ([0-9a-f]{32})/.exec(this.head)?.[1];
  }

  #take(text: string): void {
    if (this.bytes === 0) this.head = text.slice(0, 1000);
    this.bytes += text.length;
    this.tail = (this.tail + text).slice(-40);
  }
}

/** Bytes that buffers of this process hold, theirs and ours. */
function bufferedBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Waits until the number does not change any more. */
async function settled(read: () => number): Promise<number> {
  let last = -1;
  const isUnchanged = () => {
    const before = last;
    last = read();
    return last === before;
  };
  await expect.poll(isUnchanged, { interval: 250, timeout: 10_000 }).toBe(true);
  return last;
}

describe('a caller who reads slowly', () => {
  let upstream: FloodUpstream;
  let gateway: TestGateway;

  beforeAll(async () => {
    upstream = await startFloodUpstream(frames);
    gateway = await open('2s');
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    upstream.close();
  });

  function open(stallTimeout: string): Promise<TestGateway> {
    return openTestGateway({
      channels: [{ id: 'flood', origin: upstream.origin, models: { flood: 'flood' } }],
      flags: { 'stall-timeout': stallTimeout },
    });
  }

  function read({ apiOrigin, keys }: TestGateway, stream: boolean): Reader {
    const body = { model: 'flood', messages: [], stream };
    return new Reader(apiOrigin, chatRequest(keys.completions, body));
  }

  test('stalls the upstream, not the memory, and gets everything in the end', async () => {
    const reader = read(gateway, true);
    await expect.poll(() => reader.bytes).toBeGreaterThan(0);
    reader.pause();
    const before = bufferedBytes();
    const stalledAt = await settled(() => upstream.sentBytes);
    // The kernel's buffers hold so much on both connections, and nobody holds more.
    expect(stalledAt).toBeLessThan(64 * mebibyte);
    expect(bufferedBytes() - before).toBeLessThan(24 * mebibyte);
    reader.resume();
    let peak = 0;
    await expect
      .poll(
        () => {
          peak = Math.max(peak, bufferedBytes() - before);
          return reader.tail;
        },
        { interval: 5, timeout: 15_000 },
      )
      .toMatch(/\[DONE\]\n\n\r\n0\r\n\r\n$/);
    expect(reader.bytes).toBeGreaterThan(answerBytes);
    expect(peak).toBeLessThan(answerBytes / 2);
    expect(await entryOf(gateway, reader.traceId)).toMatchObject({
      status: 'complete',
      usage: { inputFresh: 3, output: 5 },
    });
    reader.close();
  });

  test('who stops altogether is cut off, pays for what was produced, and the upstream is let go', async () => {
    const reader = read(gateway, true);
    await expect.poll(() => reader.traceId).toBeDefined();
    reader.pause();
    const entry = await entryOf(gateway, reader.traceId);
    expect(entry).toMatchObject({
      status: 'caller_gone',
      unbilledReason: null,
      usageSource: 'estimated',
      httpStatus: 200,
    });
    expect(entry.chargeNanoUsd).toBeGreaterThan(0n);
    await expect.poll(() => upstream.isAbandoned, { timeout: 5000 }).toBe(true);
    await expect.poll(() => reader.probe()).toBe('closed');
    expect(reader.bytes).toBeLessThan(answerBytes);
    expect(reader.tail).not.toContain('[DONE]');
  });

  test('a time-out for taking one answer does not cut the next on the connection', async () => {
    const simulator = await startSimulator();
    await using hasty = await openTestGateway({
      channels: [
        { id: 'flood', origin: upstream.origin, models: { flood: 'flood' } },
        { id: 'late', origin: simulator.origin, models: { late: 'late+ttft=1s,tokens=1' } },
      ],
      flags: { 'stall-timeout': '300ms' },
    });
    const whole = chatRequest(hasty.keys.completions, { model: 'flood', messages: [] });
    const late = chatRequest(hasty.keys.completions, { model: 'late', messages: [{}], stream: true });
    const reader = new Reader(hasty.apiOrigin, Buffer.concat([whole, late]));
    await expect.poll(() => reader.tail, { timeout: 10_000 }).toMatch(/\[DONE\]\n\n\r\n0\r\n\r\n$/);
    reader.close();
    await simulator.close();
  });

  test('who takes a whole answer in sips is cut off when a call would be', { timeout: 60_000 }, async () => {
    await using hasty = await openTestGateway({
      channels: [{ id: 'flood', origin: upstream.origin, models: { flood: 'flood' } }],
      // Time enough for a busy machine to have the whole answer from the upstream.
      flags: { 'stall-timeout': '1500ms', 'call-timeout': '6s' },
    });
    const reader = read(hasty, false);
    // At once: while a busy process gets to it, all of the answer might be taken.
    reader.sip();
    await expect.poll(() => reader.traceId, { interval: 1, timeout: 10_000 }).toBeDefined();
    const sipping = setInterval(() => reader.sip(), 25);
    await expect.poll(() => reader.isClosed, { timeout: 30_000 }).toBe(true);
    clearInterval(sipping);
    expect(reader.bytes).toBeLessThan(wholeAnswerBytes);
  });

  test('who never takes a whole answer does not keep it in memory', async () => {
    await using hasty = await open('300ms');
    const reader = read(hasty, false);
    // At once: while a busy process gets to it, all of the answer might be taken.
    reader.sip();
    await expect.poll(() => reader.traceId, { interval: 1, timeout: 10_000 }).toBeDefined();
    expect(await entryOf(hasty, reader.traceId)).toMatchObject({ status: 'complete', unbilledReason: null });
    // Asked less often than the stall time-out, since a byte from the caller is a sign of life.
    await expect.poll(() => reader.probe(), { interval: 500, timeout: 12_000 }).toBe('closed');
    expect(reader.bytes).toBeLessThan(wholeAnswerBytes);
  });
});

test('200 streams at once all complete and are billed exactly', async () => {
  const count = 200;
  const simulator = await startSimulator();
  await using gateway = await openTestGateway({
    channels: [{ id: 'a', origin: simulator.origin, models: { demo: 'sim+tokens=30,rate=50/s' } }],
  });
  const body = { model: 'demo', messages: [{ role: 'user', content: 'one two three' }], stream: true };
  const bytes = chatRequest(gateway.keys.completions, body);
  const answers = await Promise.all(
    Array.from({ length: count }, async () => {
      const connection = new RawConnection(gateway.apiOrigin).send(bytes);
      const answer = await connection.answer();
      connection.close();
      return answer;
    }),
  );
  expect(answers.every(({ status, isWhole }) => status === 200 && isWhole)).toBe(true);
  expect(new Set(answers.map(({ headers }) => headers.get('x-trace-id'))).size).toBe(count);
  const entries = await entriesOf(gateway);
  expect(entries).toHaveLength(count);
  const charge = 3n * 1000n + 30n * 2000n;
  expect(entries.every((entry) => entry.status === 'complete' && entry.chargeNanoUsd === charge)).toBe(true);
  const { chargeNanoUsd } = await gateway.store.reports.totals('completions', null);
  expect(chargeNanoUsd).toBe(BigInt(count) * charge);
  await simulator.close();
});
