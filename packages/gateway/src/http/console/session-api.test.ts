import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Passwords } from '../../admin/people/passwords.ts';
import type { PeopleTools } from '../../admin/people/people-tools.ts';
import { Refusals } from '../../admin/people/refusals.ts';
import { Sessions } from '../../admin/people/sessions.ts';
import { setUpToken } from '../../admin/people/set-up.ts';
import { newPerson } from '../../admin/people/sign-in.ts';
import { Throttle } from '../../admin/people/throttle.ts';
import type { Store } from '../../ports/store.ts';
import { declaration, epochMs } from '../../store/contract/samples.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../store/sqlite/same-thread-lane.ts';
import { auditApi } from './audit-api.ts';
import { apiPrefix, ConsoleApi } from './frame/console-api.ts';
import { Gate } from './frame/gate.ts';
import { sessionCookie } from './frame/session-cookie.ts';
import { sessionApi } from './session-api.ts';

const operatorToken = 'token-of-the-operator';
const consoleOrigin = 'https://console.test';
const password = 'four words make it';
const page = { origin: consoleOrigin, 'sec-fetch-site': 'same-origin' };
const cookie = sessionCookie(consoleOrigin, operatorToken);

let directory = '';
let store: Store;
let nowMs = epochMs;
let people: PeopleTools;
let hono: ReturnType<ConsoleApi['hono']>;

beforeEach(async () => {
  nowMs = epochMs;
  directory = mkdtempSync(join(tmpdir(), 'headgate-session-api-'));
  store = await openSqliteStore({
    file: join(directory, 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => nowMs, monotonic: () => 0 },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: () => undefined,
  });
  await store.configuration.apply('import', declaration, epochMs);
  people = {
    ...{ store, operatorToken, now: () => nowMs },
    passwords: new Passwords({ memoryKiB: 64, passes: 1 }),
    sessions: new Sessions(store.people, () => nowMs),
    throttle: new Throttle(() => nowMs),
    refusals: new Refusals(store, () => nowMs),
    secondStep: () => Promise.resolve(null),
  };
  const findPerson = (cookies: string, address: string | null) => {
    const secret = cookie.read(cookies);
    return secret === null ? Promise.resolve(null) : people.sessions.find(secret, address);
  };
  const gate = new Gate({ operatorToken, consoleOrigin, findPerson, now: () => nowMs });
  const api = new ConsoleApi({ gate, creates: null, checksAnswers: true });
  const deployment = { name: 'Test', apiOrigin: 'https://api.test', language: 'en' };
  const money = { currency: 'USD', currencyPerUsd: '1' };
  sessionApi(api, {
    people,
    cookie,
    deployment: () => ({ ...deployment, ...money, consoleOrigin, siblings: [], isSimulated: false }),
  });
  auditApi(api, { audit: store.audit });
  hono = api.hono();
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

/** A browser: it keeps the cookie that it is given. */
class Browser {
  secret: string | null = null;
  headers: Readonly<Record<string, string>> = page;

  async ask(method: string, path: string, body?: unknown) {
    const response = await hono.request(`${apiPrefix}${path}`, {
      method,
      headers: {
        ...this.headers,
        'content-type': 'application/json',
        ...(this.secret === null ? {} : { cookie: `other=1; ${cookie.name}=${this.secret}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const given = response.headers.get('set-cookie');
    if (given !== null) this.secret = /=([\w-]+);/.exec(given)?.[1] ?? null;
    const text = await response.text();
    const json = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>; // Answers are objects.
    return { status: response.status, json, cookie: given, retryAfter: response.headers.get('retry-after') };
  }
}

async function operator(): Promise<Browser> {
  const browser = new Browser();
  const token = setUpToken(operatorToken, nowMs);
  const made = await browser.ask('POST', '/set-up', {
    token,
    login: 'Ada@Example.com',
    name: 'Ada',
    password,
  });
  expect(made).toMatchObject({ status: 200, json: { next: 'done' } });
  return browser;
}

async function signedIn(login = 'ada@example.com'): Promise<Browser> {
  const browser = new Browser();
  expect(await browser.ask('POST', '/session', { login, password })).toMatchObject({ status: 200 });
  return browser;
}

async function addMember(login: string, accountId: string): Promise<string> {
  const person = {
    ...newPerson({ login, name: login }, nowMs),
    memberships: [{ accountId, role: 'viewer' as const }],
    passwordHash: await people.passwords.hash(password),
  };
  expect(await store.people.insert(person, false)).toBe('added');
  return person.id;
}

describe('the first operator', () => {
  test('is made by the link of a start, once, and is signed in', async () => {
    const nobody = new Browser();
    expect((await nobody.ask('GET', '/session')).json).toMatchObject({ person: null, isSetUp: false });
    const browser = await operator();
    expect((await browser.ask('GET', '/session')).json).toMatchObject({
      person: { login: 'Ada@Example.com', name: 'Ada', isOperator: true },
      memberships: [],
      isSetUp: true,
      deployment: { name: 'Test' },
    });
    const token = setUpToken(operatorToken, nowMs);
    const second = { token, login: 'eve', name: 'Eve', password };
    expect(await nobody.ask('POST', '/set-up', second)).toMatchObject({ status: 401 });
    expect(await store.people.count()).toBe(1);
  });

  test.each([
    ['of another gateway', () => setUpToken('another', nowMs), 'wrong'],
    ['that is not whole', () => setUpToken(operatorToken, nowMs).slice(0, -1), 'wrong'],
    ['that is over', () => setUpToken(operatorToken, nowMs - 86_400_000), 'over'],
    ['of the future', () => setUpToken(operatorToken, nowMs + 3_600_000), 'over'],
    ['that is none', () => '', 'wrong'],
  ])('a link %s makes nobody, and says so before a form is filled in', async (_, token, state) => {
    const look = await new Browser().ask('POST', '/set-up/look', { token: token() });
    expect(look).toMatchObject({ status: 200, json: { state } });
    const given = { token: token(), login: 'eve', name: 'Eve', password };
    expect(await new Browser().ask('POST', '/set-up', given)).toMatchObject({ status: 401 });
    expect(await store.people.count()).toBe(0);
  });

  test('a good link is seen to be one until it is used', async () => {
    const token = setUpToken(operatorToken, nowMs);
    const look = () => new Browser().ask('POST', '/set-up/look', { token });
    expect((await look()).json).toEqual({ state: 'good' });
    await operator();
    expect((await look()).json).toEqual({ state: 'used' });
  });

  test('two who come at once with the link are one', async () => {
    const token = setUpToken(operatorToken, nowMs);
    const answers = await Promise.all(
      ['one', 'two'].map((login) =>
        new Browser().ask('POST', '/set-up', { token, login, name: login, password }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(await store.people.count()).toBe(1);
  });

  test('a password that is too easy is refused by its name', async () => {
    const token = setUpToken(operatorToken, nowMs);
    for (const easy of ['short', 'aaaaaaaaaaaaaaaa', 'ada@example.com']) {
      const given = { token, login: 'ada@example.com', name: 'Ada', password: easy };
      expect(await new Browser().ask('POST', '/set-up', given)).toMatchObject({
        status: 400,
        json: { errors: [{ field: 'password' }] },
      });
    }
  });
});

describe('signing in', () => {
  test('the cookie is a __Host- cookie of this deployment, for no script, and for no other site', async () => {
    await operator();
    const { cookie: given } = await new Browser().ask('POST', '/session', {
      login: 'ADA@example.com',
      password,
    });
    expect(given).toMatch(
      /^__Host-headgate-[0-9a-f]{12}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=\d+$/,
    );
    expect(sessionCookie('http://127.0.0.1:8081', operatorToken).issue('x')).not.toMatch(/__Host|Secure/);
    expect(sessionCookie(null, 'another').name).not.toBe(sessionCookie(null, operatorToken).name);
  });

  test('a secret that somebody else put there is not taken over', async () => {
    await operator();
    const browser = new Browser();
    browser.secret = 'f'.repeat(43);
    await browser.ask('POST', '/session', { login: 'ada@example.com', password });
    expect(browser.secret).toMatch(/^[\w-]{43}$/);
    expect(browser.secret).not.toBe('f'.repeat(43));
  });

  test('who signs in again with the same browser has one session, under another secret', async () => {
    const browser = await operator();
    const before = browser.secret;
    await browser.ask('POST', '/session', { login: 'ada@example.com', password });
    expect(browser.secret).not.toBe(before);
    expect(((await browser.ask('GET', '/sessions')).json['items'] as unknown[]).length).toBe(1);
  });

  test('the store has no secret of a session, and no password', async () => {
    const browser = await operator();
    const person = await store.people.findByLogin('ada@example.com');
    expect(person?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=64,t=1,p=1\$/);
    const rows = JSON.stringify([person, await people.sessions.list(person?.id ?? '')]);
    expect(rows).not.toContain(browser.secret);
    expect(rows).not.toContain(password);
  });

  test('who is not there is told the same as who has another password', async () => {
    await operator();
    const tell = async (login: string) =>
      (await new Browser().ask('POST', '/session', { login, password: 'wrong' })).json;
    expect(await tell('nobody')).toEqual(await tell('ada@example.com'));
  });

  test('who guesses waits, and longer each time; who is guessed at can sign in from elsewhere', async () => {
    await operator();
    const guess = () =>
      new Browser().ask('POST', '/session', { login: 'ada@example.com', password: 'guess' });
    for (let at = 0; at < 5; at++) expect((await guess()).status).toBe(401);
    nowMs += 100;
    expect(await guess()).toMatchObject({ status: 429, retryAfter: '2' });
    expect((await new Browser().ask('POST', '/session', { login: 'ada@example.com', password })).status).toBe(
      429,
    );
    expect(
      people.throttle.take({ kind: 'password', address: '192.0.2.7', login: 'ada@example.com' }),
    ).toBeNull();
    nowMs += 20_000;
    expect((await new Browser().ask('POST', '/session', { login: 'ada@example.com', password })).status).toBe(
      200,
    );
  });

  test('a page of another origin signs nobody in, nor out', async () => {
    const browser = await operator();
    for (const headers of [{ origin: 'https://evil.test' }, { 'sec-fetch-site': 'cross-site' }]) {
      browser.headers = headers;
      expect((await browser.ask('POST', '/session', { login: 'ada@example.com', password })).status).toBe(
        403,
      );
      expect((await browser.ask('DELETE', '/session')).status).toBe(403);
    }
    browser.headers = {};
    expect((await browser.ask('DELETE', '/session')).status).toBe(403);
    browser.headers = page;
    expect((await browser.ask('GET', '/session')).json).toMatchObject({ person: { name: 'Ada' } });
  });

  test('a password that was hashed with less work is hashed anew', async () => {
    await operator();
    people = Object.assign(people, { passwords: new Passwords({ memoryKiB: 128, passes: 1 }) });
    await signedIn();
    expect((await store.people.findByLogin('ada@example.com'))?.passwordHash).toContain('m=128,');
    await signedIn();
  });
});

describe('a session', () => {
  test('is over when nobody was there for half a day, and after a week', async () => {
    const idle = await operator();
    nowMs += 11 * 3_600_000;
    expect((await idle.ask('GET', '/sessions')).status).toBe(200);
    nowMs += 11 * 3_600_000;
    expect((await idle.ask('GET', '/sessions')).status).toBe(200);
    nowMs += 13 * 3_600_000;
    expect((await idle.ask('GET', '/sessions')).status).toBe(401);
    const long = await signedIn();
    for (let at = 0; at < 15; at++) {
      nowMs += 11 * 3_600_000;
      expect((await long.ask('GET', '/sessions')).status).toBe(200);
    }
    nowMs += 11 * 3_600_000;
    expect((await long.ask('GET', '/sessions')).status).toBe(401);
  });

  test('is listed, and can be ended from elsewhere', async () => {
    const [one, other] = [await operator(), await signedIn()];
    const { json } = await one.ask('GET', '/sessions');
    const items = json['items'] as { id: string; isThis: boolean }[];
    expect(items.map(({ isThis }) => isThis).sort()).toEqual([false, true]);
    const its = items.find(({ isThis }) => !isThis)?.id ?? '';
    expect((await one.ask('DELETE', `/sessions/${its}`)).status).toBe(204);
    expect((await other.ask('GET', '/sessions')).status).toBe(401);
    expect((await one.ask('DELETE', `/sessions/${its}`)).status).toBe(404);
    await signedIn();
    expect((await one.ask('DELETE', '/sessions')).status).toBe(204);
    expect(((await one.ask('GET', '/sessions')).json['items'] as unknown[]).length).toBe(1);
    expect(await one.ask('DELETE', '/session')).toMatchObject({
      status: 204,
      cookie: expect.stringContaining('Max-Age=0') as string,
    });
    expect((await one.ask('GET', '/sessions')).status).toBe(401);
  });

  test("of somebody else is nobody's to end", async () => {
    const browser = await operator();
    const id = await addMember('grace', 'account-1');
    await signedIn('grace');
    const [hers] = await people.sessions.list(id);
    expect((await browser.ask('DELETE', `/sessions/${hers?.id}`)).status).toBe(404);
  });

  test('ended by another process is over here within a second', async () => {
    const browser = await operator();
    expect((await browser.ask('GET', '/sessions')).status).toBe(200);
    const person = await store.people.findByLogin('ada@example.com');
    await store.people.endSessions(person?.id ?? '', null);
    nowMs += 1_000;
    expect((await browser.ask('GET', '/sessions')).status).toBe(401);
  });

  test('has another secret after a proof, and after a change of the password, which ends all others', async () => {
    const [browser, other] = [await operator(), await signedIn()];
    const before = browser.secret;
    expect((await browser.ask('POST', '/session/proof', { password: 'wrong' })).status).toBe(401);
    expect((await browser.ask('POST', '/session/proof', { password })).status).toBe(204);
    expect(browser.secret).not.toBe(before);
    const stolen = new Browser();
    stolen.secret = before;
    expect((await stolen.ask('GET', '/sessions')).status).toBe(401);
    const change = { current: password, password: 'another four words' };
    expect((await browser.ask('PUT', '/session/password', { ...change, current: 'wrong' })).status).toBe(401);
    expect((await browser.ask('PUT', '/session/password', change)).status).toBe(204);
    expect((await browser.ask('GET', '/sessions')).status).toBe(200);
    expect((await other.ask('GET', '/sessions')).status).toBe(401);
    expect((await new Browser().ask('POST', '/session', { login: 'ada@example.com', password })).status).toBe(
      401,
    );
  });

  test('of who is disabled is over', async () => {
    await operator();
    const id = await addMember('grace', 'account-1');
    const browser = await signedIn('grace');
    await store.people.amend(id, { disabledAtMs: nowMs });
    people.sessions.forget();
    expect((await browser.ask('GET', '/sessions')).status).toBe(401);
    expect((await new Browser().ask('POST', '/session', { login: 'grace', password })).status).toBe(401);
  });
});

describe('oneself', () => {
  test('is changed in name, language and theme, and in nothing else', async () => {
    await operator();
    await addMember('grace', 'account-1');
    const browser = await signedIn('grace');
    expect(
      (await browser.ask('PATCH', '/session/person', { name: 'Grace H.', theme: 'dark', language: 'zh-CN' }))
        .status,
    ).toBe(204);
    expect((await browser.ask('GET', '/session')).json).toMatchObject({
      person: { name: 'Grace H.', theme: 'dark', language: 'zh-CN', isOperator: false },
      memberships: [{ account: { id: 'account-1' }, role: 'viewer' }],
    });
    for (const more of [
      { isOperator: true },
      { memberships: [] },
      { id: 'x' },
      { login: 'ada' },
      { passwordHash: '' },
    ]) {
      const [field] = Object.keys(more);
      expect(await browser.ask('PATCH', '/session/person', { name: 'x', ...more })).toMatchObject({
        status: 400,
        json: { errors: [{ field }] },
      });
    }
  });

  test('a program is nobody: it has no session to change', async () => {
    await operator();
    const program = new Browser();
    program.headers = { authorization: `Bearer ${operatorToken}` };
    expect((await program.ask('GET', '/session')).json).toMatchObject({ person: null, isProgram: true });
    for (const [method, path] of [
      ['GET', '/sessions'],
      ['DELETE', '/session'],
      ['DELETE', '/sessions/x'],
    ] as const)
      expect((await program.ask(method, path)).status).toBe(403);
  });
});

test('every change is in the audit, without a secret, and its filters find it', async () => {
  const browser = await operator();
  await browser.ask('PATCH', '/session/person', { name: 'Ada L.' });
  await browser.ask('PUT', '/session/password', { current: password, password: 'another four words' });
  const { json } = await browser.ask('GET', '/audit');
  const items = json['items'] as { action: string; before: unknown; after: unknown }[];
  expect(items.map(({ action }) => action)).toEqual([
    'person.password',
    'person.change',
    'session.create',
    'person.create',
  ]);
  expect(items[1]).toMatchObject({ before: { name: 'Ada' }, after: { name: 'Ada L.' } });
  expect(JSON.stringify(json)).not.toMatch(/argon2|four words/);
  expect((await browser.ask('GET', '/audit?action=person.create&limit=1')).json).toMatchObject({
    items: [{ action: 'person.create', actor: { kind: 'nobody' } }],
    next: null,
  });
  const first = await browser.ask('GET', '/audit?limit=3');
  const second = await browser.ask('GET', `/audit?limit=3&cursor=${String(first.json['next'])}`);
  expect(second.json).toMatchObject({ items: [{ action: 'person.create' }], next: null });
  expect(
    (await browser.ask('GET', `/audit?target=person&to=${new Date(nowMs - 1).toISOString()}`)).json['items'],
  ).toEqual([]);
  await addMember('grace', 'account-1');
  expect((await (await signedIn('grace')).ask('GET', '/audit')).status).toBe(403);
});
