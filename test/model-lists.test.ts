import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  gateway = await openTestGateway({
    channels: [
      {
        id: 'a',
        origin,
        models: { small: 'vendor-small', large: 'vendor-large', secret: 'vendor-secret' },
        cost: '1',
      },
      { id: 'routed', origin, models: { routed: 'routed+tokens=10,served=elsewhere', other: 'elsewhere' } },
      {
        id: 'translated',
        origin,
        protocols: { messages: '/messages' },
        models: { foreign: 'foreign+tokens=3' },
      },
    ],
    prices: { other: { input: '10', output: '20' } },
    moreKeys: { bound: { models: ['small', 'large', 'foreign'] } },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

function ask(key: string | undefined, body: object): Promise<Response> {
  return fetch(`${gateway.apiOrigin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'vendor-secret' }], ...body }),
  });
}

test.each([
  [{ models: ['secret'] }, 'models[0]'],
  [{ fallbacks: [{ model: 'vendor-secret' }] }, 'fallbacks[0].model'],
  [{ tools: [{ type: 'advisor', model: 'never-heard-of' }] }, 'tools[0].model'],
  [{ future: { of: ['secret'] } }, 'future.of[0]'],
])('a key with a list is told that %j names a model it may not call', async (members, param) => {
  const before = simulator.requests.length;
  const answer = await ask(gateway.moreKeys['bound'], { model: 'small', ...members });
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ error: { code: 'model_not_found', param } });
  const entry = await entryOf(gateway, answer.headers.get('x-trace-id') ?? '');
  expect(entry).toMatchObject({ chargeNanoUsd: 0n, errorCode: 'model_not_found', attempts: [] });
  expect(simulator.requests).toHaveLength(before);
});

test('a name that it may call arrives as the upstream has it', async () => {
  const answer = await ask(gateway.moreKeys['bound'], { model: 'small', models: ['large'] });
  expect(answer.status).toBe(200);
  const sent: unknown = JSON.parse(Buffer.from(simulator.requests.at(-1)?.body ?? []).toString());
  expect(sent).toMatchObject({ model: 'vendor-small', models: ['vendor-large'] });
  const entry = await entryOf(gateway, answer.headers.get('x-trace-id') ?? '');
  expect(entry.attempts).toMatchObject([{ edits: ['model', 'named-model'] }]);
});

test('a key without a list has its bodies sent as they are', async () => {
  const answer = await ask(gateway.keys.completions, { model: 'small', models: ['secret'] });
  expect(answer.status).toBe(200);
  const sent: unknown = JSON.parse(Buffer.from(simulator.requests.at(-1)?.body ?? []).toString());
  expect(sent).toMatchObject({ models: ['secret'] });
});

test('what another protocol cannot be told is a loss, and goes nowhere', async () => {
  const answer = await ask(gateway.moreKeys['bound'], { model: 'foreign', models: ['large'] });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-headgate-losses')).toContain('models');
  const sent = Buffer.from(simulator.requests.at(-1)?.body ?? []).toString();
  expect(sent).not.toContain('large');
});

test('the model that answered is the one that is charged', async () => {
  const answer = await ask(gateway.keys.completions, { model: 'routed' });
  expect(await answer.json()).toMatchObject({ model: 'elsewhere' });
  const { usage, ...entry } = await entryOf(gateway, answer.headers.get('x-trace-id') ?? '');
  expect(entry).toMatchObject({ priceVersion: 'model:other@1', modelRequested: 'routed' });
  expect(entry.chargeNanoUsd).toBe(BigInt(usage.inputFresh) * 10_000n + BigInt(usage.output) * 20_000n);
});
