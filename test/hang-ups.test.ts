import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestGateway, type TestGateway, type TestGatewayOptions } from './support/gateway.ts';
import { entriesOf } from './support/ledger.ts';
import { configureDirectory, runHeadgate, serveHeadgate, temporaryDirectory } from './support/process.ts';
import {
  chatRequest,
  messagesRequest,
  nativeRequest,
  RawConnection,
  responsesRequest,
} from './support/raw-http.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Five words that are seen, in a second, and a thousand tokens that are not; the usage comes with the end. */
const thinker = (name: string) => `${name}+tokens=5,hidden-reasoning=1000,rate=5/s`;
/** A hundred tokens in 2.2 seconds, sixty of them unseen and written in the first 0.6. */
const steady = (name: string) => `${name}+tokens=40,hidden-reasoning=60,ttft=600ms,rate=25/s`;

const translated = { messages: '/messages' };
const reasoning = [
  ...['drained', 'drained-translated', 'estimated', 'estimated-translated'],
  ...['waited-for', 'always', 'responses', 'messages', 'native'],
];

let simulator: Simulator;
let gateway: TestGateway;

function channelsAt(origin: string): TestGatewayOptions['channels'] {
  return [
    { id: 'drained', origin, models: { drained: thinker('drained') } },
    {
      id: 'drained-translated',
      origin,
      protocols: translated,
      models: { 'drained-translated': thinker('drained-translated') },
    },
    { id: 'estimated', origin, hangUp: 'estimate', models: { estimated: steady('estimated') } },
    {
      id: 'estimated-translated',
      origin,
      hangUp: 'estimate',
      protocols: translated,
      models: { 'estimated-translated': steady('estimated-translated') },
    },
    ...['responses', 'messages', 'native'].map((name) => ({
      id: name,
      origin,
      models: { [name]: thinker(name) },
    })),
    { id: 'told', origin, hangUp: 'drain', models: { told: 'told+tokens=9,rate=30/s' } },
    { id: 'waited-for', origin, models: { 'waited-for': 'waited-for+tokens=3,ttft=500ms' } },
    {
      id: 'always',
      origin,
      hangUp: 'always',
      models: { always: 'always+tokens=3,hidden-reasoning=50,ttft=500ms' },
    },
  ];
}

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({ channels: channelsAt(simulator.origin), reasoning });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

function call(model: string, stream = true, key = gateway.keys.completions): RawConnection {
  const body = { model, messages: [{ role: 'user', content: 'one two three' }], stream };
  return new RawConnection(gateway.apiOrigin).send(chatRequest(key, body));
}

/** Entries of a model, once there are so many that have ended. */
function ended(model: string, count: number) {
  return vi.waitFor(
    async () => {
      const entries = await entriesOf(gateway, { model });
      expect(entries.filter(({ status }) => status !== 'open')).toHaveLength(count);
      return entries;
    },
    { timeout: 20_000, interval: 100 },
  );
}

const callers = 100;

const leavesAfterMs = 1000;

/** Hangs up after the first words, at once or later: the usage is still to come. */
async function hangUp(model: string, words: string, afterMs = 0): Promise<void> {
  const connection = call(model);
  await connection.seen(words);
  if (afterMs > 0) await new Promise((done) => setTimeout(done, afterMs));
  connection.close();
}

describe('a hundred callers who hang up just before the usage', () => {
  test.each(['drained', 'drained-translated'])('are billed what the upstream counted: %s', async (model) => {
    await Promise.all(Array.from({ length: callers }, () => hangUp(model, 'simulated')));
    const entries = await ended(model, callers);
    const billed = entries.reduce((sum, { usage }) => sum + usage.output, 0);
    expect(billed).toBeGreaterThanOrEqual(0.95 * callers * 1005);
    for (const entry of entries) {
      expect(entry).toMatchObject({
        status: 'caller_gone',
        unbilledReason: null,
        usageSource: 'upstream',
        usage: { output: 1005, outputReasoning: 1000 },
        attempts: [{ result: 'caller_gone', usage: { output: 1005 } }],
      });
      expect(entry.chargeNanoUsd).toBe(BigInt(entry.usage.inputFresh) * 1000n + 1005n * 2000n);
    }
  });

  test.each(['estimated', 'estimated-translated'])('are billed what it must have been: %s', async (model) => {
    // What the gateway knows of the pace, it knows from answers that came whole.
    for (let round = 0; round < 3; round++) {
      const connection = call(model);
      await connection.seen('[DONE]');
      connection.close();
    }
    await ended(model, 3);
    for (let left = callers; left > 0; left -= 25)
      await Promise.all(Array.from({ length: 25 }, () => hangUp(model, 'simulated', leavesAfterMs)));
    const entries = (await ended(model, callers + 3)).filter(({ status }) => status === 'caller_gone');
    // Who came too late has the whole answer.
    expect(entries.length).toBeGreaterThan(callers / 2);
    const billed = entries.reduce((sum, { usage }) => sum + usage.output, 0);
    const produced = 60 + (25 * leavesAfterMs) / 1000;
    expect(billed / entries.length / produced).toBeGreaterThan(0.75);
    expect(billed / entries.length / produced).toBeLessThan(1.25);
    for (const { usage, usageSource } of entries) {
      expect(usageSource).toBe('estimated');
      expect(usage.outputReasoning).toBeGreaterThan(0);
    }
  });
});

/** The same request in the words of every other surface. */
const spoken: Readonly<Record<string, (keys: TestGateway['keys']) => Buffer>> = {
  responses: (keys) =>
    responsesRequest(keys.completions, { model: 'responses', input: 'one two three', stream: true }),
  messages: (keys) =>
    messagesRequest(keys.messages, {
      model: 'messages',
      max_tokens: 4_000,
      messages: [{ role: 'user', content: 'one two three' }],
      stream: true,
    }),
  native: (keys) =>
    nativeRequest(keys.native, 'native:streamGenerateContent?alt=sse', {
      contents: [{ role: 'user', parts: [{ text: 'one two three' }] }],
    }),
};

test.each(Object.entries(spoken))(
  'callers of %s who hang up just before the usage have nothing for nothing',
  async (name, ask) => {
    const leave = async () => {
      const connection = new RawConnection(gateway.apiOrigin).send(ask(gateway.keys));
      await connection.seen('simulated');
      connection.close();
    };
    await Promise.all(Array.from({ length: 20 }, leave));
    for (const entry of await ended(name, 20))
      expect(entry).toMatchObject({
        status: 'caller_gone',
        unbilledReason: null,
        usageSource: 'upstream',
        usage: { output: 1005 },
      });
  },
);

describe('a caller who leaves', () => {
  test('a model that does not think has it read on where its channel says so', async () => {
    await hangUp('told', 'simulated');
    const [entry] = await ended('told', 1);
    expect(entry).toMatchObject({ status: 'caller_gone', usageSource: 'upstream', usage: { output: 9 } });
  });

  test.each([true, false])('before any content pays nothing, stream: %s', async (stream) => {
    const before = (await entriesOf(gateway, { model: 'waited-for' })).length;
    const connection = call('waited-for', stream);
    await new Promise((done) => setTimeout(done, 150));
    connection.close();
    const entries = await ended('waited-for', before + 1);
    expect(entries.at(-1)).toMatchObject({ unbilledReason: 'caller_gone_before_content', chargeNanoUsd: 0n });
  });

  test.each([true, false])('pays even then where the channel bills always, stream: %s', async (stream) => {
    const before = (await entriesOf(gateway, { model: 'always' })).length;
    const connection = call('always', stream);
    await new Promise((done) => setTimeout(done, 150));
    connection.close();
    const entries = await ended('always', before + 1);
    expect(entries.at(-1)).toMatchObject({
      status: 'caller_gone',
      unbilledReason: null,
      usageSource: 'upstream',
      usage: { output: 53, outputReasoning: 50 },
    });
  });
});

test('only so many are read on, and only for so long; the rest is estimated', async () => {
  const endless = 'bounded+tokens=100000,rate=40/s';
  const flags = { 'hang-ups-max': '2', 'hang-up-timeout': '1s' };
  await using bounded = await openTestGateway({
    channels: [{ id: 'bounded', origin: simulator.origin, models: { bounded: endless } }],
    reasoning: ['bounded'],
    flags,
  });
  const body = { model: 'bounded', messages: [{ role: 'user', content: 'one' }], stream: true };
  const startedAt = performance.now();
  for (let n = 0; n < 4; n++) {
    const connection = new RawConnection(bounded.apiOrigin).send(chatRequest(bounded.keys.completions, body));
    await connection.seen('simulated');
    connection.close();
  }
  const entries = await vi.waitFor(
    async () => {
      const found = await entriesOf(bounded, { model: 'bounded' });
      expect(found.filter(({ status }) => status === 'caller_gone')).toHaveLength(4);
      return found;
    },
    { timeout: 10_000, interval: 50 },
  );
  expect(performance.now() - startedAt).toBeLessThan(5000);
  // Beyond its first word, which may be late on a busy machine.
  const long = entries.filter(({ durationMs, ttftMs }) => durationMs - (ttftMs ?? 0) > 900);
  expect(long).toHaveLength(2);
  for (const { usage } of long) expect(usage.output).toBeGreaterThan(20);
  for (const { usage, usageSource } of entries) {
    expect(usageSource).toBe('estimated');
    expect(usage.output).toBeGreaterThanOrEqual(1);
  }
});

test('a real process reads on, bills once, and lets go of the rest when it stops', async () => {
  using directory = temporaryDirectory();
  const { key, options } = configureDirectory(directory.path, {
    channels: [
      {
        id: 'a',
        origin: simulator.origin,
        models: { thinker: thinker('process'), endless: 'endless+tokens=100000,rate=20/s' },
      },
    ],
    reasoning: ['thinker', 'endless'],
  });
  {
    await using serving = await serveHeadgate(options);
    for (const model of ['thinker', 'endless']) {
      const body = { model, messages: [{ role: 'user', content: 'one two three' }], stream: true };
      const connection = new RawConnection(serving.ready.apiOrigin).send(chatRequest(key, body));
      await connection.seen('simulated');
      connection.reset();
    }
    await new Promise((done) => setTimeout(done, 1500));
    serving.process.signal('SIGTERM');
    const stoppedAt = performance.now();
    expect(await serving.process.ended).toMatchObject({ code: 0 });
    expect(performance.now() - stoppedAt).toBeLessThan(10_000);
  }
  const { stdout } = await runHeadgate(['ledger', 'export', '--format', 'ndjson'], options);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toHaveLength(2);
  const entryOf = (model: string) => lines.find((line) => line['modelRequested'] === model);
  expect(entryOf('thinker')).toMatchObject({ status: 'caller_gone', usageSource: 'upstream' });
  expect(entryOf('endless')).toMatchObject({ status: 'caller_gone', usageSource: 'estimated' });
  expect(await runHeadgate(['ledger', 'verify'], options)).toMatchObject({ code: 0 });
});
