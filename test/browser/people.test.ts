import { afterAll, beforeAll, expect, test } from 'vitest';
import { totpCode, totpStep } from '../../packages/gateway/src/admin/people/totp.ts';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot, settled, type View } from './support/house.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse({ 'demo-history': 'false' });
});
afterAll(() => house[Symbol.asyncDispose]());

const password = 'a sentence that is long enough';
const views: readonly View[] = [
  { width: 1440, theme: 'light', language: 'en' },
  { width: 360, theme: 'dark', language: 'zh' },
];

/** Passkeys are made for names, not for addresses. */
const named = (origin: string) => origin.replace('127.0.0.1', 'localhost');

test('the set-up link makes the first operator by keyboard alone, who signs out and in again', async () => {
  const token = house.gateway.setUpToken ?? '';
  const page = await house.openPage('anonymous', '/sign-in');
  await page.goto(`${named(house.gateway.consoleOrigin)}/setup#${token}`);
  await page.getByRole('heading', { name: 'Set up this gateway' }).waitFor();
  await page.getByLabel('Your name').waitFor();
  // The token is in no address that could be copied or kept.
  expect(page.url()).not.toContain(token);
  await screenshot(page, 'setup');
  await expectAccessible(page);
  for (const text of ['Ann', 'ann@example.com', password, password]) {
    await page.keyboard.type(text);
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Leave the set-up' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'Ann' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  for (const view of views) {
    await page.setViewportSize({ width: view.width ?? 0, height: 900 });
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  }
  await screenshot(page, 'sign-in');
  await page.getByLabel('E-mail or name').fill('ann@example.com');
  await page.getByLabel('Password').fill('not my password at all');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('Name and password do not go together.').waitFor();
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.context().close();
});

async function signedIn(view: View = {}, path = '/profile') {
  const page = await house.openPage('anonymous', '/sign-in', view);
  await page.goto(`${named(house.gateway.consoleOrigin)}/sign-in?next=${encodeURIComponent(path)}`);
  await page.locator('input[autocomplete="username"]').fill('ann@example.com');
  await page.locator('input[type="password"]').fill(password);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**${path}`);
  await settled(page);
  return page;
}

test.each(['/profile', '/people', '/audit', '/settings'])('%s is clean in every view', async (path) => {
  for (const view of views) {
    const page = await signedIn(view, path);
    await screenshot(page, `${path.slice(1)}-${view.width}-${view.theme}-${view.language}`);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.context().close();
  }
});

test('a passkey is made, signs in, and is removed', async () => {
  const page = await signedIn();
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Work laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('Work laptop').waitFor();
  await screenshot(page, 'profile-passkey');
  await page.getByRole('button', { name: 'Ann' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.goto(`${named(house.gateway.consoleOrigin)}/profile`);
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('You have no passkey yet.').waitFor();
  await page.context().close();
});

test('an invitation by link makes a member, who sees no administration', async () => {
  const page = await signedIn({}, '/people');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByRole('dialog').getByLabel('For whom (optional)').fill('bob@example.com');
  await expectAccessible(page);
  await screenshot(page, 'invite');
  await page.getByRole('button', { name: 'Make the link' }).click();
  const link = (await page.locator('pre').first().textContent()) ?? '';
  await page.getByRole('button', { name: 'Done' }).click();
  await page.context().close();
  const guest = await house.openPage('anonymous', '/sign-in');
  await guest.goto(link);
  await guest.getByRole('heading', { name: 'You are invited' }).waitFor();
  await guest.getByLabel('Your name').fill('Bob');
  await guest.getByLabel('New password').fill(password);
  await guest.getByLabel('The same once more').fill(password);
  await screenshot(guest, 'invitation');
  await expectAccessible(guest);
  await guest.getByRole('button', { name: 'Accept and sign in' }).click();
  await guest.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(await guest.getByRole('link', { name: 'People' }).count()).toBe(0);
  await guest.goto(link);
  await guest.getByText('This invitation does nothing any more').waitFor();
  await guest.context().close();
});

test('a session that is ended elsewhere is over, and the page leads to sign-in', async () => {
  const here = await signedIn();
  const there = await signedIn();
  await here.reload();
  await settled(here);
  await here.getByRole('button', { name: 'End', exact: true }).first().click();
  await here.getByText('The session has ended.').waitFor();
  for (let left = 20; left > 0; left--) {
    const more = here.getByRole('button', { name: 'End', exact: true });
    if ((await more.count()) === 0) break;
    // The list may have been read anew since, without this one.
    await more
      .first()
      .click({ timeout: 1_000 })
      .catch(() => undefined);
    await here.waitForTimeout(150);
  }
  await expect
    .poll(async () =>
      (await there.request.get(`${named(house.gateway.consoleOrigin)}/api/v1/sessions`)).status(),
    )
    .toBe(401);
  await there.reload();
  await there.getByRole('heading', { name: 'Sign in' }).waitFor();
  await here.context().close();
  await there.context().close();
});

test('an authenticator app is set up from its picture, and its code is asked for at sign-in', async () => {
  const page = await signedIn();
  await page.getByRole('button', { name: 'Set up' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('img', { name: /Picture with the secret/ }).waitFor();
  await screenshot(page, 'totp');
  await expectAccessible(page);
  const secret = ((await dialog.locator('.font-mono').first().textContent()) ?? '').trim();
  await dialog.getByLabel('Code').fill(totpCode(secret, totpStep(Date.now())));
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Your recovery codes').waitFor();
  await screenshot(page, 'recovery-codes');
  await page.getByRole('button', { name: 'I have kept them' }).click();
  await page.getByText('10 recovery codes left').waitFor();
  await page.context().close();
  const again = await house.openPage('anonymous', '/sign-in', { language: 'zh' });
  await again.locator('input[autocomplete="username"]').fill('ann@example.com');
  await again.locator('input[type="password"]').fill(password);
  await again.keyboard.press('Enter');
  await again.getByRole('heading', { name: '还差一步' }).waitFor();
  await screenshot(again, 'second-factor-zh');
  await expectAccessible(again);
  await again.getByLabel('验证码').fill('000000');
  await again.keyboard.press('Enter');
  await again.getByText('验证码不正确或已使用过').waitFor();
  await again.getByLabel('验证码').fill(totpCode(secret, totpStep(Date.now()) + 1));
  await again.keyboard.press('Enter');
  await again.waitForURL('**/');
  await again.context().close();
});
