import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ManualClock } from './manual-clock.fixture.ts';
import { manualClock } from './manual-clock.fixture.ts';
import { chatRequest, exchange, openRaw, readAnswer } from './raw-exchange.fixture.ts';
import type { Simulator } from './simulator.ts';
import { startSimulator } from './simulator.ts';

let clock: ManualClock;
let simulator: Simulator;

beforeEach(async () => {
  clock = manualClock();
  simulator = await startSimulator({ clock });
});
afterEach(async () => simulator.close());

const stream = { stream: true };

/** The body without the number that makes each answer's id its own. */
function anonymous(body: string): string {
  return body.replaceAll(/sim\d{12}/g, 'sim');
}

test('a split changes the chunks and not the bytes', async () => {
  const plain = await exchange(simulator.origin, chatRequest('m', stream));
  const sevens = await exchange(simulator.origin, chatRequest('m+split=7', stream));
  expect(anonymous(sevens.body)).toBe(anonymous(plain.body));
  expect(Math.max(...(sevens.chunkSizes ?? []))).toBe(7);
});

test('a random split is the same for the same seed and another for another', async () => {
  const sizesOf = async (seed: number) =>
    (await exchange(simulator.origin, chatRequest(`m+split=seed:${seed}`, stream))).chunkSizes;
  expect(await sizesOf(42)).toEqual(await sizesOf(42));
  expect(await sizesOf(42)).not.toEqual(await sizesOf(43));
});

test('a split JSON answer comes in chunks', async () => {
  const answer = await exchange(simulator.origin, chatRequest('m+split=5'));
  expect(answer.chunkSizes?.[0]).toBe(5);
  expect(JSON.parse(answer.body)).toMatchObject({ object: 'chat.completion' });
});

test('crlf ends every line of a stream with CR LF', async () => {
  const { body } = await exchange(simulator.origin, chatRequest('m+crlf,tokens=2', stream));
  expect(body.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  expect(body).toContain('data: [DONE]\r\n\r\n');
});

test('comments precede every frame', async () => {
  const { body } = await exchange(simulator.origin, chatRequest('m+comments,tokens=2', stream));
  const frames = body.split('\n\n').slice(0, -1);
  expect(frames.filter((_, index) => index % 2 === 0)).toEqual(Array(5).fill(': simulated'));
});

test('nothing is sent before the time to first token, and frames keep their rate', async () => {
  const raw = openRaw(simulator.origin);
  raw.send(chatRequest('m+ttft=200ms,rate=50/s,tokens=3', stream));
  const request = await simulator.until(() => true);
  clock.advance(199);
  expect(request.sentBytes).toBe(0);
  const timesMs = [];
  while (request.outcome === 'open') {
    const sentBytes = request.sentBytes;
    clock.advance(1);
    if (request.sentBytes > sentBytes) timesMs.push(clock.nowMs());
  }
  expect(timesMs).toEqual([200, 220, 240, 260]);
  raw.close();
});

test('a JSON answer takes as long as its tokens would', async () => {
  const raw = openRaw(simulator.origin);
  raw.send(chatRequest('m+ttft=1s,rate=10/s,tokens=20'));
  const request = await simulator.until(() => true);
  clock.advance(2_999);
  expect(request.sentBytes).toBe(0);
  clock.advance(1);
  expect(request.outcome).toBe('answered');
  raw.close();
});

test('keep-alive comments fill a stall for as long as it lasts', async () => {
  const raw = openRaw(simulator.origin);
  raw.send(chatRequest('m+fault=stall-before-content,keep-alive=50ms', stream));
  await simulator.until(() => true);
  clock.advance(1_000);
  await raw.until((received) => received.split(': simulated').length === 21);
  expect(readAnswer(raw.received)?.body).not.toContain('"content":"This"');
  raw.close();
});

test('a stall with an end goes on where it stopped', async () => {
  const raw = openRaw(simulator.origin);
  raw.send(chatRequest('m+fault=stall-mid-stream,at=1,for=5s,tokens=2', stream));
  const request = await simulator.until(() => true);
  clock.advance(4_999);
  expect(request.outcome).toBe('open');
  clock.advance(1);
  expect(request.outcome).toBe('answered');
  raw.close();
});

test('a drip sends a few bytes at a time', async () => {
  const raw = openRaw(simulator.origin);
  raw.send(chatRequest('m+drip=5/10ms', {}));
  const request = await simulator.until(() => true);
  const headBytes = request.sentBytes - 5;
  clock.advance(100);
  expect(request.sentBytes).toBe(headBytes + 55);
  raw.close();
});
