import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { entryOf } from './support/ledger.ts';
import { exchange, request } from './support/raw-http.ts';

const bounded = { 'body-max': '64KiB' };

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  const { origin } = simulator;
  gateway = await openTestGateway({
    flags: bounded,
    channels: [
      { id: 'good', origin, models: { same: 'same', alias: 'served', lost: 'm+fault=reset-before-head' } },
      {
        id: 'generates-only',
        origin,
        models: { 'generates-only': 'same' },
        protocols: { images: '/images/generations' },
      },
      { id: 'chat-only', origin, models: { chat: 'same' }, protocols: { messages: '/messages' } },
    ],
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

const json = 'content-type: application/json';
const formType = 'multipart/form-data; charset=utf-8; boundary="a b"';
/** Text would not survive this: line ends of every kind, a beginning of the boundary, bytes that are no UTF-8. */
const file = Buffer.from([
  0x89, 0x50, 0x0d, 0x0a, 0x0d, 0x0a, 0x2d, 0x2d, 0x61, 0x20, 0xff, 0x00, 0x0a, 0x0d,
]);

function form(model: string, size = 1): Buffer {
  const head = (rest: string) => `--a b\r\nContent-Disposition: form-data; ${rest}\r\n\r\n`;
  return Buffer.concat([
    Buffer.from(`${head('name="prompt"')}${model}\r\n`),
    Buffer.from(head('name="image"; filename="a.png"\r\nContent-Type: image/png')),
    ...Array.from({ length: size }, () => file),
    Buffer.from(
      `\r\n${head('name="model"')}${model}\r\n${head('name="new_field"')}1.0\r\n--a b--\r\nepilogue`,
    ),
  ]);
}

async function post(
  path: string,
  headers: readonly string[],
  body: string | Buffer,
  platform: 'completions' | 'messages' = 'completions',
) {
  const own = [`authorization: Bearer ${gateway.keys[platform]}`, ...headers];
  const answer = await exchange(gateway.apiOrigin, request(`POST ${path}`, own, body));
  return { answer, text: answer.body.toString(), traceId: answer.headers.get('x-trace-id') };
}

describe('what the upstream receives', () => {
  test('is byte for byte the JSON that was sent, at the path of what was asked for', async () => {
    for (const operation of ['generations', 'edits']) {
      const body = `{ "model":"same" , "prompt":"\\u00e9","x-new":1.0,"images":[{"image_url":"x"}]}`;
      const { answer } = await post(`/v1/images/${operation}?x=1`, [json], body);
      const received = simulator.requests.at(-1);
      expect(answer.status).toBe(200);
      expect(Buffer.from(received?.body ?? '').toString()).toBe(body);
      expect(received?.target).toBe(`/v1/images/${operation}`);
    }
  });

  test.each([
    ['same', 'same', []],
    ['alias', 'served', ['model']],
  ])('is byte for byte the form that was sent, but for the alias: %s', async (model, served, edits) => {
    const { answer, traceId } = await post('/v1/images/edits', [`content-type: ${formType}`], form(model));
    const received = simulator.requests.at(-1);
    expect(answer.status).toBe(200);
    const expected = form(model)
      .toString('latin1')
      .replace(`"model"\r\n\r\n${model}`, `"model"\r\n\r\n${served}`);
    expect(Buffer.from(received?.body ?? '').toString('latin1')).toBe(expected);
    expect(received?.headers).toMatchObject({
      'content-type': formType,
      'content-length': String(expected.length),
    });
    expect((await entryOf(gateway, traceId)).attempts).toMatchObject([{ lane: 'passthrough', edits }]);
  });

  test('comes once, although a connection that has waited may lose it', async () => {
    const ask = (model: string) =>
      post('/v1/images/generations', [json], `{"model":"${model}","prompt":"x"}`);
    expect((await ask('same')).answer.status).toBe(200);
    const before = simulator.requestCount;
    expect((await ask('lost')).answer.status).toBe(502);
    expect(simulator.requestCount - before).toBe(1);
  });
});

describe('what is answered', () => {
  test.each([false, true])('is what the upstream answered (stream: %s)', async (stream) => {
    const body = JSON.stringify({ model: 'same', prompt: 'x', stream, partial_images: 2, n: 2 });
    const path = '/v1/images/generations';
    const { answer } = await post(path, [json], body);
    const direct = await exchange(simulator.origin, request(`POST ${path}`, [json], body));
    const timeless = (text: string) => text.replaceAll(/"created(_at)?":\d+/g, '');
    expect(timeless(answer.body.toString())).toBe(timeless(direct.body.toString()));
    expect(answer.headers.get('content-type')).toBe(direct.headers.get('content-type'));
    expect(answer.headers.get('x-headgate-attempts')).toBe('1');
  });
});

describe('what is refused', () => {
  test.each(['/v1/images/generations', '/v1/chat/completions'])('a form at %s is a 415', async (path) => {
    const { answer, text } = await post(path, [`content-type: ${formType}`], form('same'));
    expect(answer.status).toBe(415);
    expect(JSON.parse(text)).toMatchObject({ error: { param: 'content-type' } });
  });

  test('a form beyond the bound is a 413', async () => {
    const large = form('same', 10_000);
    expect((await post('/v1/images/edits', [`content-type: ${formType}`], large)).answer.status).toBe(413);
  });

  test.each([
    ['without a boundary', 'multipart/form-data', 'content-type'],
    ['with another boundary', 'multipart/form-data; boundary=x', null],
  ])('a form %s is a 400, and nothing is sent', async (_, type, param) => {
    const before = simulator.requestCount;
    const { answer, text } = await post('/v1/images/edits', [`content-type: ${type}`], form('same'));
    expect(answer.status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'invalid_request', param } });
    expect(simulator.requestCount).toBe(before);
  });

  test('an edit that no channel of the model makes is a 400 that says so', async () => {
    const ask = (path: string) => post(path, [json], '{"model":"generates-only","prompt":"x"}');
    expect((await ask('/v1/images/generations')).answer.status).toBe(200);
    const { answer, text } = await ask('/v1/images/edits');
    expect(answer.status).toBe(400);
    expect(text).toContain('edits images');
  });

  test.each(['/v1/images/generations', '/v1/images/edits'])(
    '%s on another platform is a 404',
    async (path) => {
      const { answer, text } = await post(path, [json], '{"model":"same","prompt":"x"}', 'messages');
      expect(answer.status).toBe(404);
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'endpoint_not_on_platform' } });
    },
  );

  test('what was removed at the vendor is not there', async () => {
    expect((await post('/v1/images/variations', [json], '{}')).answer.status).toBe(404);
  });
});

test('models that only make images are listed for keys of the platform that can call them', async () => {
  const list = (key: string) =>
    exchange(gateway.apiOrigin, request('GET /v1/models', [`authorization: Bearer ${key}`]));
  expect((await list(gateway.keys.completions)).body.toString()).toContain('"generates-only"');
  expect((await list(gateway.keys.messages)).body.toString()).not.toContain('"generates-only"');
});
