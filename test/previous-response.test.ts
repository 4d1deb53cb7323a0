import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestChannel, type TestGateway } from './support/gateway.ts';

let front: Simulator;
let back: Simulator;
let gateway: TestGateway;
/** The same channels, seen by a process that remembers nothing. */
let forgetful: TestGateway;

beforeAll(async () => {
  [front, back] = await Promise.all([startSimulator(), startSimulator()]);
  const channels: readonly TestChannel[] = [
    { id: 'front', origin: front.origin, models: { both: 'sim-a', 'front-only': 'sim-a' } },
    { id: 'back', origin: back.origin, models: { both: 'sim-a', 'back-only': 'sim-a' } },
  ];
  const options = { channels, moreKeys: { stranger: { account: 'other' } } };
  [gateway, forgetful] = await Promise.all([openTestGateway(options), openTestGateway({ channels })]);
});

afterAll(async () => {
  await Promise.all([gateway[Symbol.asyncDispose](), forgetful[Symbol.asyncDispose]()]);
  await Promise.all([front.close(), back.close()]);
});

async function respond(to: TestGateway, body: object, key = to.keys.completions) {
  const response = await fetch(`${to.apiOrigin}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'Hello', ...body }),
  });
  const answer = (await response.json()) as { id?: string }; // As the simulator makes them.
  return { status: response.status, attempts: response.headers.get('x-headgate-attempts'), answer };
}

test('a request that goes on from an answer goes to the channel that gave it, whatever the order', async () => {
  const first = await respond(gateway, { model: 'back-only' });
  const previous_response_id = first.answer.id;
  expect(await respond(gateway, { model: 'both', previous_response_id })).toMatchObject({
    status: 200,
    attempts: '1',
  });
  expect(await respond(gateway, { model: 'both' })).toMatchObject({ status: 200, attempts: '1' });
  expect(front.requestCount).toBe(1);
});

test('one that nobody remembers is looked for, and its channels are not blamed', async () => {
  const first = await respond(gateway, { model: 'back-only' });
  const second = await respond(forgetful, { model: 'both', previous_response_id: first.answer.id });
  expect(second).toMatchObject({ status: 200, attempts: '2' });
  const third = await respond(forgetful, { model: 'both', previous_response_id: second.answer.id });
  expect(third).toMatchObject({ status: 200, attempts: '1' });
  const before = front.requestCount;
  expect(await respond(forgetful, { model: 'both' })).toMatchObject({ status: 200, attempts: '1' });
  expect(front.requestCount).toBe(before + 1);
});

test('one that nobody ever gave is refused in the words of the upstream', async () => {
  expect(await respond(gateway, { model: 'both', previous_response_id: 'resp_unheard_of' })).toMatchObject({
    status: 400,
    attempts: '2',
    answer: { error: { code: 'previous_response_not_found' } },
  });
});

test('an answer of another account does not exist, and no upstream is asked for it', async () => {
  const { stranger } = gateway.moreKeys;
  const goOn = (previous_response_id = '') =>
    respond(gateway, { model: 'both', previous_response_id }, stranger);
  const { id } = (await respond(gateway, { model: 'back-only' })).answer;
  const before = front.requestCount + back.requestCount;
  const refused = await goOn(id);
  expect(front.requestCount + back.requestCount).toBe(before);
  const unheard = await goOn('resp_unheard_of');
  const said = ({ status, answer }: typeof refused, name = '') => [
    status,
    JSON.stringify(answer)
      .replaceAll(name, 'the id')
      .replace(/"trace_id":"\w+"/, ''),
  ];
  expect(said(refused, id)).toEqual(said(unheard, 'resp_unheard_of'));
  expect(await respond(gateway, { model: 'both', previous_response_id: id })).toMatchObject({ status: 200 });
});

test('one whose channel does not have the model does not exist for it, and asking again would not help', async () => {
  const { id } = (await respond(gateway, { model: 'back-only' })).answer;
  expect(await respond(gateway, { model: 'front-only', previous_response_id: id })).toMatchObject({
    status: 400,
    answer: { error: { code: 'previous_response_not_found' } },
  });
});
