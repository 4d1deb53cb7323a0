import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { chatRequest, exchange, responsesRequest } from './support/raw-http.ts';
import { jsonScript, type ScriptedUpstream, startScriptedUpstream } from './support/scripted-upstream.ts';

let scripted: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  scripted = await startScriptedUpstream();
  gateway = await openTestGateway({
    channels: [
      {
        id: 'own',
        origin: scripted.origin,
        models: { m: 'm' },
        dialect: { statedCost: { member: 'cost', digits: 0 } },
      },
    ],
    prices: {
      m: {
        input: '2',
        output: '10',
        perWebSearch: '0.01',
        services: { priority: { input: '4', output: '20' }, batch: { input: '1', output: '5' } },
      },
    },
  });
});
// Closing verifies the ledger, which works out every charge again from what the entries keep.
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  scripted.close();
});

const messages = [{ role: 'user', content: 'one' }];
const usage = { prompt_tokens: 1_000, completion_tokens: 100 };

function answering(more: object, counts: object = {}): void {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }];
  scripted.script = jsonScript(
    JSON.stringify({
      id: 'a',
      object: 'chat.completion',
      model: 'm',
      choices,
      ...more,
      usage: { ...usage, ...counts },
    }),
  );
}

async function chat(body: object) {
  const answer = await exchange(
    gateway.apiOrigin,
    chatRequest(gateway.keys.completions, { model: 'm', messages, ...body }),
  );
  return { answer, entry: await entryOf(gateway, answer.headers.get('x-trace-id')) };
}

test('the tier that the answer names is charged, with the searches it counts', async () => {
  answering({ service_tier: 'priority' }, { server_tool_use: { web_search_requests: 2 } });
  const { entry } = await chat({});
  expect(entry).toMatchObject({
    usage: { webSearches: 2 },
    terms: { service: 'priority' },
    chargeNanoUsd: BigInt(1_000 * 4_000 + 100 * 20_000) + 20_000_000n,
  });
});

test('a tier that was asked for and not given is not charged', async () => {
  answering({ service_tier: 'default' });
  const { entry } = await chat({ service_tier: 'priority' });
  expect(entry).toMatchObject({ terms: null, chargeNanoUsd: BigInt(1_000 * 2_000 + 100 * 10_000) });
});

test('a cheaper tier that the answer does not name is not charged, and a dearer one is', async () => {
  answering({});
  const { entry } = await chat({ service_tier: 'batch' });
  expect(entry).toMatchObject({ terms: null, chargeNanoUsd: BigInt(1_000 * 2_000 + 100 * 10_000) });
  const { entry: dearer } = await chat({ service_tier: 'priority' });
  expect(dearer).toMatchObject({
    terms: { service: 'priority' },
    chargeNanoUsd: BigInt(1_000 * 4_000 + 100 * 20_000),
  });
  answering({ service_tier: 'batch' });
  const { entry: told } = await chat({ service_tier: 'batch' });
  expect(told).toMatchObject({
    terms: { service: 'batch' },
    chargeNanoUsd: BigInt(1_000 * 1_000 + 100 * 5_000),
  });
});

test('a cost that the upstream states stands beside ours', async () => {
  answering({}, { cost: 0.0031 });
  const { entry } = await chat({});
  expect(entry.attempts).toMatchObject([{ statedCostNanoUsd: 3_100_000n }]);
});

test('a tier or a tool without a price is refused by its member', async () => {
  const { answer, entry } = await chat({ service_tier: 'flex' });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body.toString())).toMatchObject({ error: { param: 'service_tier' } });
  expect(entry).toMatchObject({ unbilledReason: 'refused_by_gateway', attempts: [] });
  const body = { model: 'm', input: 'hi', tools: [{ type: 'code_interpreter' }], service_tier: 'flex' };
  const refused = await exchange(gateway.apiOrigin, responsesRequest(gateway.keys.completions, body));
  expect(refused.status).toBe(400);
});

test('a tool without a price that is offered beside others is left out, and said to be', async () => {
  scripted.script = jsonScript(
    JSON.stringify({ id: 'r', object: 'response', status: 'completed', output: [] }),
  );
  const own = { type: 'function', name: 'f', parameters: {} };
  const body = { model: 'm', input: 'hi', tools: [{ type: 'file_search' }, own, { type: 'web_search' }] };
  const answer = await exchange(gateway.apiOrigin, responsesRequest(gateway.keys.completions, body));
  expect(answer.headers.get('x-headgate-losses')).toBe('tools[].file_search');
  expect(JSON.parse(scripted.asked)).toEqual({
    ...body,
    tools: body.tools.slice(1),
  });
  const entry = await entryOf(gateway, answer.headers.get('x-trace-id'));
  expect(entry).toMatchObject({ losses: ['tools[].file_search'], attempts: [{ edits: ['unpriced-tools'] }] });
});
