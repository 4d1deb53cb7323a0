import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chatRequest, exchange, openRaw } from './raw-exchange.fixture.ts';
import { type SimulatorFleet, startSimulatorFleet } from './simulator-fleet.ts';

let fleet: SimulatorFleet;

beforeEach(async () => {
  fleet = await startSimulatorFleet([{ script: 'tokens=1' }, { script: 'tokens=2' }, {}]);
});
afterEach(async () => fleet.close());

function member(place: number) {
  const found = fleet.members[place];
  if (found === undefined) throw new Error(`there is no member ${place}`);
  return found;
}

async function statusOf(place: number): Promise<number> {
  return (await exchange(member(place).origin, chatRequest('m'))).status;
}

test('every simulator of a fleet has a port and a script of its own', async () => {
  expect(new Set(fleet.members.map(({ origin }) => origin)).size).toBe(3);
  expect((await exchange(member(0).origin, chatRequest('m'))).body).toContain('"content":"This"');
  expect((await exchange(member(1).origin, chatRequest('m'))).body).toContain('"content":"This is"');
});

test('one fails and recovers while the others answer', async () => {
  await member(1).setScript('fault=503');
  expect([await statusOf(0), await statusOf(1)]).toEqual([200, 503]);
  await member(1).setScript('');
  expect(await statusOf(1)).toBe(200);
});

test('one goes down with its open answers, and comes up on its port again', async () => {
  const open = openRaw(member(2).origin);
  open.send(chatRequest('m+fault=stall-mid-stream', { stream: true }));
  await open.until((received) => received.length > 0);
  await member(2).goDown();
  expect(await open.farewell).toBe('RST');
  expect(await isRefused(member(2).origin)).toBe(true);
  expect(await statusOf(0)).toBe(200);
  await member(2).comeUp();
  expect(await statusOf(2)).toBe(200);
});

test('requests are counted for each', async () => {
  await exchange(member(0).origin, chatRequest('m'));
  await exchange(member(0).origin, chatRequest('m'));
  expect(await Promise.all(fleet.members.map((each) => each.requestCount()))).toEqual([2, 0, 0]);
});

test('a command that cannot be read is told to whoever gave it', async () => {
  await expect(member(0).setScript('fault=nonsense')).rejects.toThrow('fault=nonsense');
  expect(await statusOf(0)).toBe(200);
});

function isRefused(origin: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(Number(new URL(origin).port), '127.0.0.1', () => resolve(false));
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  return promise.finally(() => socket.destroy());
}
