import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { channelEach, openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { exchange, responsesRequest } from './support/raw-http.ts';
import {
  jsonScript,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamScript,
} from './support/scripted-upstream.ts';

const counted = 'sim+prompt=1000,cached=700,cache-write=100,tokens=9,reasoning=4,hidden-reasoning=5';
const spellings = ['nested', 'flat', 'failed', 'whole'] as const;

let simulator: Simulator;
let scripted: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  scripted = await startScriptedUpstream();
  const { origin } = simulator;
  gateway = await openTestGateway({
    channels: [
      { id: 'own', origin, models: { counted, blank: 'sim+tokens=0,finish=null' } },
      ...channelEach(scripted.origin, Object.fromEntries(spellings.map((spelling) => [spelling, spelling]))),
      {
        id: 'good',
        origin,
        models: Object.fromEntries(spellings.map((id) => [id, 'well+tokens=7'])),
      },
    ],
    prices: { counted: { input: '3', output: '15', cacheRead: '0.3', cacheWrite5m: '3.75' } },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
  scripted.close();
});

async function call(model: string, stream: boolean) {
  const body = { model, input: 'one two three', stream };
  const answer = await exchange(gateway.apiOrigin, responsesRequest(gateway.keys.completions, body));
  const traceId = answer.headers.get('x-trace-id');
  expect(answer.headers.get('x-request-id')).toBe(traceId);
  return { answer, text: answer.body.toString(), entry: await entryOf(gateway, traceId) };
}

describe('what is charged', () => {
  test.each([false, true])('every class of token, to the nano-dollar (stream: %s)', async (stream) => {
    const { entry } = await call('counted', stream);
    expect(entry).toMatchObject({
      surface: 'responses',
      status: 'complete',
      usageSource: 'upstream',
      usage: { inputFresh: 200, inputCacheRead: 700, inputCacheWrite5m: 100, output: 18, outputReasoning: 9 },
      chargeNanoUsd: BigInt(200 * 3000 + 700 * 300 + 100 * 3750 + 18 * 15_000),
    });
  });

  test.each([false, true])('nothing for an answer that says nothing at all (stream: %s)', async (stream) => {
    const { answer, entry } = await call('blank', stream);
    expect(answer.status).toBe(502);
    expect(entry).toMatchObject({ chargeNanoUsd: 0n });
    expect(entry.unbilledReason).not.toBeNull();
  });
});

describe('a failure before any content', () => {
  const created =
    'event: response.created\ndata: {"type":"response.created","response":{"id":"r","output":[]}}\n\n';
  const event = (type: string, members: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 1, ...members })}\n\n`;
  const words = { code: 'server_error', message: 'upstream words', param: null };
  const events = {
    nested: event('error', { error: { type: 'server_error', ...words } }),
    flat: event('error', words),
    failed: event('response.failed', { response: { id: 'r', status: 'failed', error: words } }),
  };

  test.each(Object.entries(events))('told in the %s spelling is rescued', async (model, failure) => {
    scripted.script = streamScript([Buffer.from(created + failure)]);
    const { text, entry } = await call(model, true);
    expect(text).toMatch(/event: response\.completed\n.*\n\n$/);
    expect(text).not.toContain('upstream words');
    expect(entry.attempts).toMatchObject([{ channelId: model, result: 'refused' }, { channelId: 'good' }]);
  });

  test('told inside a whole answer is rescued', async () => {
    scripted.script = jsonScript(JSON.stringify({ id: 'r', status: 'failed', error: words, output: [] }));
    const { answer, entry } = await call('whole', false);
    expect(answer.status).toBe(200);
    expect(entry.attempts).toHaveLength(2);
  });
});
