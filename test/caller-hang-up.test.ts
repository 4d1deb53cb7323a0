import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOfModel } from './support/ledger.ts';
import { chatRequest, RawConnection } from './support/raw-http.ts';

/** Each test has a model of its own, which is also the name by which the simulator's log knows its request. */
const models = {
  'json-late': 'json-late+ttft=20s',
  'stream-late': 'stream-late+ttft=20s',
  'role-only': 'role-only+fault=stall-before-content',
  'second-late': 'second-late+ttft=20s',
  words: 'words+tokens=1000,rate=50/s',
  'counted-words': 'counted-words+tokens=1000,rate=50/s,usage=every',
  'no-penalty': 'no-penalty+tokens=1000,rate=50/s',
  whole: 'whole+tokens=5',
} as const;
type Model = keyof typeof models;

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  gateway = await openTestGateway({
    channels: [
      { id: 'failing', origin, models: { 'second-late': 'failing+fault=500' } },
      { id: 'a', origin, models },
      { id: 'next', origin, models: { 'no-penalty': 'next+tokens=1' } },
    ],
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

function call(model: Model, stream: boolean): RawConnection {
  const body = { model, messages: [{ role: 'user', content: 'one two three' }], stream };
  return new RawConnection(gateway.apiOrigin).send(chatRequest(gateway.keys.completions, body));
}

/** The request the simulator got for a model, once something is true of it. */
function upstreamOf(model: Model, outcome: 'open' | 'client-gone') {
  const name = `"${models[model]}"`;
  return simulator.until(
    (request) => request.outcome === outcome && Buffer.from(request.body).includes(name),
  );
}

/** Hangs up, and expects the upstream to be let go at once. */
async function hangUp(connection: RawConnection, how: 'close' | 'reset', model: Model): Promise<void> {
  const leftAt = performance.now();
  connection[how]();
  await upstreamOf(model, 'client-gone');
  expect(performance.now() - leftAt).toBeLessThan(100);
}

describe('a caller who hangs up before content pays nothing', () => {
  test.each([
    ['json-late', false, 'close'],
    ['stream-late', true, 'reset'],
  ] as const)('%s', async (model, stream, how) => {
    const connection = call(model, stream);
    await upstreamOf(model, 'open');
    await hangUp(connection, how, model);
    expect(await entryOfModel(gateway, model)).toMatchObject({
      status: 'caller_gone',
      unbilledReason: 'caller_gone_before_content',
      chargeNanoUsd: 0n,
      usageSource: 'none',
      httpStatus: null,
      attempts: [{ channelId: 'a', result: 'caller_gone' }],
    });
  });

  test('even when the stream has opened', async () => {
    const connection = call('role-only', true);
    await simulator.until(
      (request) => request.sentBytes > 0 && Buffer.from(request.body).includes('role-only'),
    );
    await hangUp(connection, 'close', 'role-only');
    expect(await entryOfModel(gateway, 'role-only')).toMatchObject({
      status: 'caller_gone',
      unbilledReason: 'caller_gone_before_content',
      chargeNanoUsd: 0n,
    });
  });

  test('while another channel is being tried', async () => {
    const connection = call('second-late', true);
    await upstreamOf('second-late', 'open');
    await hangUp(connection, 'reset', 'second-late');
    const entry = await entryOfModel(gateway, 'second-late');
    expect(entry).toMatchObject({ status: 'caller_gone', chargeNanoUsd: 0n });
    expect(entry.attempts.map(({ channelId, result }) => `${channelId} ${result}`)).toEqual([
      'failing refused',
      'a caller_gone',
    ]);
  });
});

describe('a caller who hangs up after content pays for what was produced', () => {
  test('estimated and marked, when no usage had come', async () => {
    const connection = call('words', true);
    await connection.seen('simulated answer'.slice(-6));
    await hangUp(connection, 'close', 'words');
    const entry = await entryOfModel(gateway, 'words');
    expect(entry).toMatchObject({
      status: 'caller_gone',
      unbilledReason: null,
      usageSource: 'estimated',
      httpStatus: 200,
    });
    const { inputFresh, output } = entry.usage;
    expect(inputFresh).toBeGreaterThan(0);
    expect(output).toBeGreaterThanOrEqual(1);
    expect(entry.chargeNanoUsd).toBe(BigInt(inputFresh) * 1000n + BigInt(output) * 2000n);
    expect(entry.attempts).toMatchObject([{ result: 'caller_gone', usage: entry.usage }]);
  });

  test('exactly, when the upstream counts as it goes', async () => {
    const connection = call('counted-words', true);
    await connection.seen('answer');
    await hangUp(connection, 'reset', 'counted-words');
    const entry = await entryOfModel(gateway, 'counted-words');
    expect(entry).toMatchObject({ status: 'caller_gone', unbilledReason: null, usageSource: 'upstream' });
    expect(entry.usage.inputFresh).toBe(3);
    expect(entry.usage.output).toBeGreaterThanOrEqual(5);
    expect(entry.chargeNanoUsd).toBe(3n * 1000n + BigInt(entry.usage.output) * 2000n);
  });

  test('and the channel is not blamed', async () => {
    const connection = call('no-penalty', true);
    await connection.seen('answer');
    await hangUp(connection, 'close', 'no-penalty');
    await entryOfModel(gateway, 'no-penalty');
    const again = call('no-penalty', true);
    await again.seen('answer');
    again.close();
    const entries = await Array.fromAsync(gateway.store.exportEntries({ model: 'no-penalty' }));
    expect(entries[0]?.attempts).toMatchObject([{ channelId: 'a' }]);
  });
});

test.each([true, false])(
  'a caller who leaves with the end of the answer pays for it, stream: %s',
  async (stream) => {
    const connection = call('whole', stream);
    await connection.seen(stream ? '[DONE]' : '"usage"');
    connection.reset();
    const entries = await Array.fromAsync(gateway.store.exportEntries({ model: 'whole' }));
    expect(entries.at(-1)).toMatchObject({
      status: 'complete',
      unbilledReason: null,
      stream,
      chargeNanoUsd: 3n * 1000n + 5n * 2000n,
    });
  },
);
