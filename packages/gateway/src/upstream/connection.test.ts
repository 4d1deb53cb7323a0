import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HttpClient } from './client.ts';
import { type Gathered, Gathering } from './connection.ts';
import { requestTo, sendRecorded } from './contract/recorded-answer.ts';
import { okAnswer, type ScriptedConnection } from './contract/scripted-upstream.ts';
import { setUpWorkbench } from './contract/workbench.ts';

const workbench = setUpWorkbench((options) => new HttpClient(options));

/** A loop of which the test says how much of the time it is at work. */
class Loop {
  share = 0;
  readonly utilisation = () => ({ idle: 0, active: 0, utilization: this.share });
}

class Stream implements Gathered {
  readOnAt: number | null = null;

  readOn(): void {
    this.readOnAt = performance.now();
  }
}

/** More reads than are looked at, for longer than it takes. */
function readMuch(gathering: Gathering, durationMs = 100): void {
  for (let elapsedMs = 0; elapsedMs < durationMs; elapsedMs += 2) {
    vi.advanceTimersByTime(2);
    for (let read = 0; read < 20; read++) gathering.holds(new Stream());
  }
}

function lateGathering(loop: Loop): Gathering {
  const gathering = new Gathering(loop.utilisation);
  loop.share = 1;
  readMuch(gathering, 56);
  return gathering;
}

/** How long a stream is held that is read now. */
function heldMs(gathering: Gathering): number | null {
  const stream = new Stream();
  const readAt = performance.now();
  if (!gathering.holds(stream)) return null;
  readMuch(gathering);
  return (stream.readOnAt ?? Number.NaN) - readAt;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('no stream is held while the loop has time', () => {
  const loop = new Loop();
  const gathering = new Gathering(loop.utilisation);
  loop.share = 0.9;
  readMuch(gathering);
  expect(heldMs(gathering)).toBeNull();
});

test('no stream is held for a loop that is late for something else', () => {
  const loop = new Loop();
  const gathering = new Gathering(loop.utilisation);
  loop.share = 1;
  vi.advanceTimersByTime(60);
  for (let read = 0; read < 200; read++) expect(gathering.holds(new Stream())).toBe(false);
});

test('a stream is held 24 ms at the most by a loop that has become late', () => {
  const held = heldMs(lateGathering(new Loop()));
  expect(held).toBeGreaterThan(20);
  expect(held).toBeLessThanOrEqual(24);
});

test('a stream is held longer, but not without a bound, by a loop that stays late', () => {
  const gathering = lateGathering(new Loop());
  for (let round = 0; round < 40; round++) readMuch(gathering);
  const held = heldMs(gathering);
  expect(held).toBeGreaterThan(60);
  expect(held).toBeLessThanOrEqual(72);
});

test('what should have been read on while the loop hung is read on at once', () => {
  const gathering = lateGathering(new Loop());
  const streams = [0, 6, 12].map((waitMs) => {
    vi.advanceTimersByTime(waitMs);
    const stream = new Stream();
    gathering.holds(stream);
    return stream;
  });
  const hungUntil = performance.now() + 500;
  vi.spyOn(performance, 'now').mockReturnValue(hungUntil);
  vi.advanceTimersByTime(2);
  expect(streams.map(({ readOnAt }) => readOnAt)).toEqual([hungUntil, hungUntil, hungUntil]);
  vi.restoreAllMocks();
});

test('a loop that has time again holds nobody any more', () => {
  const loop = new Loop();
  const gathering = lateGathering(loop);
  const stream = new Stream();
  gathering.holds(stream);
  loop.share = 0.2;
  readMuch(gathering);
  expect(stream.readOnAt).not.toBeNull();
  expect(heldMs(gathering)).toBeNull();
  expect(vi.getTimerCount()).toBe(0);
});

test('the last streams are not held for those that have ended', () => {
  const gathering = lateGathering(new Loop());
  vi.advanceTimersByTime(60);
  expect(heldMs(gathering)).toBeNull();
  expect(vi.getTimerCount()).toBe(0);
});

const frames = 500;
const frame = (index: number) => String(index).padStart(4, '0');

/** Writes frames one by one, each a chunk of its own, and a good end. */
async function streamSlowly(connection: ScriptedConnection): Promise<void> {
  await connection.answer('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
  for (let index = 0; index < frames; index++) {
    connection.write(`4\r\n${frame(index)}\r\n`);
    await new Promise(setImmediate);
  }
  connection.write('0\r\n\r\n');
  await connection.answer(okAnswer);
}

/** Holds every stream after every read. */
function alwaysHolding(): Pick<Gathering, 'holds'> & { readonly held: Gathered[] } {
  const held: Gathered[] = [];
  const holds = (stream: Gathered) => {
    held.push(stream);
    setTimeout(() => stream.readOn(), 2);
    return true;
  };
  return { held, holds };
}

const certificate = readFileSync(new URL('fixtures/localhost-certificate.pem', import.meta.url), 'utf8');
const key = readFileSync(new URL('fixtures/localhost-key.pem', import.meta.url), 'utf8');

test.each([
  ['', undefined],
  [' over TLS', { cert: certificate, key }],
])(
  'a stream that is held between reads comes whole%s, and its connection serves the next',
  async (_, tls) => {
    vi.useRealTimers();
    const gathering = alwaysHolding();
    const upstream = await workbench.upstream(streamSlowly, tls);
    const client = workbench.client({ gathering, certificateAuthorities: [certificate] });
    const request = { ...requestTo(upstream.origin), allowPrivate: true };
    const answer = sendRecorded(client, request);
    let reads = 0;
    answer.onChunk = () => {
      reads += 1;
      answer.exchange?.gather();
      if (reads % 3 !== 0) return;
      answer.exchange?.pause();
      setTimeout(() => answer.exchange?.resume(), 1);
    };
    const { body, failure } = await answer.outcome;
    expect(failure).toBeNull();
    expect(body).toBe(Array.from({ length: frames }, (_, index) => frame(index)).join(''));
    expect(gathering.held.length).toBeGreaterThan(0);
    // TLS brings every record by itself.
    if (tls === undefined) expect(reads).toBeLessThan(frames);
    const held = gathering.held.length;
    expect((await sendRecorded(client, request).outcome).body).toBe('ok');
    // The next answer on the connection is held only when it says so itself.
    expect(gathering.held).toHaveLength(held);
    expect(upstream.connections).toHaveLength(1);
  },
);

test('the caller may go, and the upstream, while a stream is held', async () => {
  vi.useRealTimers();
  const gathering: Pick<Gathering, 'holds'> & { readonly held: Gathered[] } = {
    held: [],
    holds: (one) => gathering.held.push(one) > 0,
  };
  const upstream = await workbench.upstream(async (connection) => {
    await connection.answer('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n');
  });
  const client = workbench.client({ gathering });
  const answers = [0, 1].map(() => {
    const answer = sendRecorded(client, requestTo(upstream.origin));
    answer.onChunk = () => answer.exchange?.gather();
    return answer;
  });
  await vi.waitFor(() => expect(gathering.held).toHaveLength(2));
  answers[0]?.exchange?.abort();
  expect((await answers[0]?.outcome)?.failure?.kind).toBe('aborted');
  for (const { socket } of upstream.connections) socket.end();
  for (const one of gathering.held) one.readOn();
  expect((await answers[1]?.outcome)?.failure?.kind).toBe('garbled');
});
