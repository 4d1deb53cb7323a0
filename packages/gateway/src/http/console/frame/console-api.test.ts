import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { PersonActor } from '../../../admin/people/actor.ts';
import { type Store, StoreUnavailable } from '../../../ports/store.ts';
import { epochMs } from '../../../store/contract/samples.ts';
import { openSqliteStore } from '../../../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../../store/sqlite/same-thread-lane.ts';
import { CallerAddresses } from '../../caller-address.ts';
import { pageMembers, pageOf } from '../contract/common.ts';
import { answer, created, nothing, problem } from './answer.ts';
import { ConsoleApi } from './console-api.ts';
import { Gate } from './gate.ts';
import { page, readCursor, writeCursor } from './pages.ts';
import { RepeatedCreates } from './repeated-creates.ts';

const own = { origin: 'https://console.test', 'sec-fetch-site': 'same-origin' };
const thing = z.strictObject({ id: z.string(), size: z.int() });

let directory = '';
let store: Store;
let nowMs = epochMs;
let made: string[] = [];
let sizes = new Map<string, number>();
let person: PersonActor | null = null;
let isLocked = false;
let hono: ReturnType<ConsoleApi['hono']>;

beforeEach(async () => {
  [nowMs, made, person, isLocked] = [epochMs, [], null, false];
  sizes = new Map(Array.from({ length: 5 }, (_, at) => [`t${at}`, at]));
  directory = mkdtempSync(join(tmpdir(), 'headgate-console-api-'));
  store = await openSqliteStore({
    file: join(directory, 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => nowMs, monotonic: () => 0 },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: () => undefined,
  });
  const gate = new Gate({
    ...{ operatorToken: 'token', consoleOrigin: 'https://console.test', now: () => nowMs },
    findPerson: () => (isLocked ? Promise.reject(new StoreUnavailable('locked')) : Promise.resolve(person)),
  });
  const creates = new RepeatedCreates(store.creates, () => nowMs);
  const api = new ConsoleApi({ gate, creates, checksAnswers: true });
  defineThings(api);
  hono = api.hono().onError((error) => {
    if (error instanceof StoreUnavailable) return new Response('{}', { status: 503 });
    throw error;
  });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function defineThings(api: ConsoleApi): void {
  const common = { access: 'operator', tag: 'Things' } as const;
  api.route(
    {
      ...common,
      method: 'get',
      path: '/things',
      summary: 'All',
      query: z.strictObject(pageMembers),
      answer: pageOf(thing),
    },
    ({ query }) => {
      const after = readCursor(query.cursor, z.tuple([z.string()]));
      if (!after.ok) return after.error;
      const all = [...sizes]
        .map(([id, size]) => ({ id, size }))
        .filter(({ id }) => id > (after.value?.[0] ?? ''));
      return answer(page(all.slice(0, query.limit + 1), query.limit, ({ id }) => [id]));
    },
  );
  api.route(
    { ...common, method: 'get', path: '/things/{id}', summary: 'One', answer: thing },
    ({ params: { id } }) => answer({ id, size: sizes.get(id) ?? 0 }, { version: sizes.get(id) }),
  );
  api.route(
    {
      ...{ ...common, method: 'patch', path: '/things/{id}', summary: 'Changes one', answer: thing },
      body: z.strictObject({ size: z.int('must be a whole number').max(100) }),
    },
    ({ params: { id }, body, ifMatch }) => {
      const stale = ifMatch(sizes.get(id));
      if (stale !== null) return stale;
      sizes.set(id, body.size);
      return answer({ id, size: body.size }, { version: body.size });
    },
  );
  api.route(
    {
      ...{
        ...common,
        method: 'post',
        path: '/things',
        summary: 'Makes one',
        creates: true,
        onceShown: ['secret'],
      },
      ...{ access: 'signed-in', body: z.strictObject({ name: z.string() }) },
      answer: z.strictObject({ name: z.string(), secret: z.string().nullable() }),
    },
    async ({ body }) => {
      if (body.name === 'refused') return problem('conflict', 'not now');
      if (body.name === 'slow') await new Promise((resolve) => setTimeout(resolve, 50));
      if (body.name === 'broken') throw new StoreUnavailable('locked');
      made.push(body.name);
      return created({ name: body.name, secret: `secret of ${body.name}` });
    },
  );
  api.route(
    { ...common, method: 'post', path: '/secrets', summary: 'Fresh', fresh: true, answer: null },
    () => nothing(),
  );
}

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const credential: Record<string, string> =
    person === null ? { authorization: 'Bearer token' } : { cookie: 'x', ...own };
  const response = await hono.request(`/api/v1${path}`, {
    method,
    headers: { ...credential, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    etag: response.headers.get('etag'),
    replayed: response.headers.get('idempotency-replayed'),
    json: (text === '' ? null : JSON.parse(text)) as Record<string, unknown>, // Answers are objects.
  };
}

const operator = (name: string, provenAtMs = epochMs): PersonActor => ({
  ...{ kind: 'person', personId: name, name, isOperator: true, memberships: [], sessionId: 's', provenAtMs },
  address: null,
});

describe('a change', () => {
  test('with the tag of what was read is made; with an older one it is told what is there', async () => {
    const { etag } = await ask('GET', '/things/t1');
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    const changed = await ask('PATCH', '/things/t1', { size: 7 }, { 'if-match': etag ?? '' });
    expect(changed).toMatchObject({ status: 200, json: { size: 7 } });
    const late = await ask('PATCH', '/things/t1', { size: 8 }, { 'if-match': etag ?? '' });
    expect(late).toMatchObject({ status: 412, etag: changed.etag, json: { code: 'stale' } });
    expect(sizes.get('t1')).toBe(7);
    for (const any of ['*', `"other", ${changed.etag}`])
      expect((await ask('PATCH', '/things/t1', { size: 9 }, { 'if-match': any })).status).not.toBe(
        any === '*' ? 412 : 200,
      );
  });

  test.each([
    ['{"size":1.5}', 'size'],
    ['{"size":101}', 'size'],
    ['{"size":1,"more":1}', 'more'],
    ['{"size":1,"constructor":1}', 'constructor'],
    ['{}', 'size'],
    ['[]', ''],
    ['null', ''],
  ])('whose body is %s is refused by the name of %s', async (body, field) => {
    const refused = await ask('PATCH', '/things/t1', body);
    expect(refused).toMatchObject({ status: 400, json: { code: 'invalid_request', status: 400 } });
    expect(refused.json['errors']).toEqual([expect.objectContaining({ field })]);
  });

  test('of secrets asks people who proved themselves long ago to do so again, and programs never', async () => {
    expect((await ask('POST', '/secrets')).status).toBe(204);
    person = operator('ada');
    expect((await ask('POST', '/secrets')).status).toBe(204);
    nowMs += 10 * 60_000 + 1;
    expect(await ask('POST', '/secrets')).toMatchObject({
      status: 403,
      json: { code: 'reauthentication_required' },
    });
  });
});

describe('a list', () => {
  test('is read in pages, each once, to its end', async () => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const { json } = await ask('GET', `/things?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...(json['items'] as { id: string }[]).map(({ id }) => id));
      cursor = (json['next'] as string | null) ?? '';
    } while (cursor !== '');
    expect(seen).toEqual(['t0', 't1', 't2', 't3', 't4']);
  });

  test.each([
    'limit=0',
    'limit=201',
    'limit=-1',
    'limit=1e1',
    'limit=',
    'cursor=x',
    `cursor=${writeCursor([1])}`,
    'other=1',
  ])('asked for by %s is refused by its name', async (query) => {
    expect(await ask('GET', `/things?${query}`)).toMatchObject({
      status: 400,
      json: { errors: [{ field: query.split('=')[0] }] },
    });
  });
});

describe('a create with a name of its own', () => {
  const named = (key: string) => ({ 'idempotency-key': key });

  test('is made once, and answered again without its secret, for a day', async () => {
    expect(await ask('POST', '/things', { name: 'a' }, named('k'))).toMatchObject({
      ...{ status: 201, replayed: null, json: { name: 'a', secret: 'secret of a' } },
    });
    nowMs += 86_000_000;
    expect(await ask('POST', '/things', { name: 'a' }, named('k'))).toMatchObject({
      ...{ status: 201, replayed: 'true', json: { name: 'a', secret: null } },
    });
    expect(made).toEqual(['a']);
    nowMs += 1_000_000;
    expect((await ask('POST', '/things', { name: 'a' }, named('k'))).json).toMatchObject({
      secret: 'secret of a',
    });
  });

  test('belongs to who made it and to what was asked for', async () => {
    await ask('POST', '/things', { name: 'a' }, named('k'));
    expect(await ask('POST', '/things', { name: 'b' }, named('k'))).toMatchObject({
      status: 422,
      json: { code: 'idempotency_mismatch' },
    });
    for (const name of ['ada', 'grace']) {
      person = operator(name);
      expect((await ask('POST', '/things', { name: 'b' }, named('k'))).replayed).toBeNull();
    }
    expect(made).toEqual(['a', 'b', 'b']);
  });

  test('that was refused or failed may be asked for again; one that runs is not made twice', async () => {
    for (const name of ['refused', 'broken']) {
      const answers = [
        await ask('POST', '/things', { name }, named(name)),
        await ask('POST', '/things', { name }, named(name)),
      ];
      expect(answers.map(({ status }) => status)).toEqual(name === 'refused' ? [409, 409] : [503, 503]);
    }
    const slow = await Promise.all(
      [1, 2, 3].map(() => ask('POST', '/things', { name: 'slow' }, named('slow'))),
    );
    expect(slow.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(made).toEqual(['slow']);
  });

  test('has a name of printable characters', async () => {
    for (const key of ['x'.repeat(201), 'a b'])
      expect((await ask('POST', '/things', { name: 'a' }, named(key))).status).toBe(400);
  });
});

test('a store that cannot say who asks is 503, and for nobody a 401', async () => {
  person = operator('ada');
  isLocked = true;
  for (const path of ['/things', '/nothing']) expect((await ask('GET', path)).status).toBe(503);
  person = null;
  expect((await ask('GET', '/things')).status).toBe(200);
});

test('an answer that is not what its route says is a bug', async () => {
  sizes.set('t9', 1.5);
  await expect(ask('GET', '/things/t9')).rejects.toThrow('does not answer as it says');
});

test.each([
  ['a stranger who says where they are', '198.51.100.9', '203.0.113.7', '198.51.100.9'],
  ['who comes through a trusted proxy', '10.0.0.1', '203.0.113.7', '203.0.113.7'],
  [
    'who comes through one and makes up what it appends to',
    '10.0.0.1',
    '1.2.3.4, 203.0.113.7',
    '203.0.113.7',
  ],
])('%s is seen where they are', async (_, peer, forwarded, seen) => {
  const gate = new Gate({
    ...{ operatorToken: 'token', consoleOrigin: null, now: () => nowMs },
    findPerson: () => Promise.resolve(null),
  });
  const api = new ConsoleApi({ gate, addresses: new CallerAddresses(['10.0.0.0/8']), creates: null });
  api.route(
    { method: 'get', path: '/where', access: 'anyone', tag: 'Things', summary: 'Where', answer: z.unknown() },
    ({ actor }) => answer(actor.kind === 'command-line' ? null : actor.address),
  );
  const headers = { 'x-forwarded-for': forwarded };
  const from = { incoming: { socket: { remoteAddress: peer } } };
  const answered = await api.hono().request('/api/v1/where', { headers }, from);
  expect(await answered.json()).toBe(seen);
});
