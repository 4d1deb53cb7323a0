import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { runCommand } from './support/process.ts';

let simulator: Simulator;
let gateway: TestGateway;
let token = '';

beforeAll(async () => {
  simulator = await startSimulator();
  const models = { demo: 'sim-fast' };
  gateway = await openTestGateway({
    channels: [
      { id: 'broken', origin: simulator.origin, models: { demo: 'sim-fast+fault=503' } },
      { id: 'sound', origin: simulator.origin, models },
      { id: 'dear', origin: simulator.origin, models, cost: '3' },
    ],
  });
  token = readFileSync(join(gateway.dataDir, 'operator-token'), 'utf8').trim();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

async function ask(path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${gateway.consoleOrigin}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  // The API answers with an object; the tests look at its members.
  return (await answer.json()) as Record<string, unknown>;
}

function callOnce(content: string): Promise<Response> {
  return fetch(`${gateway.apiOrigin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.keys.completions}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content }] }),
  });
}

async function command(line: string): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCommand([...line.split(' '), '--json'], gateway);
  expect(code, stdout + stderr).toBe(0);
  // A command prints an object with --json.
  return JSON.parse(stdout) as Record<string, unknown>;
}

test('the console and the command line say the same of the same state, and no upstream hears of it', async () => {
  const question = { key: 'completions', model: 'demo', maxOutputTokens: 70 };
  const live = await ask('/api/v1/route/explain', question);
  const { stateSavedAt, ...saved } = await command(
    'route explain --key completions --model demo --max-tokens 70',
  );
  expect(saved).toEqual(live);
  expect(stateSavedAt).toBeNull();
  expect(live).toMatchObject({ order: ['broken', 'sound', 'dear'], exclusions: [] });
  expect(await Array.fromAsync(gateway.store.exportEntries({}))).toEqual([]);
});

test('how a call was routed is kept with its entry: for the operator, not for its caller', async () => {
  const answer = await callOnce('Hello');
  expect(answer.status).toBe(200);
  const trace = answer.headers.get('x-trace-id') ?? '';
  const told = `${[...answer.headers].join('\n')}${await answer.text()}`;
  const past = await ask(`/api/v1/calls/${trace}/route`);
  expect(past).toMatchObject({
    traceId: trace,
    status: 'complete',
    plans: [{ attemptsBefore: 0, candidateCount: 3 }, { attemptsBefore: 1 }],
    attempts: [{ channel: 'broken', result: 'refused' }, { result: 'answered' }],
  });
  expect(await command(`route explain --trace ${trace}`)).toEqual(past);
  const usage = await fetch(`${gateway.apiOrigin}/v1/usage?trace_id=${trace}`, {
    headers: { authorization: `Bearer ${gateway.keys.completions}` },
  });
  for (const text of [told, await usage.text()]) expect(text).not.toMatch(/broken|"sound"|"dear"|share|Pico/);
});

test('an outage that the gateway has seen is known to the command line within moments', async () => {
  for (let n = 0; n < 7; n++) {
    const answer = await callOnce(`Hello ${n}`);
    expect(await answer.text()).toContain('choices');
  }
  const live = await ask('/api/v1/route/explain', { key: 'completions', model: 'demo' });
  expect(live).toMatchObject({
    order: ['sound', 'dear'],
    exclusions: [{ channel: 'broken', reason: 'open', until: expect.stringContaining('Z') as string }],
  });
  await vi.waitFor(
    async () => {
      const saved = await command('route explain --key completions --model demo');
      expect(saved).toMatchObject({
        order: live['order'],
        exclusions: [{ channel: 'broken', reason: 'open' }],
      });
      expect(saved['stateSavedAt']).not.toBeNull();
    },
    { timeout: 15_000, interval: 300 },
  );
});
