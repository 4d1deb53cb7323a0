import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestAuthenticator } from '../packages/gateway/src/admin/people/authenticator.fixture.ts';
import {
  openIdentityProvider,
  signInAtProvider,
  type TestIdentityProvider,
} from '../packages/gateway/src/admin/people/identity-provider.fixture.ts';
import { totpCode, totpStep } from '../packages/gateway/src/admin/people/totp.ts';
import { environmentOf, readSettings } from '../packages/gateway/src/config.ts';
import { type RunningGateway, startGateway } from '../packages/gateway/src/main.ts';

/** A browser of one person, as far as cookies and where requests come from. */
class TestBrowser {
  readonly #origin: string;
  readonly cookies = new Map<string, string>();

  constructor(origin: string) {
    this.#origin = origin;
  }

  async ask(method: string, path: string, body?: unknown) {
    const answer = await fetch(path.startsWith('http') ? path : `${this.#origin}/api/v1${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...{ origin: this.#origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await answer.text();
    const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
    return { status: answer.status, json, location: answer.headers.get('location') };
  }
}

const password = 'a sentence that is long enough';
let dataDir = '';
let gateway: RunningGateway;
let origin = '';
let provider: TestIdentityProvider;
let operator: TestBrowser;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'headgate-console-people-'));
  const port = await freePort();
  origin = `http://localhost:${port}`;
  provider = await openIdentityProvider(`${origin}/api/v1/session/provider/callback`);
  const settings = readSettings({
    flags: {
      ...{ 'data-dir': dataDir, 'api-port': '0', 'console-port': String(port), 'console-origin': origin },
      ...{ 'log-level': 'error', 'oidc-issuer': provider.issuer, 'oidc-client-id': provider.clientId },
      ...{ 'oidc-allow-private': 'true', 'oidc-role-claim': 'groups', 'oidc-roles': 'lab=member:demo' },
      'demo-history': 'false',
    },
    environment: environmentOf({ HEADGATE_OIDC_CLIENT_SECRET: provider.clientSecret }),
    file: null,
  });
  if (!settings.ok) throw new Error(JSON.stringify(settings.error));
  const started = await startGateway(settings.value, environmentOf({}), { logFile: join(dataDir, 'log') });
  if (!started.ok) throw new Error(JSON.stringify(started.error));
  gateway = started.value;
  operator = new TestBrowser(origin);
  const made = await operator.ask('POST', '/set-up', {
    ...{ token: gateway.setUpToken, login: 'ann@example.com', name: 'Ann', password },
  });
  expect(made).toMatchObject({ status: 200, json: { next: 'done' } });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await provider.close();
  rmSync(dataDir, { recursive: true });
});

async function invited(draft: object, name: string) {
  const made = await operator.ask('POST', '/invitations', draft);
  expect(made).toMatchObject({ status: 201 });
  const token = String(made.json['link']).split('#')[1] ?? '';
  const browser = new TestBrowser(origin);
  const body = { token, name, email: `${name}@example.com`, password };
  return { browser, token, accepted: await browser.ask('POST', '/invitations/accept', body) };
}

test('who has an authenticator app is asked for its code, once each, and a recovery code stands in for it', async () => {
  const { browser } = await invited({ account: 'demo', role: 'member' }, 'tess');
  const proposed = await browser.ask('POST', '/me/totp');
  const secret = String(proposed.json['secret']);
  const code = (off = 0) => totpCode(secret, totpStep(Date.now()) + off);
  const confirmed = await browser.ask('POST', '/me/totp/confirm', { code: code(-1) });
  const [recovery = ''] = confirmed.json['recoveryCodes'] as readonly string[];
  expect(await browser.ask('GET', '/me/security')).toMatchObject({
    json: { hasTotp: true, recoveryCodesLeft: 10 },
  });

  const other = new TestBrowser(origin);
  const signIn = () => other.ask('POST', '/session', { login: 'TESS@example.com', password });
  const begun = await signIn();
  expect(begun).toMatchObject({ status: 200, json: { next: 'totp' } });
  expect(other.cookies.size).toBe(0);
  const { ticket } = begun.json;
  expect((await other.ask('POST', '/session/totp', { ticket, code: '000000' })).status).toBe(401);
  const right = code();
  expect(await other.ask('POST', '/session/totp', { ticket, code: right })).toMatchObject({ status: 200 });
  expect(await other.ask('GET', '/session')).toMatchObject({ json: { person: { name: 'tess' } } });
  // Neither the ticket nor the code is good again.
  expect((await other.ask('POST', '/session/totp', { ticket, code: code(1) })).status).toBe(401);
  const again = (await signIn()).json['ticket'];
  expect((await other.ask('POST', '/session/totp', { ticket: again, code: right })).status).toBe(401);
  expect(await other.ask('POST', '/session/totp', { ticket: again, code: recovery })).toMatchObject({
    status: 200,
  });
  const third = (await signIn()).json['ticket'];
  expect((await other.ask('POST', '/session/totp', { ticket: third, code: recovery })).status).toBe(401);
  const { json } = await operator.ask('GET', '/audit?action=session.create');
  const ways = (json['items'] as readonly { after: { how: string } }[]).map(({ after }) => after.how);
  expect(ways).toContain('recovery-code');
  expect(await refusals()).toContainEqual(
    expect.objectContaining({ after: { how: 'totp', reason: 'wrong', attempts: 1 } }),
  );
});

/** The newest notes of who could not sign in. */
async function refusals(): Promise<readonly Record<string, unknown>[]> {
  const { json } = await operator.ask('GET', '/audit?action=person.sign-in-refused');
  return json['items'] as readonly Record<string, unknown>[];
}

test('a stranger who makes up addresses is slowed down as where they are, and noted with it', async () => {
  await invited({ account: 'demo', role: 'viewer' }, 'target');
  // At once, since a loaded machine takes longer for a few than the first wait is.
  const guess = (at: number) =>
    fetch(`${origin}/api/v1/session`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', 'x-forwarded-for': `203.0.113.${at}` },
        ...{ forwarded: `for=203.0.113.${at}`, 'x-real-ip': `203.0.113.${at}` },
      },
      body: JSON.stringify({ login: 'target@example.com', password: 'not the password' }),
    });
  const answers = await Promise.all(Array.from({ length: 7 }, (_, at) => guess(at)));
  expect(answers.map(({ status }) => status).sort()).toEqual([401, 401, 401, 401, 401, 429, 429]);
  const rows = (await refusals()).filter(({ target }) => (target as { name: string }).name === 'target');
  expect(rows.map(({ after }) => (after as { reason: string }).reason).sort()).toEqual([
    'throttled',
    'wrong',
  ]);
  expect(rows.every(({ address }) => /127\.0\.0\.1|::1/.test(String(address)))).toBe(true);
});

test('codes are guessed no faster than passwords', async () => {
  const { browser } = await invited({ account: 'demo', role: 'viewer' }, 'guessed');
  const secret = String((await browser.ask('POST', '/me/totp')).json['secret']);
  await browser.ask('POST', '/me/totp/confirm', { code: totpCode(secret, totpStep(Date.now())) });
  const { ticket } = (await browser.ask('POST', '/session', { login: 'guessed@example.com', password })).json;
  const statuses: number[] = [];
  for (let at = 0; at < 8; at++)
    statuses.push((await browser.ask('POST', '/session/totp', { ticket, code: '000001' })).status);
  expect(statuses.slice(0, 4)).toEqual([401, 401, 401, 401]);
  expect(statuses.at(-1)).toBe(429);
});

test('a passkey signs in without a password, on this origin alone', async () => {
  const authenticator = new TestAuthenticator();
  const { browser } = await invited({ account: 'demo', role: 'member' }, 'pat');
  const asked = await browser.ask('POST', '/me/passkeys/question');
  const { options, ticket } = asked.json as { readonly options: object; readonly ticket: string };
  const response = JSON.stringify(authenticator.make(options, origin));
  expect(await browser.ask('POST', '/me/passkeys', { name: 'Laptop', ticket, response })).toMatchObject({
    status: 204,
  });
  const other = new TestBrowser(origin);
  const prove = async (from: string) => {
    const { json } = await other.ask('POST', '/session/passkey/question');
    const question = json as { readonly options: object; readonly ticket: string };
    const proof = JSON.stringify(authenticator.prove(question.options, from, { host: 'localhost' }));
    return other.ask('POST', '/session/passkey', { ticket: question.ticket, response: proof });
  };
  expect((await prove('https://evil.example.com')).status).toBe(401);
  expect(await prove(origin)).toMatchObject({ status: 200, json: { next: 'done' } });
  expect(await other.ask('GET', '/session')).toMatchObject({ json: { person: { name: 'pat' } } });
});

test('an invitation is accepted once, gives what it says, and leads to the configured origin alone', async () => {
  const { browser, token, accepted } = await invited(
    { account: 'demo', role: 'admin', email: 'adam@example.com' },
    'adam',
  );
  expect(accepted).toMatchObject({ status: 200 });
  expect(await browser.ask('GET', '/session')).toMatchObject({
    json: { person: { isOperator: false }, memberships: [{ account: { id: 'demo' }, role: 'admin' }] },
  });
  const late = new TestBrowser(origin);
  expect((await late.ask('POST', '/invitations/look', { token })).status).toBe(401);
  // An account admin invites to the account, to no other one, and makes no operators.
  const made = await browser.ask('POST', '/invitations', { account: 'demo', role: 'viewer' });
  expect(made.status).toBe(201);
  expect(String(made.json['link'])).toMatch(new RegExp(`^${origin}/invitation#[\\w-]{43}$`));
  expect(await browser.ask('POST', '/invitations', { account: 'other', role: 'viewer' })).toMatchObject({
    status: 400,
  });
  expect(await browser.ask('POST', '/invitations', { isOperator: true })).toMatchObject({ status: 400 });
  expect((await browser.ask('GET', '/people')).status).toBe(403);
  expect((await browser.ask('GET', '/accounts/demo/members')).status).toBe(200);
  // The only admin of an account leaves it to nobody.
  const { json } = await browser.ask('GET', '/session');
  const self = `/accounts/demo/members/${(json['person'] as { readonly id: string }).id}`;
  expect((await browser.ask('DELETE', self)).status).toBe(409);
  expect((await browser.ask('PATCH', self, { role: 'member' })).status).toBe(409);
  await invited({ account: 'demo', role: 'admin' }, 'second');
  expect((await browser.ask('PATCH', self, { role: 'member' })).status).toBe(204);
  expect(await browser.ask('GET', '/session')).toMatchObject({ json: { memberships: [{ role: 'member' }] } });
});

test('a role that changes ends the sessions of its person, and the last operator stays one', async () => {
  const { browser } = await invited({ isOperator: true }, 'olga');
  const people = (await operator.ask('GET', '/people?search=olga')).json['items'] as readonly {
    readonly id: string;
  }[];
  const olga = people[0]?.id ?? '';
  expect((await browser.ask('GET', '/people')).status).toBe(200);
  expect(await operator.ask('PATCH', `/people/${olga}`, { isOperator: false })).toMatchObject({
    status: 200,
  });
  expect((await browser.ask('GET', '/people')).status).toBe(401);
  const own = (await operator.ask('GET', '/session')).json['person'] as { readonly id: string };
  for (const patch of [{ isOperator: false }, { isDisabled: true }])
    expect(await operator.ask('PATCH', `/people/${own.id}`, patch)).toMatchObject({ status: 409 });
  // Who changes their own rights stays, under another secret.
  const before = [...operator.cookies.values()].join();
  const memberships = [{ account: 'demo', role: 'viewer' }];
  expect(await operator.ask('PATCH', `/people/${own.id}`, { memberships })).toMatchObject({ status: 200 });
  expect([...operator.cookies.values()].join()).not.toBe(before);
  expect((await operator.ask('GET', '/people')).status).toBe(200);
  expect((await operator.ask('PATCH', '/session/person', { name: 'Ann', theme: 'dark' })).status).toBe(204);
  expect((await operator.ask('GET', '/people')).status).toBe(200);
  expect(await operator.ask('DELETE', `/people/${own.id}`)).toMatchObject({ status: 409 });
});

test('a link for a password sets it once, and ends all sessions', async () => {
  const { browser } = await invited({ account: 'demo', role: 'viewer' }, 'lost');
  const people = (await operator.ask('GET', '/people?search=lost')).json['items'] as readonly {
    readonly id: string;
  }[];
  const made = await operator.ask('POST', `/people/${people[0]?.id}/password-link`);
  const token = String(made.json['link']).split('#')[1];
  const other = new TestBrowser(origin);
  expect(await other.ask('POST', '/password-links/look', { token })).toMatchObject({
    json: { name: 'lost' },
  });
  expect(await other.ask('POST', '/password-links/use', { token, password: 'short' })).toMatchObject({
    status: 400,
  });
  expect((await other.ask('POST', '/password-links/use', { token, password: `${password}!` })).status).toBe(
    204,
  );
  expect((await other.ask('POST', '/password-links/use', { token, password: `${password}?` })).status).toBe(
    401,
  );
  expect((await browser.ask('GET', '/sessions')).status).toBe(401);
  const login = { login: 'lost@example.com', password: `${password}!` };
  expect(await other.ask('POST', '/session', login)).toMatchObject({ json: { next: 'done' } });
});

async function throughProvider(browser: TestBrowser, begin: string, login: string, body: object = {}) {
  const begun = await browser.ask('POST', begin, begin === '/session/provider' ? body : undefined);
  const back = await signInAtProvider(
    String(begun.json['url']),
    login,
    `${origin}/api/v1/session/provider/callback`,
  );
  return browser.ask('GET', back.href);
}

test('a provider lets in whom its claims give a role, and nobody by an e-mail address', async () => {
  provider.people.set('lab-1', {
    name: 'Lab',
    email: 'lab@example.com',
    email_verified: true,
    groups: ['lab'],
  });
  const browser = new TestBrowser(origin);
  expect((await throughProvider(browser, '/session/provider', 'lab-1')).location).toBe('/');
  expect(await browser.ask('GET', '/session')).toMatchObject({
    json: {
      person: { login: 'lab@example.com' },
      memberships: [{ account: { id: 'demo' }, role: 'member' }],
    },
  });
  // The address of the operator, verified or not, is nobody's way in.
  for (const [login, verified] of [
    ['thief-1', false],
    ['thief-2', true],
  ] as const) {
    provider.people.set(login, { email: 'ann@example.com', email_verified: verified });
    const thief = new TestBrowser(origin);
    const answer = await throughProvider(thief, '/session/provider', login);
    expect(answer.location).toBe('/sign-in?problem=provider-unknown');
    expect(await thief.ask('GET', '/session')).toMatchObject({ json: { person: null } });
  }
  expect(await refusals()).toContainEqual(
    expect.objectContaining({ after: { how: 'provider', reason: 'unknown', attempts: 1 } }),
  );
  provider.people.set('lab-1', { name: 'Lab', email: 'lab@example.com', email_verified: true, groups: [] });
  expect((await throughProvider(new TestBrowser(origin), '/session/provider', 'lab-1')).location).toContain(
    'provider-unknown',
  );
  expect(await browser.ask('GET', '/session')).toMatchObject({ json: { person: null } });
});

test('an identity is connected by who is signed in, to one person, in the browser that began it', async () => {
  provider.people.set('ann-there', { email: 'ann@elsewhere.example', email_verified: true });
  expect((await throughProvider(operator, '/me/identities', 'ann-there')).location).toBe('/profile');
  const elsewhere = new TestBrowser(origin);
  expect((await throughProvider(elsewhere, '/session/provider', 'ann-there')).location).toBe('/');
  expect(await elsewhere.ask('GET', '/session')).toMatchObject({
    json: { person: { login: 'ann@example.com' } },
  });
  const begun = await elsewhere.ask('POST', '/session/provider', {});
  const callback = `${origin}/api/v1/session/provider/callback`;
  const back = await signInAtProvider(String(begun.json['url']), 'ann-there', callback);
  expect((await new TestBrowser(origin).ask('GET', back.href)).location).toContain('provider-late');
});

test('an invitation may be accepted at the provider', async () => {
  provider.people.set('guest', { name: 'Guest', email: 'guest@example.com', email_verified: true });
  const made = await operator.ask('POST', '/invitations', { account: 'demo', role: 'viewer' });
  const invitation = String(made.json['link']).split('#')[1];
  const browser = new TestBrowser(origin);
  expect((await throughProvider(browser, '/session/provider', 'guest', { invitation })).location).toBe('/');
  expect(await browser.ask('GET', '/session')).toMatchObject({ json: { memberships: [{ role: 'viewer' }] } });
});

test('settings are told with where they are declared, and without secrets', async () => {
  const { json } = await operator.ask('GET', '/settings');
  const items = json['items'] as readonly { readonly name: string }[];
  expect(items.find(({ name }) => name === 'oidcClientSecret')).toMatchObject({ value: null });
  expect(JSON.stringify(json)).not.toContain(provider.clientSecret);
});
