import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWeb } from '../../upstream/ask-web.ts';
import { HttpClient } from '../../upstream/client.ts';
import {
  openIdentityProvider,
  signInAtProvider,
  type TestIdentityProvider,
} from './identity-provider.fixture.ts';
import { type OidcSettings, OidcSignIn } from './oidc.ts';

const redirectUri = 'http://localhost:9/api/v1/sign-in/oidc/callback';
const clock = { now: () => Date.now(), monotonic: () => 0 };
const client = new HttpClient();
let provider: TestIdentityProvider;

beforeAll(async () => {
  provider = await openIdentityProvider(redirectUri);
});
afterAll(async () => {
  await provider.close();
  await client.close();
});

function signIn(changes: Partial<OidcSettings> = {}): OidcSignIn {
  const { issuer, clientId, clientSecret } = provider;
  const common = { issuer, clientId, clientSecret, name: 'Company', allowPrivate: true };
  const settings = { ...common, roleClaim: null, roleRules: [], ...changes };
  return new OidcSignIn(settings, { askWeb: openWeb(client), clock, redirectUri });
}

async function begun(at: OidcSignIn) {
  const begin = await at.begin();
  if (!begin.ok) throw new Error(begin.error);
  return begin.value;
}

test('a person signs in at the provider, and is known by issuer and subject', async () => {
  provider.people.set('ann', {
    name: 'Ann',
    email: 'ann@example.com',
    email_verified: true,
    groups: ['lab', 'x'],
  });
  const at = signIn({
    roleClaim: 'groups',
    roleRules: [
      { value: 'lab', grant: { role: 'member', accountId: 'research' } },
      { value: 'root', grant: { role: 'operator' } },
    ],
  });
  const { url, question } = await begun(at);
  expect(new URL(url).searchParams.get('code_challenge_method')).toBe('S256');
  expect(url).not.toContain(question.verifier);
  const back = await signInAtProvider(url, 'ann', redirectUri);
  expect(await at.finish(back.searchParams, question)).toEqual({
    ok: true,
    value: {
      issuer: provider.issuer,
      subject: 'ann',
      name: 'Ann',
      email: 'ann@example.com',
      grants: [{ role: 'member', accountId: 'research' }],
    },
  });
  // The code is good once.
  expect(await at.finish(back.searchParams, question)).toMatchObject({ ok: false });
});

test('an e-mail that nobody has verified is none', async () => {
  const at = signIn();
  for (const email_verified of [false, undefined]) {
    provider.people.set('eve', {
      email: 'ann@example.com',
      ...(email_verified === undefined ? {} : { email_verified }),
    });
    const { url, question } = await begun(at);
    const back = await signInAtProvider(url, 'eve', redirectUri);
    expect(await at.finish(back.searchParams, question)).toMatchObject({
      ok: true,
      value: { email: null, grants: null },
    });
  }
});

test('an answer to a question of somebody else is refused: by state, by nonce, by verifier', async () => {
  provider.people.set('ann', {});
  const at = signIn();
  const theirs = (await begun(at)).question;
  for (const wrong of ['state', 'nonce', 'verifier'] as const) {
    const { url, question } = await begun(at);
    const back = await signInAtProvider(url, 'ann', redirectUri);
    const mixed = { ...question, [wrong]: theirs[wrong] };
    expect(await at.finish(back.searchParams, mixed), wrong).toMatchObject({ ok: false });
  }
});

test('a person who says no at the provider, and one who brings nothing, get words and no identity', async () => {
  const at = signIn();
  const { question } = await begun(at);
  const denied = new URLSearchParams({ error: 'access_denied', state: question.state, iss: provider.issuer });
  expect(await at.finish(denied, question)).toEqual({
    ok: false,
    error: expect.stringContaining('access_denied') as unknown,
  });
  expect(await at.finish(new URLSearchParams(), question)).toMatchObject({ ok: false });
});

test('a wrong secret of the client, and a provider that is not there, are words for the operator', async () => {
  const wrong = signIn({ clientSecret: 'another' });
  const { url, question } = await begun(wrong);
  const back = await signInAtProvider(url, 'ann', redirectUri);
  expect(await wrong.finish(back.searchParams, question)).toEqual({
    ok: false,
    error: expect.stringContaining('401') as unknown,
  });
  expect(await signIn({ issuer: 'http://127.0.0.1:9' }).begin()).toMatchObject({ ok: false });
});

test('a provider at a private address is not connected to, unless the operator says so', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  for (const issuer of [`https://127.0.0.1:${port}`, `https://localhost:${port}`, `http://127.0.0.1:${port}`])
    expect(await signIn({ issuer, allowPrivate: false }).begin(), issuer).toMatchObject({ ok: false });
  expect(asked).toEqual([]);
  await new Promise((resolve) => server.close(resolve));
});
