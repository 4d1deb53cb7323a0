import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { exchange, request } from './support/raw-http.ts';

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const models = {
    slow: 'sim-x+ttft=400ms,tokens=3',
    pausing: 'sim-x+tokens=9,fault=stall-mid-stream,for=400ms',
  };
  gateway = await openTestGateway({
    channels: [{ id: 'c', origin: simulator.origin, models }],
    flags: { 'keep-alive': '100ms' },
  });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const messages = [{ role: 'user', content: 'Hi' }];
const surfaces = [
  ['/v1/chat/completions', 'completions', { messages }, /^: keep-alive\n\n/m, /data: \[DONE\]\n\n$/],
  [
    '/v1/responses',
    'completions',
    { input: 'Hi' },
    /^: keep-alive\n\n/m,
    /event: response\.completed\n.*\n\n$/,
  ],
  [
    '/v1/messages',
    'messages',
    { messages, max_tokens: 99 },
    /^event: ping\ndata: \{"type": "ping"\}\n\n/m,
    /event: message_stop\n.*\n\n$/,
  ],
] as const;

test.each(
  surfaces.flatMap((surface) => (['slow', 'pausing'] as const).map((model) => [...surface, model] as const)),
)(
  '%s tells a waiting caller that the call lives, in its own words',
  async (path, platform, body, sign, end, model) => {
    const headers = [`authorization: Bearer ${gateway.keys[platform]}`, 'content-type: application/json'];
    const text = JSON.stringify({ model, stream: true, ...body });
    const answer = await exchange(gateway.apiOrigin, request(`POST ${path}`, headers, text));
    expect(answer).toMatchObject({ status: 200, isWhole: true });
    expect(answer.body.toString()).toMatch(sign);
    expect(answer.body.toString()).toMatch(end);
  },
);

test('the native surface has no word for it, and is told nothing', async () => {
  const headers = [`x-goog-api-key: ${gateway.keys.native}`, 'content-type: application/json'];
  const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] });
  const path = '/v1beta/models/slow:streamGenerateContent?alt=sse';
  const answer = await exchange(gateway.apiOrigin, request(`POST ${path}`, headers, body));
  expect(answer).toMatchObject({ status: 200, isWhole: true });
  expect(answer.body.toString()).toMatch(/^data: /);
  expect(answer.body.toString()).not.toMatch(/^:|ping/m);
});
