import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot, settled, type View } from './support/house.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse({ 'demo-history': 'false', 'attempts-max': '4' });
});
afterAll(() => house[Symbol.asyncDispose]());

/** The row of a setting, by its name in the file. */
const rowOf = (page: Page, name: string) =>
  page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });

async function edit(page: Page, name: string) {
  await page.getByRole('button', { name: `Change ${name}`, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  return dialog;
}

test('a setting is changed, by keyboard, and is in force on the page at once', async () => {
  const page = await house.openPage('operator', '/settings');
  const dialog = await edit(page, 'deployment.name');
  await dialog.getByLabel('Value').fill('House of Gates');
  await expectAccessible(page);
  await screenshot(page, 'settings-edit');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  const row = rowOf(page, 'deployment.name');
  await row.getByText('House of Gates').waitFor();
  await row.getByText('set here').waitFor();
  expect(await page.getByText('House of Gates').count()).toBeGreaterThan(1);
  const again = await edit(page, 'deployment.name');
  expect(await again.getByLabel('Value').inputValue()).toBe('House of Gates');
  await again.getByRole('button', { name: 'Reset to default' }).click();
  await again.waitFor({ state: 'detached' });
  await row.getByText('default').waitFor();
  await page.context().close();
}, 60_000);

test('a value that is not taken is said at its field, and nothing is changed', async () => {
  const page = await house.openPage('operator', '/settings?find=stall');
  const dialog = await edit(page, 'settings.timeouts.stall');
  await dialog.getByLabel('Value').fill('for ever');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'is not a duration' }).waitFor();
  await expectAccessible(page);
  await screenshot(page, 'settings-error');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await rowOf(page, 'settings.timeouts.stall').getByText('60s').count()).toBe(1);
  await page.context().close();
}, 60_000);

test('a change that takes a start waits for one, and is told of until then', async () => {
  const page = await house.openPage('operator', '/settings');
  const dialog = await edit(page, 'settings.timeouts.stall');
  await dialog.getByLabel('Value').fill('45s');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('1 change waits for a restart.').waitFor();
  const row = rowOf(page, 'settings.timeouts.stall');
  await row.getByText('after a restart').waitFor();
  expect(await row.getByText('45s').count()).toBe(1);
  expect(await row.getByText('60s').count()).toBe(1);
  const siblings = await edit(page, 'deployment.siblings');
  await siblings.getByRole('button', { name: 'Add a deployment' }).click();
  await siblings.getByLabel('Name').fill('A deployment with quite a long name in another country');
  await siblings.getByLabel('Origin of its console').fill('console.example.cn');
  await siblings.getByRole('button', { name: 'Save' }).click();
  await siblings.getByText('Deployment 1, Origin of its console: must be an origin').waitFor();
  await siblings.getByLabel('Origin of its console').fill('https://console.example.cn');
  await siblings.getByLabel('Language').selectOption('zh-CN');
  await expectAccessible(page);
  await screenshot(page, 'settings-siblings');
  await siblings.getByRole('button', { name: 'Save' }).click();
  await siblings.waitFor({ state: 'detached' });
  await rowOf(page, 'deployment.siblings').getByText('another country').waitFor();
  await page.context().close();
}, 60_000);

test('what is declared, and what the console never changes, is read-only and says why', async () => {
  const page = await house.openPage('operator', '/settings');
  const declared = rowOf(page, 'settings.limits.attempts');
  await declared.getByText('Declared at --attempts-max: change it there.').waitFor();
  const fixed = rowOf(page, 'settings.status.directory');
  await fixed.getByText('It names a place on the machine.').waitFor();
  for (const row of [declared, fixed]) {
    await row.getByText('read-only').waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
  }
  await page.context().close();
}, 60_000);

test('a value of another version is told of, and taken away', async () => {
  const strange = [{ name: 'ofTomorrow', text: 'x', sealed: null, changedAtMs: 1 }];
  await house.gateway.store.configuration.putSettings(strange, []);
  const page = await house.openPage('operator', '/settings');
  const notice = page.getByRole('alert').filter({ hasText: 'ofTomorrow was set here' });
  const look = async () => {
    await page.reload();
    await settled(page);
    return notice.count();
  };
  await expect.poll(look, { timeout: 20_000, interval: 300 }).toBe(1);
  await notice.getByRole('button', { name: 'Remove' }).click();
  await notice.waitFor({ state: 'detached' });
  await page.context().close();
}, 60_000);

/** The page itself is looked at by people.test.ts, and in English and light above. */
const views: readonly View[] = [
  { width: 1440, theme: 'dark', language: 'en' },
  { width: 360, theme: 'dark', language: 'zh' },
];

test.each(views)(
  'the dialog is clean in $language, $theme, $width px',
  async (view) => {
    const page = await house.openPage('operator', '/settings', view);
    await page.getByRole('button', { name: /deployment\.siblings$/ }).click();
    await page.getByRole('dialog').waitFor();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await screenshot(page, `settings-dialog-${view.language}-${view.theme}-${view.width}`);
    await page.context().close();
  },
  60_000,
);
