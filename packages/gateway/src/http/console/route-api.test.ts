import { request } from 'node:http';
import { fail, type Result, succeed } from '@headgate/protocols';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { explainRoute } from '../../admin/explain-route.ts';
import type { Restarted } from '../../admin/serving.ts';
import { modelOf, priceOf, targetOf } from '../../catalogue/catalogue.fixture.ts';
import { type Catalogue, plainRouting } from '../../catalogue/catalogue.ts';
import { noLimits } from '../../catalogue/limits.ts';
import { Rights } from '../../catalogue/rights.ts';
import { StoreUnavailable } from '../../ports/store.ts';
import { Router } from '../../route/router.ts';
import { sampleEntry } from '../../store/contract/samples.ts';
import { noCalls } from './calls-api.fixture.ts';
import { noChannels } from './channels-api.fixture.ts';
import { type ConsoleServer, startConsole } from './console-server.ts';
import { noStatusPage, testSources } from './sources.fixture.ts';

const token = `hgo-${'t'.repeat(43)}`;
const secret = 'canary-credential';
const question = { key: 'laptop', model: 'demo' };
const past = sampleEntry({ route: '[[0,"panic","c1",0,[],["open",1,["c1"]]]]' });

const group = {
  id: 'team',
  name: 'Team',
  platform: 'completions',
  multiplierPpm: 1_000_000n,
  models: null,
  routing: plainRouting,
} as const;
const caller = {
  keyId: 'key-1',
  keyName: 'laptop',
  accountId: 'payer',
  group,
  models: null,
  strict: false,
  addressRanges: null,
  createdAtMs: 0,
  expiresAtMs: null,
  limits: noLimits,
  multipliers: null,
};

function catalogueOf(): Catalogue {
  const target = targetOf({ id: 'c1', cost: priceOf(1_000_000n) });
  const channel = { ...target.channel, credentials: [{ id: 'KEY', secret }] };
  const model = modelOf([{ ...target, channel }]);
  return {
    revision: 1,
    keys: new Map([['a hash of the key', { caller, status: 'active' }]]),
    groups: new Map([[group.id, group]]),
    models: new Map([[model.id, model]]),
    channels: new Map([[channel.id, channel]]),
    served: new Map(),
    rights: new Rights([]),
  };
}

const nobody = {
  creates: { claim: () => Promise.resolve({ kind: 'new' } as const), conclude: () => Promise.resolve() },
  now: () => 0,
};

const noEvents = {
  events: { list: () => Promise.resolve([]), follow: () => Promise.resolve({ events: [], mark: 0 }) },
  nextNews: () => Promise.resolve(),
  webhooks: () => Promise.resolve([]),
};

let restarted: Result<Restarted, string> = fail('there is another one');
let server: ConsoleServer;
/** Everything that was answered: searched for what must never be in an answer. */
let heard: string[] = [];

beforeEach(async () => {
  heard = [];
  const catalogue = catalogueOf();
  const router = new Router({
    attemptsMax: 3,
    uniform: () => 0.5,
    hashCredential: () => 'hashed',
  });
  server = await startConsole({
    host: '127.0.0.1',
    port: 0,
    headersMs: 10_000,
    bodyMs: 60_000,
    unreadyReasons: () => [],
    exposeMetrics: () => Promise.reject(new Error('not asked for')),
    consoleOrigin: null,
    apiOrigin: () => '',
    tokens: { operator: token, scrape: 'hgs-of-nobody' },
    routes: testSources({
      explainRoute: (asked) => explainRoute(asked, { catalogue, router, nowMs: 0 }),
      findEntry: (traceId) => Promise.resolve(traceId === past.traceId ? past : null),
      ...noCalls,
      ...noChannels,
      ...noEvents,
      statusTools: () => {
        throw new Error('not here');
      },
      restart: () => Promise.resolve(restarted),
    }),
    ...nobody,
    status: noStatusPage,
    onBug: () => {},
  });
});
afterEach(async () => {
  await server.close();
  for (const answer of heard) expect(answer).not.toMatch(/canary|hashed|a hash|ttttt/);
});

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function ask(path: string, { method = 'POST', headers = {}, body }: Asked = {}) {
  const answer = await fetch(`${server.origin}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  heard.push(text, [...answer.headers].join('\n'));
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return { status: answer.status, headers: answer.headers, json: JSON.parse(text) as unknown };
}

const explainPath = '/api/v1/route/explain';
const asked = JSON.stringify(question);

describe('the operator', () => {
  test('is told where a call would go', async () => {
    const { status, json } = await ask(explainPath, { body: asked });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      key: { id: 'key-1', name: 'laptop' },
      group: 'team',
      order: ['c1'],
      candidates: [{ channel: 'c1', share: 1, chance: 0.97 }],
    });
  });

  test('is told how a past call was routed', async () => {
    const { status, json } = await ask(`/api/v1/calls/${past.traceId}/route`, { method: 'GET' });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      traceId: past.traceId,
      plans: [{ choice: 'panic', first: 'c1', exclusions: [{ reason: 'open', channels: ['c1'] }] }],
      attempts: [{ n: 1 }],
    });
  });

  test.each([
    [`/api/v1/calls/${'0'.repeat(32)}/route`, 404, 'trace'],
    ['/api/v1/calls/1%27%20OR%201/route', 400, 'trace'],
    ['/api/v1/nothing', 404, undefined],
  ])('GET %s is %i', async (path, status, param) => {
    const answer = await ask(path, { method: 'GET' });
    expect(answer).toMatchObject({
      status,
      json: { detail: expect.stringMatching(/./) as string },
    });
    if (param !== undefined) expect(answer.json).toMatchObject({ errors: [{ field: param }] });
  });
});

describe('nobody else is let in, whether the path exists or not', () => {
  const paths = [
    explainPath,
    `/api/v1/calls/${past.traceId}/route`,
    '/api',
    '/api/v1/nothing',
    '/api/v1/route/explain/',
  ];
  const strangers: readonly (readonly [string, Record<string, string>, number])[] = [
    ['without a token', { authorization: '' }, 401],
    ['with another token', { authorization: `Bearer hgo-${'u'.repeat(43)}` }, 401],
    ['with the beginning of it', { authorization: `Bearer ${token.slice(0, -1)}` }, 401],
    ['with more than it', { authorization: `Bearer ${token}t` }, 401],
    ['with the key of a caller', { authorization: 'Bearer sk-abc' }, 401],
    ['with another scheme', { authorization: `Basic ${token}` }, 401],
    ['with a token that is far too long', { authorization: `Bearer ${'x'.repeat(12_000)}` }, 401],
    ['from a page of another origin', { origin: 'https://evil.example' }, 403],
    ['from a page without one', { origin: 'null' }, 403],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['from a sibling of this one', { 'sec-fetch-site': 'same-site' }, 403],
  ];
  test.each(strangers)('%s', async (_, headers, status) => {
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        const answer = await ask(path, { method, headers, ...(method === 'POST' ? { body: asked } : {}) });
        expect(answer.status, `${method} ${path}`).toBe(status);
        expect(answer.json).toHaveProperty('detail');
        expect(answer.headers.get('www-authenticate')).toBe(
          status === 401 ? 'Bearer realm="operator"' : null,
        );
      }
    }
  });

  test('a page of this origin is, with the token', async () => {
    const headers = { origin: server.origin, 'sec-fetch-site': 'same-origin' };
    expect(await ask(explainPath, { headers, body: asked })).toMatchObject({ status: 200 });
  });
});

describe('a body that is no question is answered by what to mend', () => {
  test.each([
    ['', 400, undefined, 'not JSON'],
    ['{', 400, undefined, 'not JSON'],
    ['[]', 400, undefined, 'a JSON object'],
    ['null', 400, undefined, 'a JSON object'],
    ['[['.repeat(4000), 400, undefined, 'not JSON'],
    ['{}', 400, 'key', 'key: is missing; model: is missing'],
    ['{"key":1,"model":"demo"}', 400, 'key', 'key: must be a text'],
    ['{"key":"laptop","model":"demo","strem":true}', 400, 'strem', 'did you mean "stream"'],
    [
      '{"key":"laptop","model":"demo","__proto__":{"stream":1},"constructor":1}',
      400,
      undefined,
      'is not known',
    ],
    ['{"key":"laptop","model":"demo","inputTokens":1e400}', 400, 'inputTokens', 'must be a whole number'],
    ['{"key":"laptop","model":"demo","inputTokens":-1}', 400, 'inputTokens', 'must be 0 or more'],
    ['{"key":"laptop","model":"demo","needs":["wings"]}', 400, 'needs', 'must be tools'],
    ['{"key":"laptop","model":"demo","surface":"mail"}', 400, 'surface', 'must be one of responses'],
    ['{"key":"laptop","model":"demo","surface":"messages"}', 400, 'surface', 'its platform offers'],
    ['{"key":"nobody","model":"demo"}', 400, 'key', 'there is no key "nobody"'],
    ['{"key":"laptop","model":"dmo"}', 400, 'model', 'did you mean "demo"'],
    [`{"key":"${'k'.repeat(300)}","model":"demo"}`, 400, 'key', 'must be 200 characters or fewer'],
    [`{"key":"${'k'.repeat(70_000)}"}`, 413, undefined, 'larger than the 65,536 bytes'],
  ])('%.60s', async (body, status, param, message) => {
    const answer = await ask(explainPath, { body });
    expect(answer.status).toBe(status);
    const { detail, errors } = answer.json as { detail: string; errors?: { field: string }[] }; // Every problem has this form.
    expect(detail).toContain(message);
    if (param !== undefined) expect(errors?.[0]?.field).toBe(param);
  });

  test('neither is one that is not said to be JSON', async () => {
    const answer = await ask(explainPath, { headers: { 'content-type': 'text/plain' }, body: asked });
    expect(answer).toMatchObject({ status: 415, json: { errors: [{ field: 'content-type' }] } });
  });

  test('one without an announced length is cut off at the limit', async () => {
    const status = await new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = request(`${server.origin}${explainPath}`, { method: 'POST', headers }, (answer) => {
        resolve(answer.statusCode);
        answer.resume();
        sent.destroy();
      });
      sent.on('error', reject);
      for (let n = 0; n < 80; n++) sent.write('x'.repeat(1000));
      sent.end();
    });
    expect(status).toBe(413);
  });
});

test('a restart says which process serves, or why none took over', async () => {
  expect(await ask('/api/v1/restart', { method: 'POST' })).toMatchObject({
    status: 409,
    json: { code: 'not_restarted', detail: 'there is another one' },
  });
  restarted = succeed({ processId: 7 });
  expect(await ask('/api/v1/restart', { method: 'POST' })).toMatchObject({
    status: 200,
    json: { processId: 7 },
  });
});

test('a store that cannot be asked is 503, and no bug', async () => {
  await server.close();
  const bugs: unknown[] = [];
  server = await startConsole({
    host: '127.0.0.1',
    port: 0,
    headersMs: 5000,
    bodyMs: 5000,
    unreadyReasons: () => [],
    exposeMetrics: () => Promise.reject(new Error('not asked for')),
    consoleOrigin: null,
    apiOrigin: () => '',
    tokens: { operator: token, scrape: 'hgs-of-nobody' },
    routes: testSources({
      explainRoute: () => fail({ field: 'key', message: 'x' }),
      findEntry: () => Promise.reject(new StoreUnavailable('locked')),
      ...noCalls,
      ...noChannels,
      ...noEvents,
      statusTools: () => {
        throw new Error('not here');
      },
      restart: () => Promise.resolve(restarted),
    }),
    ...nobody,
    status: noStatusPage,
    onBug: (error) => bugs.push(error),
  });
  expect(await ask(`/api/v1/calls/${past.traceId}/route`, { method: 'GET' })).toMatchObject({
    status: 503,
    json: { code: 'store_unavailable' },
  });
  expect(bugs).toEqual([]);
});

test('a bug is an answer like any other that says nothing of itself, and is told to the operator', async () => {
  await server.close();
  const bugs: unknown[] = [];
  server = await startConsole({
    host: '127.0.0.1',
    port: 0,
    headersMs: 10_000,
    bodyMs: 60_000,
    unreadyReasons: () => [],
    exposeMetrics: () => Promise.reject(new Error('not asked for')),
    consoleOrigin: null,
    apiOrigin: () => '',
    tokens: { operator: token, scrape: 'hgs-of-nobody' },
    routes: testSources({
      explainRoute: () => fail({ field: 'key', message: 'x' }),
      findEntry: () => Promise.reject(new Error(secret)),
      ...noCalls,
      ...noChannels,
      ...noEvents,
      statusTools: () => {
        throw new Error('not here');
      },
      restart: () => Promise.resolve(restarted),
    }),
    ...nobody,
    status: noStatusPage,
    onBug: (error) => bugs.push(error),
  });
  expect(await ask(`/api/v1/calls/${past.traceId}/route`, { method: 'GET' })).toMatchObject({
    status: 500,
    json: { code: 'internal' },
  });
  expect(bugs).toEqual([new Error(secret)]);
});
