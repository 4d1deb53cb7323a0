import { defaultDialect } from '@headgate/protocols';
import { startSimulator } from '@headgate/simulator';
import { describe, expect, test } from 'vitest';
import type { Channel, Target } from '../catalogue/catalogue.ts';
import { unknownModel } from '../catalogue/model-facts.ts';
import { openUpstream } from '../upstream/channels.ts';
import { HttpClient } from '../upstream/client.ts';
import { testChannel } from './channel-test.ts';

function targetAt(origin: string, upstreamModel: string, changes: Partial<Channel> = {}): Target {
  const channel: Channel = {
    id: 'c',
    source: 'file',
    alias: 'C',
    listed: null,
    provider: {
      id: 'p',
      name: 'P',
      baseUrl: origin,
      protocols: { 'chat-completions': '/chat/completions' },
      credential: { scheme: 'bearer' },
      dialect: defaultDialect,
      modelsPath: '/models',
      environment: [],
      documentation: null,
      simulated: false,
    },
    baseUrl: `${origin}/v1`,
    credentials: [{ id: 'CANARY', secret: 'canary' }],
    priority: 0,
    enabled: true,
    drain: false,
    maxConcurrency: null,
    headers: [],
    proxy: null,
    secrets: [],
    timeouts: { connectMs: null, firstContentMs: null, stallMs: null, totalMs: null },
    simulated: false,
    allowPrivate: true,
    hangUp: null,
    ...changes,
  };
  return {
    channel,
    upstreamModel,
    cost: null,
    contextWindow: null,
    lacks: new Set(),
    origin: 'here',
    facts: unknownModel,
  };
}

async function ask(
  model: string,
  options: { call?: boolean; timeoutMs?: number; changes?: Partial<Channel> } = {},
) {
  await using simulator = await disposable(startSimulator());
  await using client = await disposable(Promise.resolve(new HttpClient()));
  const target = targetAt(simulator.value.origin, model, options.changes);
  const { call = true, timeoutMs = 5000 } = options;
  return await testChannel(openUpstream(client.value), target, target.channel.credentials[0] ?? null, {
    call,
    timeoutMs,
  });
}

async function disposable<Value extends { close(): Promise<void> }>(opening: Promise<Value>) {
  const value = await opening;
  return { value, [Symbol.asyncDispose]: () => value.close() };
}

describe('testing a channel', () => {
  test('a list of models is enough where there is one; a call can be asked for', async () => {
    expect(await ask('sim-fast', { call: false })).toMatchObject({
      works: true,
      status: 200,
      detail: 'answered its list of models',
    });
    expect(await ask('sim-fast')).toMatchObject({
      works: true,
      status: 200,
      detail: 'answered one token of sim-fast',
    });
  });

  test.each([
    { responses: '/responses' },
    { messages: '/messages' },
    { messages: '/messages', responses: '/responses' },
    { 'generate-content': '/models/{model}:{action}' },
  ])('a call is made in a protocol the channel speaks, as in %j', async (protocols) => {
    const { provider } = targetAt('http://127.0.0.1:1', 'm').channel;
    const changes = { provider: { ...provider, protocols } };
    expect(await ask('sim-fast', { changes })).toMatchObject({ works: true, status: 200 });
  });

  test.each([
    ['sim-fast+fault=401', 401, 'the credential is refused'],
    ['sim-fast+fault=402', 402, 'the provider wants to be paid'],
    ['sim-fast+fault=404', 404, 'it does not know the model'],
    ['sim-fast+fault=429', 429, 'it limits the rate of calls'],
  ])('%s is explained', async (model, status, detail) => {
    const result = await ask(model);
    expect(result).toMatchObject({ works: false, status });
    expect(result.detail).toContain(detail);
    expect(result.detail).not.toContain('canary');
  });

  test('a channel that leads nowhere, to a forbidden place, or is silent, says so', async () => {
    const refused = await ask('m', { changes: { baseUrl: 'http://127.0.0.1:1/v1' } });
    expect(refused).toMatchObject({ works: false, status: null });
    expect(refused.detail).toContain('nobody listens there: look at host and port of baseUrl');
    const lost = await ask('m', { changes: { baseUrl: 'http://no-such-host.invalid/v1' } });
    expect(lost.detail).toContain('no such name in DNS');
    expect((await ask('m', { changes: { allowPrivate: false } })).detail).toContain(
      'allow it with allowPrivate: true',
    );
    expect((await ask('sim-fast+fault=stall-before-head', { timeoutMs: 50 })).detail).toContain(
      'it does not answer in time',
    );
  });
});
