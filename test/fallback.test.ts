import { createServer, type Server } from 'node:net';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  callOnce,
  errorAfterContent,
  errorIn,
  expectUncharged,
  type Mode,
  type ObservedCall,
  textOf,
} from './support/faulty-calls.ts';
import { openTestGateway, type TestChannel, type TestGateway } from './support/gateway.ts';
import { ownAddress } from './support/own-address.ts';

const modes: readonly Mode[] = ['json', 'stream'];

const privateWords =
  'Bad key sk-proj-abcdefghijklmnop of org-a1b2c3d4 at https://10.0.0.7:8443/v1: at most 2';

/** The channels c1, c2 … do this under each model, in the order they are tried in. Each test has models of its own. */
const scenes = {
  'all-cut': [...repeated('fault=reset-before-content', 3), ''],
  'all-refusing': [...repeated('fault=500', 6), ''],
  'two-conflicts': ['fault=409', 'fault=409', ''],
  'one-ails': ['fault=503', ''],
  'all-silent': ['fault=stall-before-head', 'fault=stall-before-head', 'fault=stall-before-head'],
  'hangs-for-all': ['fault=stall-before-head', ''],
  endless: ['tokens=1000,rate=50/s'],
  'all-limited': ['fault=429,retry-after=30s', 'fault=429,retry-after=7s'],
  'limited-in-ms': ['fault=429,retry-after=ms:1500ms'],
  'limited-by-date': ['fault=429,retry-after=date:30s'],
  'limited-once': ['fault=429,retry-after=ms:300ms,times=1'],
  'bad-value': ['fault=400,times=1', ''],
  unprocessable: ['fault=422,times=1', ''],
  'against-policy': ['fault=400,code=content_policy_violation,times=1', ''],
  // A second one of which nobody knows what it takes is asked as well, and is believed.
  'too-long': ['60s', '61s'].map(
    (after) => `fault=400,code=context_length_exceeded,retry-after=${after},times=1`,
  ),
  'tells-secrets': [`fault=400,message=${encodeURIComponent(privateWords)}`],
  'tells-of-itself': ['fault=500,message=stack%20trace%20of%20host%20db-7'],
  'strange-type': ['fault=wrong-type,tokens=5'],
  blank: ['tokens=0,finish=null'],
  'blank-then-well': ['tokens=0,finish=null', ''],
  'empty-but-stopped': ['tokens=0', ''],
  'thinks-first': ['fault=stall-before-content,for=900ms'],
} satisfies Record<string, readonly string[]>;

function repeated(command: string, count: number): readonly string[] {
  return Array.from({ length: count }, () => command);
}

type Scene = keyof typeof scenes;

function modelOf(scene: Scene, mode: Mode): string {
  return `${scene}.${mode}`;
}

function channelsOf(origin: string): readonly TestChannel[] {
  return [0, 1, 2, 3, 4, 5, 6].map((place) => ({
    id: `c${place + 1}`,
    origin,
    models: Object.fromEntries(
      Object.entries<readonly string[]>(scenes).flatMap(([scene, commands]) => {
        const command = commands[place];
        return command === undefined
          ? []
          : modes.map((mode) => [`${scene}.${mode}`, `${scene}-${mode}+${command}`]);
      }),
    ),
  }));
}

let simulator: Simulator;
/** Refuses every connection. */
let gone: Simulator;
/** Accepts connections and never says a word, so that a TLS handshake hangs. */
let mute: Server;
let gateway: TestGateway;
/** The same with little patience. */
let hasty: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  gone = await startSimulator({ host: ownAddress });
  await gone.control.goDown();
  mute = createServer();
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const unreachable = (id: string, origin: string): TestChannel => ({
    id,
    origin,
    models: Object.fromEntries(
      modes.flatMap((mode) => [
        [`${id}.${mode}`, `${id}-${mode}`],
        [`${id}-rescued.${mode}`, `${id}-rescued-${mode}`],
      ]),
    ),
  });
  const healthy = {
    id: 'healthy',
    origin: simulator.origin,
    models: Object.fromEntries(
      modes.flatMap((mode) => ['gone', 'mute'].map((id) => [`${id}-rescued.${mode}`, 'sim'])),
    ),
  };
  const channels = [
    ...channelsOf(simulator.origin),
    unreachable('gone', gone.origin),
    unreachable('mute', `https://127.0.0.1:${portOf(mute)}`),
    healthy,
  ];
  gateway = await openTestGateway({ channels });
  hasty = await openTestGateway({
    channels,
    flags: { 'connect-timeout': '300ms', 'first-content-timeout': '700ms', 'call-timeout': '1200ms' },
    reasoning: [modelOf('thinks-first', 'stream')],
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await hasty[Symbol.asyncDispose]();
  await simulator.close();
  mute.close();
});

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function call(scene: Scene, mode: Mode = 'json'): Promise<ObservedCall> {
  return callOnce(gateway, modelOf(scene, mode), mode);
}

function resultsOf({ entry }: ObservedCall): readonly string[] {
  return entry.attempts.map(({ channelId, result }) => `${channelId} ${result}`);
}

function errorOf({ answer }: ObservedCall) {
  return errorIn(answer.body.toString());
}

describe('connections that cannot be had', () => {
  test.each(modes)('a refused connection, %s', async (mode) => {
    const alone = await callOnce(gateway, `gone.${mode}`, mode);
    expect(alone.answer).toMatchObject({ status: 502, isWhole: true });
    expect(errorOf(alone).code).toBe('upstream_error');
    expectUncharged(alone, { status: 'failed', unbilledReason: 'upstream_failed', httpStatus: 502 });
    // Again until it is out of service, and then once more: there is no other.
    expect(resultsOf(alone)).toEqual(Array.from({ length: 4 }, () => 'gone unreachable'));
    const rescued = await callOnce(gateway, `gone-rescued.${mode}`, mode);
    expect(resultsOf(rescued)).toEqual(['gone unreachable', 'healthy answered']);
    expect(rescued.entry).toMatchObject({ status: 'complete', unbilledReason: null });
  });

  test.each(modes)('a connection that takes too long, %s', async (mode) => {
    const alone = await callOnce(hasty, `mute.${mode}`, mode);
    expect(alone.answer.status).toBe(504);
    expect(errorOf(alone).code).toBe('upstream_timeout');
    expectUncharged(alone, { status: 'timed_out', unbilledReason: 'timed_out', httpStatus: 504 });
    expect(alone.entry.attempts[0]).toMatchObject({ result: 'timed_out', detail: 'connect' });
    const rescued = await callOnce(hasty, `mute-rescued.${mode}`, mode);
    expect(resultsOf(rescued)).toEqual(['mute timed_out', 'healthy answered']);
  });
});

describe('how many channels are tried', () => {
  test.each([
    ['three, each once', 'all-cut', 'cut_before_content', ['c1', 'c2', 'c3']],
    [
      'twice as many where all refuse at once',
      'all-refusing',
      'refused',
      ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'],
    ],
  ] as const)('%s', async (_, scene, result, channels) => {
    const down = await call(scene);
    expect(down.answer.status).toBe(502);
    expect(down.answer.headers.get('x-headgate-attempts')).toBe(String(channels.length));
    expect(resultsOf(down)).toEqual(channels.map((id) => `${id} ${result}`));
  });

  test('one more after a conflict, and then it is believed', async () => {
    expect(resultsOf(await call('two-conflicts'))).toEqual(['c1 refused', 'c2 refused']);
  });

  test('a channel that fails five times in a row is asked no more for a while, first in order or not', async () => {
    for (let failures = 0; failures < 5; failures++)
      expect(resultsOf(await call('one-ails'))).toEqual(['c1 refused', 'c2 answered']);
    expect(resultsOf(await call('one-ails'))).toEqual(['c2 answered']);
  });

  test('none after the deadline of the whole call', async () => {
    const silent = await callOnce(hasty, modelOf('all-silent', 'stream'), 'stream');
    expect(silent.answer.status).toBe(504);
    expectUncharged(silent, { status: 'timed_out', unbilledReason: 'timed_out' });
    expect(silent.entry.attempts.map(({ detail }) => detail)).toEqual([
      'first-content',
      'first-content',
      'deadline',
    ]);
    const last = simulator.requestCount;
    expect(
      (await simulator.until(({ sequence, outcome }) => sequence === last && outcome !== 'open')).outcome,
    ).toBe('client-gone');
  });

  test('an answer that is no stream goes elsewhere when its channel hangs for everybody', async () => {
    const flags = { 'first-content-timeout': '500ms' };
    await using patient = await openTestGateway({ channels: channelsOf(simulator.origin), flags });
    const model = modelOf('hangs-for-all', 'json');
    // Streams of the same model show it.
    const [whole] = await Promise.all([
      callOnce(patient, model, 'json'),
      ...Array.from({ length: 5 }, () => callOnce(patient, model, 'stream')),
    ]);
    expect(resultsOf(whole)).toEqual(['c1 timed_out', 'c2 answered']);
  });

  test('the deadline also ends an answer that has begun', async () => {
    const endless = await callOnce(hasty, modelOf('endless', 'stream'), 'stream');
    expect(errorAfterContent(endless).code).toBe('upstream_timeout');
    expectUncharged(endless, { status: 'timed_out', unbilledReason: 'timed_out', httpStatus: 200 });
  });
});

describe('rate limits of upstreams', () => {
  test.each(modes)(
    'all channels limited: 429 with the soonest time, then without asking them, %s',
    async (mode) => {
      const first = await call('all-limited', mode);
      expect(first.answer.status).toBe(429);
      expect(first.answer.headers.get('retry-after')).toBe('7');
      expect(errorOf(first)).toMatchObject({ code: 'upstream_rate_limited', type: 'rate_limit_error' });
      const asked = simulator.requestCount;
      const second = await call('all-limited', mode);
      expect(second.answer.status).toBe(429);
      expect(Number(second.answer.headers.get('retry-after'))).toBeOneOf([5, 6, 7]);
      expect(simulator.requestCount).toBe(asked);
      expectUncharged(second, { status: 'failed', unbilledReason: 'refused_by_gateway', attempts: [] });
    },
  );

  test('the time is read in milliseconds and as a date', async () => {
    expect((await call('limited-in-ms')).answer.headers.get('retry-after')).toBe('2');
    expect(Number((await call('limited-by-date')).answer.headers.get('retry-after'))).toBeOneOf([28, 29, 30]);
  });

  test.each(modes)('the only channel is waited for when it is limited for a moment, %s', async (mode) => {
    const waited = await call('limited-once', mode);
    expect(waited.answer).toMatchObject({ status: 200, isWhole: true });
    expect(waited.answer.headers.get('x-headgate-attempts')).toBe('2');
    expect(resultsOf(waited)).toEqual(['c1 refused', 'c1 answered']);
    expect(waited.entry).toMatchObject({ status: 'complete', unbilledReason: null });
  });
});

describe('faults of the caller', () => {
  test.each([
    ['bad-value', 400, 'invalid_value'],
    ['unprocessable', 422, 'upstream_invalid_request'],
    ['against-policy', 400, 'content_policy_violation'],
    ['too-long', 400, 'context_length_exceeded'],
  ] as const)('%s passes through and never touches health', async (scene, status, code) => {
    const refused = await call(scene);
    expect(refused.answer.status).toBe(status);
    expect(refused.answer.headers.get('x-should-retry')).toBe('false');
    expect(errorOf(refused)).toMatchObject({ code, type: 'invalid_request_error' });
    expectUncharged(refused, { unbilledReason: 'refused_by_upstream' });
    expect(resultsOf(await call(scene))).toEqual(['c1 answered']);
  });

  test("the upstream's words come sanitised", async () => {
    const { message } = errorOf(await call('tells-secrets'));
    expect(message).toContain('at most 2');
    expect(message).not.toMatch(/sk-proj|org-a1b2|10\.0\.0\.7|https/);
  });

  test("an upstream's words about its own failure stay private", async () => {
    const failed = await call('tells-of-itself');
    expect(failed.answer.body.toString()).not.toContain('db-7');
    expect(failed.entry.attempts[0]?.detail).toContain('db-7');
  });
});

describe('answers that are strange but whole', () => {
  test.each([
    ['json', /^application\/json/],
    ['stream', /^text\/event-stream/],
  ] as const)('the right answer under a strange content type, %s', async (mode, type) => {
    const strange = await call('strange-type', mode);
    expect(strange.answer).toMatchObject({ status: 200, isWhole: true });
    expect(strange.answer.headers.get('content-type')).toMatch(type);
    expect(textOf(strange.answer, mode).split(' ')).toHaveLength(5);
    expect(strange.entry).toMatchObject({ status: 'complete', unbilledReason: null });
  });

  test.each(modes)(
    'an answer without output or a reason goes to another channel and is never billed, %s',
    async (mode) => {
      const alone = await call('blank', mode);
      expect(alone.answer.status).toBe(502);
      expectUncharged(alone, { status: 'failed', unbilledReason: 'zero_completion' });
      expect(resultsOf(await call('blank-then-well', mode))).toEqual(['c1 refused', 'c2 answered']);
    },
  );

  test.each(modes)('an empty answer that stopped of itself is passed on, unbilled, %s', async (mode) => {
    const empty = await call('empty-but-stopped', mode);
    expect(empty.answer).toMatchObject({ status: 200, isWhole: true });
    expect(resultsOf(empty)).toEqual(['c1 answered']);
    expectUncharged(empty, { status: 'failed', unbilledReason: 'zero_completion' });
  });

  test('a model that thinks first has more time than others', async () => {
    const patient = await callOnce(hasty, modelOf('thinks-first', 'stream'), 'stream');
    expect(patient.entry.status).toBe('complete');
  });

  test('a caller that asks for thought gives any model that time', async () => {
    const quick = modelOf('thinks-first', 'json');
    expect((await callOnce(hasty, quick, 'stream')).entry.status).toBe('timed_out');
    const asked = await callOnce(hasty, quick, 'stream', { reasoning_effort: 'low' });
    expect(asked.entry.status).toBe('complete');
  });
});
