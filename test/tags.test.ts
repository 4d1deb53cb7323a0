import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entriesOf, entryOf } from './support/ledger.ts';
import { exchange, request } from './support/raw-http.ts';

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const channel = { id: 'main', origin: simulator.origin, models: { m: 'sim-fast+tokens=7' } };
  gateway = await openTestGateway({ channels: [channel] });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const chat = { model: 'm', messages: [{ role: 'user', content: 'one two' }] };

async function call(tag: string | null, body: object = chat, path = '/v1/chat/completions') {
  const headers = [
    `authorization: Bearer ${gateway.keys.completions}`,
    'content-type: application/json',
    ...(tag === null ? [] : [`x-headgate-tag: ${tag}`]),
  ];
  const answer = await exchange(gateway.apiOrigin, request(`POST ${path}`, headers, JSON.stringify(body)));
  const traceId = answer.headers.get('x-trace-id');
  return { answer, traceId, entry: await entryOf(gateway, traceId) };
}

test.each([
  ['a header', 'team-a', chat, 'team-a'],
  ['metadata of the body', null, { ...chat, metadata: { tag: 'customer:42', other: 'x' } }, 'customer:42'],
  ['a header before the body', 'team-b', { ...chat, metadata: { tag: 'customer:42' } }, 'team-b'],
  ['metadata that are no label', null, { ...chat, metadata: { tag: '(other)' } }, null],
  ['a tag that is no string', null, { ...chat, metadata: { tag: 7 } }, null],
  ['metadata that are none', null, { ...chat, metadata: null }, null],
  ['nothing', null, chat, null],
])('the label of %s is on the entry', async (_name, header, body, tag) => {
  const { answer, entry } = await call(header, body);
  expect(answer.status).toBe(200);
  expect(entry).toMatchObject({ tag, status: 'complete' });
});

test('a responses request has metadata too, and they reach the upstream as they are', async () => {
  const body = { model: 'm', input: 'hi', metadata: { tag: 'nightly' } };
  const { answer, entry } = await call(null, body, '/v1/responses');
  expect(answer.status).toBe(200);
  expect(entry).toMatchObject({ tag: 'nightly' });
});

test.each(['', '(other)', 'a b', '-x', 'a,b', 'x'.repeat(65), 'a"b'])(
  'the header %j is refused by its name, with what it may be, and is on no entry',
  async (tag) => {
    const { answer, entry } = await call(tag);
    expect(answer.status).toBe(400);
    const { error } = JSON.parse(answer.body.toString()) as { error: { param: string; message: string } };
    expect(error.param).toBe('x-headgate-tag');
    expect(error.message).toContain('1 to 64 letters, digits');
    expect(entry).toMatchObject({ tag: null, status: 'failed', unbilledReason: 'refused_by_gateway' });
  },
);

test('spending is reported by label, and the rows are all there is', async () => {
  await call('report-me');
  await call('report-me');
  await gateway.store.catchUp();
  const spent = await gateway.store.calls.spend('tag', { fromMs: 0 });
  expect(spent.find(({ name }) => name === 'report-me')).toMatchObject({ calls: 2, billedCalls: 2 });
  const all = await entriesOf(gateway);
  expect(spent.reduce((sum, { calls }) => sum + calls, 0)).toBe(all.length);
  const charge = all.reduce((sum, { chargeNanoUsd }) => sum + chargeNanoUsd, 0n);
  expect(spent.reduce((sum, { chargeNanoUsd }) => sum + chargeNanoUsd, 0n)).toBe(charge);
});
