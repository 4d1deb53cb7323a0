import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestChannel, type TestGateway } from './support/gateway.ts';

let cheap: Simulator;
let dear: Simulator;
let gateway: TestGateway;
/** The same channels, seen by a process that remembers nothing. */
let forgetful: TestGateway;

beforeAll(async () => {
  [cheap, dear] = await Promise.all([startSimulator(), startSimulator()]);
  const channels: readonly TestChannel[] = [
    { id: 'cheap', origin: cheap.origin, cost: '1', models: { both: 'sim-a' } },
    { id: 'dear', origin: dear.origin, cost: '2', models: { both: 'sim-a', 'dear-only': 'sim-a' } },
  ];
  [gateway, forgetful] = await Promise.all([openTestGateway({ channels }), openTestGateway({ channels })]);
});

afterAll(async () => {
  await Promise.all([gateway[Symbol.asyncDispose](), forgetful[Symbol.asyncDispose]()]);
  await Promise.all([cheap.close(), dear.close()]);
});

async function respond(to: TestGateway, body: object) {
  const response = await fetch(`${to.apiOrigin}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${to.keys.completions}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'Hello', ...body }),
  });
  const answer = (await response.json()) as { id?: string }; // As the simulator makes them.
  return { status: response.status, attempts: response.headers.get('x-headgate-attempts'), answer };
}

test('a request that goes on from an answer goes to the channel that gave it, whatever it costs', async () => {
  const first = await respond(gateway, { model: 'dear-only' });
  const previous_response_id = first.answer.id;
  expect(await respond(gateway, { model: 'both', previous_response_id })).toMatchObject({
    status: 200,
    attempts: '1',
  });
  expect(await respond(gateway, { model: 'both' })).toMatchObject({ status: 200, attempts: '1' });
  expect(cheap.requestCount).toBe(1);
});

test('one that nobody remembers is looked for, and its channels are not blamed', async () => {
  const first = await respond(gateway, { model: 'dear-only' });
  const second = await respond(forgetful, { model: 'both', previous_response_id: first.answer.id });
  expect(second).toMatchObject({ status: 200, attempts: '2' });
  const third = await respond(forgetful, { model: 'both', previous_response_id: second.answer.id });
  expect(third).toMatchObject({ status: 200, attempts: '1' });
  const before = cheap.requestCount;
  expect(await respond(forgetful, { model: 'both' })).toMatchObject({ status: 200, attempts: '1' });
  expect(cheap.requestCount).toBe(before + 1);
});

test('one that nobody ever gave is refused in the words of the upstream', async () => {
  expect(await respond(gateway, { model: 'both', previous_response_id: 'resp_unheard_of' })).toMatchObject({
    status: 400,
    attempts: '2',
    answer: { error: { code: 'previous_response_not_found' } },
  });
});
