import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callOnce, textOf } from './support/faulty-calls.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  gateway = await openTestGateway({
    channels: [
      { id: 'late', origin, models: { hung: 'late+fault=stall-before-content', whole: 'late+ttft=3s' } },
      { id: 'quick', origin, models: { hung: 'quick+tokens=7', whole: 'quick+tokens=7' } },
    ],
    hedging: true,
  });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

test('a stream that is silent for long is answered by a second channel, and the first is let go of', async () => {
  const { answer, entry } = await callOnce(gateway, 'hung', 'stream');
  expect(answer).toMatchObject({ status: 200, isWhole: true });
  expect(textOf(answer, 'stream')).toBe('This is a simulated answer; no real');
  expect(answer.headers.get('x-headgate-attempts')).toBe('2');
  expect(answer.body.toString().match(/"role":"assistant"/g)).toHaveLength(1);
  expect(entry).toMatchObject({ status: 'complete', channelId: 'quick', unbilledReason: null });
  expect(entry.attempts).toMatchObject([
    { n: 1, channelId: 'late', result: 'aborted' },
    { n: 2, channelId: 'quick', result: 'answered' },
  ]);
  await simulator.until(({ outcome }) => outcome === 'client-gone');
});

test('an answer that is no stream is waited for', async () => {
  const { answer, entry } = await callOnce(gateway, 'whole', 'json');
  expect(answer.status).toBe(200);
  expect(entry.attempts).toMatchObject([{ channelId: 'late', result: 'answered' }]);
});
