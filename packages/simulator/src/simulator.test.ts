import { Buffer } from 'node:buffer';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ManualClock } from './manual-clock.fixture.ts';
import { manualClock } from './manual-clock.fixture.ts';
import { chatRequest, exchange, openRaw, readAnswer } from './raw-exchange.fixture.ts';
import type { Simulator } from './simulator.ts';
import { startSimulator } from './simulator.ts';
import { startSimulatorWorker } from './simulator-fleet.ts';

let clock: ManualClock;
let simulator: Simulator;

beforeEach(async () => {
  clock = manualClock();
  simulator = await startSimulator({ clock, requestsKept: 3 });
});
afterEach(async () => simulator.close());

test('the log keeps what arrived, byte for byte', async () => {
  const text = chatRequest('m', { note: 'ünïcödé' }, [
    'Authorization: Bearer sk-1',
    'x-twice: a',
    'X-Twice: b',
  ]);
  await exchange(simulator.origin, text);
  const [request] = simulator.requests;
  expect(request).toMatchObject({ method: 'POST', target: '/v1/chat/completions', outcome: 'answered' });
  expect(request?.headers).toMatchObject({ authorization: 'Bearer sk-1', 'x-twice': 'a, b' });
  expect(Buffer.from(request?.body ?? []).toString()).toBe(text.slice(text.indexOf('\r\n\r\n') + 4));
});

test('the log is bounded and the count is not', async () => {
  for (let count = 0; count < 5; count++) await exchange(simulator.origin, chatRequest('m'));
  expect(simulator.requests.map(({ sequence }) => sequence)).toEqual([3, 4, 5]);
  expect(simulator.requestCount).toBe(5);
});

test('a client that hangs up is noticed, with the time it took', async () => {
  const raw = openRaw(simulator.origin);
  raw.send(chatRequest('m+fault=stall-mid-stream', { stream: true }));
  await simulator.until(() => true);
  clock.advance(1_234);
  raw.close();
  const gone = await simulator.until(({ outcome }) => outcome === 'client-gone');
  expect(gone.clientGoneAfterMs).toBe(1_234);
});

test('requests sent together are answered one after the other', async () => {
  const raw = openRaw(simulator.origin);
  raw.send(chatRequest('first+tokens=1') + chatRequest('second+tokens=1'));
  await raw.until((received) => received.includes('"second"'));
  const received = raw.received.toString();
  expect(received.indexOf('"first"')).toBeLessThan(received.indexOf('"second"'));
  raw.close();
});

test('a request may arrive byte by byte, and in chunks', async () => {
  const body = '{"model":"m+tokens=1","messages":[{"role":"user","content":"hi"}]}';
  const head = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
  const raw = openRaw(simulator.origin);
  for (const character of `${head}5\r\n${body.slice(0, 5)}\r\n`) raw.send(character);
  raw.send(`${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`);
  await raw.until(() => readAnswer(raw.received)?.isWhole === true);
  expect(readAnswer(raw.received)?.status).toBe(200);
  expect(Buffer.from(simulator.requests[0]?.body ?? []).toString()).toBe(body);
  raw.close();
});

test('a client that waits for 100 Continue gets it', async () => {
  const [head = '', body = ''] = chatRequest('m', {}, ['expect: 100-continue']).split('\r\n\r\n');
  const raw = openRaw(simulator.origin);
  raw.send(`${head}\r\n\r\n`);
  await raw.until((received) => received.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
  raw.send(body);
  await raw.until((received) => received.includes('chat.completion'));
  raw.close();
});

test('an answer waits for a client that does not read', async () => {
  const slow = connect(Number(new URL(simulator.origin).port), '127.0.0.1');
  slow.write(chatRequest('m+tokens=200000', { stream: true }));
  const request = await simulator.until(({ sentBytes }) => sentBytes > 0);
  await exchange(simulator.origin, chatRequest('m'));
  expect(request.outcome).toBe('open');
  slow.resume();
  await simulator.until(({ sequence, outcome }) => sequence === 1 && outcome === 'answered');
  slow.destroy();
});

test('what follows a broken answer on its connection is not answered', async () => {
  const raw = openRaw(simulator.origin);
  raw.send(chatRequest('m+fault=cut-mid-stream') + chatRequest('m'));
  expect(await raw.farewell).toBe('FIN');
  expect(simulator.requestCount).toBe(1);
});

test('connection: close is honoured', async () => {
  const raw = openRaw(simulator.origin);
  raw.send(chatRequest('m', {}, ['connection: close']));
  expect(await raw.farewell).toBe('FIN');
  expect(readAnswer(raw.received)?.isWhole).toBe(true);
});

test('what is not HTTP is a 400', async () => {
  const raw = openRaw(simulator.origin);
  raw.send('nonsense\r\n\r\n');
  expect(await raw.farewell).toBe('FIN');
  expect(readAnswer(raw.received)?.status).toBe(400);
});

test.each([
  ['GET /v1/nothing', 404],
  ['POST /v1/nothing', 404],
  ['GET /v1/models/unknown', 404],
  ['DELETE /v1/chat/completions', 405],
  ['POST /v1/chat/completions', 400],
])('%s is %i', async (line, status) => {
  const answer = await exchange(simulator.origin, `${line} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toHaveProperty('error.message');
});

test('down means refused, with open answers reset, and up again is the same port', async () => {
  const open = openRaw(simulator.origin);
  open.send(chatRequest('m+fault=stall-mid-stream', { stream: true }));
  await simulator.until(() => true);
  await simulator.control.goDown();
  expect(await open.farewell).toBe('RST');
  expect(await connectionErrorOf(simulator.origin)).toBe('ECONNREFUSED');
  await simulator.control.comeUp();
  expect((await exchange(simulator.origin, chatRequest('m'))).status).toBe(200);
});

test('idle connections can be closed from outside while busy ones live', async () => {
  const [idle, busy] = [openRaw(simulator.origin), openRaw(simulator.origin)];
  idle.send(chatRequest('m'));
  await idle.until(() => readAnswer(idle.received)?.isWhole === true);
  busy.send(chatRequest('m+ttft=1s'));
  await simulator.until(({ sequence }) => sequence === 2);
  simulator.control.closeIdleConnections();
  expect(await idle.farewell).toBe('FIN');
  clock.advance(1_000);
  await busy.until(() => readAnswer(busy.received)?.isWhole === true);
  busy.close();
});

test('a fixed simulator sends the same bytes each time', async () => {
  const fixed = await startSimulator({ fixed: true, clock });
  const askFixed = async (members: object) => exchange(fixed.origin, chatRequest('m+tokens=2', members));
  expect((await askFixed({})).body).toBe((await askFixed({ temperature: 0 })).body);
  expect((await askFixed({ stream: true })).body).toMatch(/data: \[DONE\]\n\n$/);
  const usage = { stream: true, stream_options: { include_usage: true } };
  expect((await askFixed(usage)).body).toContain('"completion_tokens":2');
  await fixed.close();
});

test('a simulator runs in a thread of its own', async () => {
  const worker = await startSimulatorWorker({ script: 'tokens=1' });
  expect((await exchange(worker.origin, chatRequest('m'))).body).toContain('"content":"This"');
  await worker.close();
  expect(await connectionErrorOf(worker.origin)).toBe('ECONNREFUSED');
});

function connectionErrorOf(origin: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connect(Number(new URL(origin).port), '127.0.0.1', () => resolve(undefined));
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  return promise.finally(() => socket.destroy());
}
