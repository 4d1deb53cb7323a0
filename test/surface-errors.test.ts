import { type Simulator, startSimulator } from '@headgate/simulator';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { generateKey } from '../packages/gateway/src/admin/keys.ts';
import { openTestGateway, type TestGateway } from './support/gateway.ts';
import { scrapeMetrics } from './support/metrics.ts';
import { chatRequest, exchange, type RawAnswer, RawConnection, request } from './support/raw-http.ts';

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await openTestGateway({
    channels: [
      { id: 'secret-channel', origin: simulator.origin, models: { demo: 'sim+tokens=2', other: 'sim' } },
    ],
    moreKeys: {
      disabled: {},
      revoked: {},
      expired: { expires: '2020-01-01T00:00:00Z' },
      narrow: { models: ['other'] },
    },
    flags: { 'headers-timeout': '1s', 'body-timeout': '1s' },
  });
  await gateway.store.configuration.setKeyStatus('disabled', 'disabled');
  await gateway.store.configuration.setKeyStatus('revoked', 'revoked');
  await vi.waitFor(
    async () => expect([await statusOf('disabled'), await statusOf('revoked')]).toEqual([401, 401]),
    { timeout: 10_000 },
  );
});
afterAll(async () => {
  // Whatever a test sent, the process has answered it and answers on.
  expect((await chat({ model: 'demo', messages: [{}] })).status).toBe(200);
  await gateway[Symbol.asyncDispose]();
  await simulator.close();
});

async function statusOf(keyId: string): Promise<number> {
  return (await get('/v1/models', bearer(gateway.moreKeys[keyId] ?? ''))).status;
}

function bearer(key: string): string {
  return `authorization: Bearer ${key}`;
}

/** Sends a request; whatever comes back must be a whole answer with a trace id that tells nothing private. */
async function send(bytes: string | Uint8Array): Promise<RawAnswer> {
  const answer = await exchange(gateway.apiOrigin, bytes);
  expect(answer.isWhole).toBe(true);
  expect(answer.headers.get('x-trace-id')).toMatch(/^[0-9a-f]{32}$/);
  expectNothingPrivate(answer);
  return answer;
}

function expectNothingPrivate({ status, headers, body }: RawAnswer): void {
  const told = `${[...headers].join('\n')}\n${body.toString()}`;
  const secrets = [...Object.values(gateway.keys), ...Object.values(gateway.moreKeys), simulator.origin];
  // The list of models names the provider, whose id has the channel's in it here.
  if (status !== 200) secrets.push('secret-channel');
  for (const secret of [...secrets, gateway.dataDir, 'node:', '.ts:', 'at Object']) {
    expect(told).not.toContain(secret);
  }
}

function get(path: string, ...headers: readonly string[]): Promise<RawAnswer> {
  return send(request(`GET ${path}`, headers));
}

function post(path: string, headers: readonly string[] = [], body = '{}'): Promise<RawAnswer> {
  return send(request(`POST ${path}`, ['content-type: application/json', ...headers], body));
}

function chat(body: object | string): Promise<RawAnswer> {
  return send(chatRequest(gateway.keys.completions, body));
}

function bodyOf({ body }: RawAnswer): unknown {
  return JSON.parse(body.toString());
}

const paths = {
  completions: '/v1/chat/completions',
  messages: '/v1/messages',
  native: '/v1beta/models/demo:generateContent',
} as const;
type Platform = keyof typeof paths;
const platforms: readonly Platform[] = ['completions', 'messages', 'native'];

/** The envelope of a surface, as its SDK reads it. */
function envelope(
  platform: Platform,
  status: number,
  code: string,
  words: { readonly completions: string; readonly messages: string; readonly native: string },
) {
  switch (platform) {
    case 'completions':
      return { error: { type: words.completions, code } };
    case 'messages':
      return { type: 'error', error: { type: words.messages, code } };
    case 'native':
      return { error: { code: status, status: words.native, reason: code } };
  }
}

describe('401', () => {
  const unauthorised = (platform: Platform) =>
    ({
      completions: { error: { type: 'invalid_request_error', code: 'invalid_api_key' } },
      messages: { type: 'error', error: { type: 'invalid_request_error', code: 'invalid_api_key' } },
      native: {
        error: { type: 'invalid_request_error', code: 'invalid_api_key', status: 'UNAUTHENTICATED' },
      },
    })[platform];

  function expectUnauthorised(answer: RawAnswer, platform: Platform, words: RegExp): void {
    expect(answer.status).toBe(401);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(bodyOf(answer)).toMatchObject(unauthorised(platform));
    expect(answer.body.toString()).toMatch(words);
  }

  test.each(platforms)('without a key, on the %s surface', async (platform) => {
    expectUnauthorised(await post(paths[platform]), platform, /No API key was sent/);
  });

  const malformed = {
    empty: 'authorization: ',
    'scheme only': 'authorization: Bearer',
    'scheme and space': 'authorization: Bearer   ',
    'basic scheme': 'authorization: Basic c2stOnNrLQ==',
    'no scheme': `authorization: ${generateKey()}`,
    'not ours': 'authorization: Bearer sk-proj-abcdefghijklmnopqrstuvwxyz',
    quotes: `authorization: Bearer sk-'; DROP TABLE keys; --`,
    unicode: 'authorization: Bearer sk-\u00fc\u00df\u20ac',
    long: `authorization: Bearer sk-${'a'.repeat(12_000)}`,
    'a stored hash': `authorization: Bearer ${'0123456789abcdef'.repeat(4)}`,
    prototype: 'authorization: Bearer __proto__',
  };

  test.each(Object.entries(malformed))('for a malformed key: %s', async (_, header) => {
    const answer = await send(
      Buffer.from(request(`POST ${paths.completions}`, ['content-type: application/json', header], '{}')),
    );
    expectUnauthorised(answer, 'completions', /key/);
  });

  test('for a key that is one letter off, unknown, disabled, revoked or expired', async () => {
    const { completions } = gateway.keys;
    const typo = completions.slice(0, -1) + (completions.endsWith('0') ? '1' : '0');
    const { disabled, revoked, expired } = gateway.moreKeys;
    for (const key of [typo, completions.slice(0, 20), generateKey(), disabled, revoked, expired]) {
      expectUnauthorised(await post(paths.completions, [bearer(key ?? '')]), 'completions', /not valid/);
    }
  });

  test.each([
    ['completions', 'x-api-key'],
    ['completions', 'x-goog-api-key'],
    ['messages', 'x-goog-api-key'],
    ['messages', 'x-neutral-api-key'],
    ['native', 'authorization'],
    ['native', 'x-api-key'],
  ] as const)('on the %s surface for a key in %s', async (platform, header) => {
    const value = `${header}: ${header === 'authorization' ? 'Bearer ' : ''}${gateway.keys[platform]}`;
    expectUnauthorised(await post(paths[platform], [value]), platform, /does not read a key from/);
  });

  test('for a key in the query of a /v1 path, which says so', async () => {
    for (const path of ['/v1/models', '/v1/usage']) {
      expectUnauthorised(await get(`${path}?key=${gateway.keys.native}`), 'completions', /query/);
    }
    const answer = await post(`${paths.messages}?key=${gateway.keys.messages}`);
    expectUnauthorised(answer, 'messages', /query/);
  });

  test('before the body is read', async () => {
    const head = request(`POST ${paths.completions}`, [
      'content-type: application/json',
      'content-length: 1000000',
    ]);
    expect((await send(head)).status).toBe(401);
  });

  test('the first valid key counts, and an extra one is no reason to refuse', async () => {
    const { messages, native } = gateway.keys;
    expect((await get('/v1/models', bearer('sk-wrong'), `x-api-key: ${messages}`)).status).toBe(200);
    expect((await get('/v1beta/models', `x-goog-api-key: ${native}`, bearer('sk-wrong'))).status).toBe(200);
    expect((await get(`/v1beta/models?key=${native}`)).status).toBe(200);
  });
});

describe('404', () => {
  test.each(
    platforms.flatMap((key) => platforms.filter((path) => path !== key).map((path) => [key, path] as const)),
  )('a %s key on the %s surface is told where it belongs', async (platform, foreign) => {
    const key = gateway.keys[platform];
    const answer = await post(paths[foreign], [bearer(key), `x-goog-api-key: ${key}`]);
    expect(answer.status).toBe(404);
    const words = { completions: 'invalid_request_error', messages: 'not_found_error', native: 'NOT_FOUND' };
    expect(bodyOf(answer)).toMatchObject(envelope(foreign, 404, 'endpoint_not_on_platform', words));
    expect(answer.body.toString()).toContain(`the ${platform} platform`);
  });

  test.each([
    ['completions', '/v1/nothing'],
    ['completions', '/'],
    ['completions', '/v1/chat/completions/'],
    ['completions', '//v1/chat/completions'],
    ['completions', '/v1//chat/completions'],
    ['completions', '/v1/chat%2fcompletions'],
    ['completions', '/v1/../v1/chat/completions'],
    ['completions', '/v1/./models'],
    ['completions', '/v1/models/..;/usage'],
    ['completions', '/V1/models'],
    ['completions', '/v1/models%00'],
    ['completions', '/v1/chat/completions\\'],
    ['completions', '/healthz'],
    ['messages', '/v1/messages/nothing'],
    ['native', '/v1beta/models/demo:fly'],
    ['native', '/v1beta/nothing'],
  ] as const)('in the shape of the %s surface for %s', async (platform, path) => {
    const answer = await post(path, [bearer(gateway.keys.completions)]);
    expect(answer.status).toBe(404);
    const words = { completions: 'invalid_request_error', messages: 'not_found_error', native: 'NOT_FOUND' };
    expect(bodyOf(answer)).toMatchObject(envelope(platform, 404, 'not_found', words));
  });

  test('an absolute URL or a strange host changes nothing', async () => {
    const auth = bearer(gateway.keys.completions);
    expect(
      (await send(`GET http://elsewhere/v1/models HTTP/1.1\r\nhost: elsewhere\r\n${auth}\r\n\r\n`)).status,
    ).toBe(404);
    expect((await send(`GET /v1/models HTTP/1.1\r\nhost: evil/../admin\r\n${auth}\r\n\r\n`)).status).toBe(
      200,
    );
    expect((await send('OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n')).status).toBe(404);
  });

  test('a model the key may not call looks like one that does not exist', async () => {
    const narrow = gateway.moreKeys['narrow'] ?? '';
    const forbidden = await send(chatRequest(narrow, { model: 'demo', messages: [] }));
    const unknown = await send(chatRequest(narrow, { model: 'demX', messages: [] }));
    const shape = ({ body }: RawAnswer) =>
      body
        .toString()
        .replace('demX', 'demo')
        .replace(/[0-9a-f]{32}/, '');
    expect([forbidden.status, shape(forbidden)]).toEqual([404, shape(unknown)]);
    expect(bodyOf(unknown)).toMatchObject({ error: { code: 'model_not_found', param: 'model' } });
    expect((await get('/v1/models/demo', bearer(narrow))).status).toBe(404);
    expect(bodyOf(await get('/v1/models', bearer(narrow)))).toMatchObject({ data: [{ id: 'other' }] });
  });
});

describe('other refusals of a request', () => {
  test.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['DELETE', '/v1/chat/completions', 'POST'],
    ['POST', '/v1/models', 'GET'],
    ['HEAD', '/v1/models', 'GET'],
    ['HEAD', '/v1/chat/completions', 'POST'],
    ['OPTIONS', '/v1/usage', 'GET'],
    ['PUT', '/v1beta/models/demo:generateContent', 'POST'],
  ])('405 for %s %s, with what is allowed', async (method, path, allow) => {
    const connection = new RawConnection(gateway.apiOrigin).send(request(`${method} ${path}`));
    await connection.seen('\r\n\r\n');
    // An answer to HEAD announces a body and has none.
    await connection.seen(`allow: ${allow}`);
    await connection.seen('405');
    connection.close();
  });

  test.each([
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/jsonx',
  ])('415 for %s', async (type) => {
    const bytes = request(
      `POST ${paths.completions}`,
      [bearer(gateway.keys.completions), `content-type: ${type}`],
      '{}',
    );
    const answer = await send(bytes);
    expect(answer.status).toBe(415);
    expect(bodyOf(answer)).toMatchObject({
      error: { code: 'unsupported_media_type', param: 'content-type' },
    });
  });

  test.each([
    ['', null],
    ['[]', null],
    ['{"model":"demo"', null],
    ['{"model":"demo","messages":[]} x', null],
    ['\ufeff{"model":"demo","messages":[]}', null],
    [`{"model":"demo","messages":${'['.repeat(100_000)}`, null],
    ['{"messages":[]}', 'model'],
    ['{"model":5,"messages":[]}', 'model'],
    ['{"model":"demo"}', 'messages'],
    ['{"model":"demo","messages":{}}', 'messages'],
    ['{"model":"demo","messages":[],"stream":"yes"}', 'stream'],
    ['{"model":"demo","messages":[],"stream_options":7}', 'stream_options'],
    ['{"model":"demo","messages":[],"stream_options":{"include_usage":1}}', 'stream_options.include_usage'],
    ['{"model":"demo","messages":[],"max_tokens":-1}', 'max_tokens'],
    ['{"model":"demo","messages":[],"max_completion_tokens":1e400}', 'max_completion_tokens'],
    ['{"model":"demo","messages":[],"n":1000000}', 'n'],
    ['{"model":"demo","messages":[],"model":"other"}', 'model'],
    ['{"model":"demo","messages":[],"MODEL":"other"}', 'model'],
  ])('400 for %.60s names %s', async (body, param) => {
    const answer = await chat(body);
    expect(answer.status).toBe(400);
    expect(bodyOf(answer)).toMatchObject({
      error: { code: 'invalid_request', type: 'invalid_request_error', param },
    });
  });

  test('members named like those of every object are only members', async () => {
    const body =
      '{"model":"demo","messages":[{}],"__proto__":{"stream":true},"constructor":{"prototype":{"model":"x"}}}';
    expect((await chat(body)).status).toBe(200);
    expect((await chat('{"model":"__proto__","messages":[]}')).status).toBe(404);
    expect((await chat('{"model":"constructor","messages":[]}')).status).toBe(404);
  });

  test('426 for WebSocket at once, 404 where nothing is', async () => {
    const upgrade = [
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: x',
    ];
    expect((await get('/v1/responses', ...upgrade)).status).toBe(426);
    expect((await get('/v1/nothing', ...upgrade)).status).toBe(404);
    const messages = await get('/v1/messages', ...upgrade);
    expect(messages.headers.get('request-id')).toBe(messages.headers.get('x-trace-id'));
    expect(messages.headers.has('x-request-id')).toBe(false);
    expect(messages.headers.get('x-should-retry')).toBe('false');
    expect(
      (await get('/v1/models', bearer(gateway.keys.completions), 'connection: Upgrade', 'upgrade: h2c'))
        .status,
    ).toBe(200);
  });

  test('417 for what nobody can expect of us, which HTTP/1.0 cannot even ask', async () => {
    const headers = [bearer(gateway.keys.completions), 'expect: 200-ok'];
    const answer = await get('/v1/models', ...headers);
    expect(answer.status).toBe(417);
    expect(bodyOf(answer)).toMatchObject({ error: { code: 'invalid_request', param: 'expect' } });
    for (const expectation of ['200-ok', '100-continue']) {
      const body = chatRequest(gateway.keys.completions, { model: 'demo', messages: [{}] }, [
        `expect: ${expectation}`,
      ]);
      expect((await send(body.toString().replace('HTTP/1.1', 'HTTP/1.0'))).status).toBe(200);
    }
  });

  test('every refusal is counted, by platform and code', async () => {
    const counted = async (platform: Platform, code: string) => {
      const text = await scrapeMetrics(gateway.consoleOrigin, gateway.dataDir);
      const line = `headgate_refusals_total{platform="${platform}",code="${code}"} `;
      return Number(
        text
          .split('\n')
          .find((sample) => sample.startsWith(line))
          ?.slice(line.length) ?? 0,
      );
    };
    const refusals: [Platform, string, () => Promise<unknown>][] = [
      ['messages', 'invalid_api_key', () => post(paths.messages)],
      ['native', 'method_not_allowed', () => get(paths.native)],
      ['completions', 'not_found', () => get('/v1/nothing')],
      [
        'messages',
        'websocket_not_supported',
        () => get(paths.messages, 'connection: upgrade', 'upgrade: websocket'),
      ],
      ['completions', 'invalid_request', () => send('not HTTP\r\n\r\n')],
      ['completions', 'invalid_request', () => get('/v1/models', 'expect: x')],
    ];
    for (const [platform, code, provoke] of refusals) {
      const before = await counted(platform, code);
      await provoke();
      expect(await counted(platform, code)).toBe(before + 1);
    }
  });

  test('408 for a body that does not come', async () => {
    const headers = [
      bearer(gateway.keys.completions),
      'content-type: application/json',
      'content-length: 10',
    ];
    const answer = await send(request(`POST ${paths.completions}`, headers));
    expect(answer.status).toBe(408);
    expect(bodyOf(answer)).toMatchObject({ error: { code: 'request_timeout' } });
    // The same request may succeed on a better day.
    expect(answer.headers.has('x-should-retry')).toBe(false);
  });
});
