import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  openIdentityProvider,
  type TestIdentityProvider,
} from '../../packages/gateway/src/admin/people/identity-provider.fixture.ts';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot, settled } from './support/house.ts';

let house: House;
let provider: TestIdentityProvider;
let origin = '';
const secrets = mkdtempSync(join(tmpdir(), 'headgate-provider-'));

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

beforeAll(async () => {
  const port = await freePort();
  origin = `http://localhost:${port}`;
  provider = await openIdentityProvider(`${origin}/api/v1/session/provider/callback`);
  const secretFile = join(secrets, 'secret');
  writeFileSync(secretFile, provider.clientSecret);
  house = await openHouse({
    ...{ 'demo-history': 'false', 'console-port': String(port), 'console-origin': origin },
    ...{ 'oidc-issuer': provider.issuer, 'oidc-client-id': provider.clientId, 'oidc-name': 'Example Login' },
    ...{ 'oidc-client-secret-file': secretFile, 'oidc-allow-private': 'true' },
    ...{ 'oidc-role-claim': 'groups', 'oidc-roles': 'lab=member:demo' },
  });
}, 60_000);
afterAll(async () => {
  await house[Symbol.asyncDispose]();
  await provider.close();
  rmSync(secrets, { recursive: true });
});

/** Goes to the provider by the button, and through its own pages, which are no concern of this console's. */
async function throughProvider(login: string) {
  const page = await (await house.browser.newContext()).newPage();
  await page.goto(`${origin}/sign-in`);
  await page.getByRole('button', { name: 'Continue with Example Login' }).click();
  await page.locator('input[name="login"]').fill(login);
  await page.locator('input[name="password"]').fill('any');
  await page.locator('button[type="submit"]').click();
  await page.waitForURL(/\/interaction\//);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${origin}/**`);
  return page;
}

test('the button of the provider signs in whom it gives a role, and tells others why not', async () => {
  provider.people.set('lab-1', {
    name: 'Lab',
    email: 'lab@example.com',
    email_verified: true,
    groups: ['lab'],
  });
  provider.people.set('stranger', { name: 'Stranger', email: 'ann@example.com', email_verified: true });
  const page = await throughProvider('lab-1');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'Lab' }).waitFor();
  await page.context().close();
  const other = await throughProvider('stranger');
  await other.getByText('Nobody here is known by this sign-in yet.').waitFor();
  await screenshot(other, 'sign-in-provider-unknown');
  await other.context().close();
}, 60_000);

test.each([
  ['en', /Too many attempts\. Try again in \d+ (second|minute)/],
  ['zh', /尝试次数过多。请在 \d+ (秒|分钟)后再试。/],
] as const)(
  'who guesses too often is told how long to wait, in %s',
  async (language, words) => {
    const page = await house.openPage('anonymous', '/sign-in', { language, width: 360 });
    // The house opens pages by address, and this deployment has a name.
    await page.goto(`${origin}/sign-in`);
    await page.locator('input[autocomplete="username"]').fill(`somebody-${language}`);
    const told = page.getByText(words);
    for (let left = 15; left > 0 && (await told.count()) === 0; left--) {
      await page.locator('input[type="password"]').fill('not the password');
      const answered = page.waitForResponse(/\/api\/v1\/session$/);
      await page.keyboard.press('Enter');
      await answered;
      await page.waitForTimeout(100);
    }
    await told.waitFor();
    await screenshot(page, `sign-in-throttled-${language}`);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.context().close();
  },
  60_000,
);

test('the audit is found by its address, and shows what went and what came', async () => {
  const page = await house.openPage('operator', '/audit?target=person&within=day');
  await settled(page);
  expect(await page.getByLabel('Kind').inputValue()).toBe('person');
  await page.getByRole('cell', { name: 'person.sign-in-refused' }).first().waitFor();
  expect(await page.getByRole('cell', { name: 'session.create' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Show the change' }).first().click();
  await page.getByRole('dialog').locator('ins').first().waitFor();
  await expectAccessible(page);
  await screenshot(page, 'audit-change');
  await page.keyboard.press('Escape');
  await page.getByLabel('Kind').selectOption('channel');
  await page.waitForURL(/target=channel/);
  await page.context().close();
}, 60_000);

test('settings are explained in the language of the page, and exported as a file', async () => {
  const page = await house.openPage('operator', '/settings', { language: 'zh' });
  await page.getByText('此部署的名称，向用户显示').waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: '导出为 YAML' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('headgate.yaml');
  const text = readFileSync(await download.path(), 'utf8');
  expect(text).toContain('channels:');
  expect(text).not.toContain(provider.clientSecret);
  await page.context().close();
}, 60_000);
