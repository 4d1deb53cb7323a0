import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { chatRequest, exchange } from './support/raw-http.ts';
import { jsonScript, type ScriptedUpstream, startScriptedUpstream } from './support/scripted-upstream.ts';

let scripted: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  scripted = await startScriptedUpstream();
  gateway = await openTestGateway({
    channels: [{ id: 'own', origin: scripted.origin, models: { m: 'm', n: 'n' } }],
    prices: { m: { input: '0.000333', output: '7' }, n: { input: '1', output: '7' } },
    multiplier: '1.15',
    moreKeys: { friend: { account: 'friend' }, partner: { account: 'partner' } },
    discounts: { friend: 12.5, partner: [{ percent: '100', models: ['n'] }, { percent: 0.5 }] },
  });
});
// Closing verifies the ledger, which works every charge out again from the price and the factor of its entry.
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  scripted.close();
});

async function entryFor(key: string | undefined, model: string) {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  scripted.script = jsonScript(JSON.stringify({ id: 'a', object: 'chat.completion', model, choices, usage }));
  const messages = [{ role: 'user', content: 'one' }];
  const answer = await exchange(gateway.apiOrigin, chatRequest(key ?? '', { model, messages }));
  return entryOf(gateway, answer.headers.get('x-trace-id'));
}

test('the entry names the factor of group and account together, and the charge is rounded once', async () => {
  // 7000.333 nano-dollars × 1.15 × 0.875 = 7044.0850812…
  expect(await entryFor(gateway.moreKeys['friend'], 'm')).toMatchObject({
    multiplierPpm: 1_006_250n,
    chargeNanoUsd: 7044n,
  });
  expect(await entryFor(gateway.keys.completions, 'm')).toMatchObject({
    multiplierPpm: 1_150_000n,
    chargeNanoUsd: 8050n,
  });
});

test('a discount for some models is theirs, and the others have the one behind it', async () => {
  expect(await entryFor(gateway.moreKeys['partner'], 'n')).toMatchObject({
    multiplierPpm: 0n,
    chargeNanoUsd: 0n,
    unbilledReason: null,
  });
  expect(await entryFor(gateway.moreKeys['partner'], 'm')).toMatchObject({
    multiplierPpm: 1_144_250n,
    chargeNanoUsd: 8010n,
  });
});
