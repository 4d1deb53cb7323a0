import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot } from './support/house.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());

test('the palette goes to a page by keyboard alone, and comes back to where it was', async () => {
  const page = await house.openPage('operator', '/nowhere');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await expectAccessible(page);
  await page.goto(`${house.gateway.consoleOrigin}/`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('over');
  await expectAccessible(page);
  await screenshot(page, 'palette');
  await page.keyboard.press('Enter');
  await page.getByRole('combobox').waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('combobox').waitFor({ state: 'detached' });
  await page.context().close();
});

test('a theme and a language that are chosen hold in this tab after a reload', async () => {
  const page = await house.openPage('member', '/', { theme: 'dark' });
  await page.getByRole('button', { name: 'A member' }).click();
  await screenshot(page, 'person-menu');
  await expectAccessible(page);
  await page.getByRole('menuitemradio', { name: 'Light' }).click();
  await page.getByRole('button', { name: 'A member' }).click();
  await page.getByRole('menuitemradio', { name: '简体中文' }).click();
  await page.reload();
  await page.getByRole('heading', { name: '总览' }).waitFor();
  const root = page.locator('html');
  expect(await root.getAttribute('data-theme')).toBe('light');
  expect(await root.getAttribute('lang')).toBe('zh-Hans');
  await page.context().close();
});

test('a narrow window has the navigation behind a button, and going to a page closes it', async () => {
  const page = await house.openPage('viewer', '/', { width: 360 });
  await page.getByRole('button', { name: 'Open the navigation' }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).waitFor();
  await screenshot(page, 'navigation-360');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.keyboard.press('Escape');
  await page.getByRole('navigation').waitFor({ state: 'detached' });
  await page.context().close();
});

test('who is offline is told, and told no more once the network is back', async () => {
  const page = await house.openPage('viewer', '/');
  await page.context().setOffline(true);
  await page.getByRole('alert').filter({ hasText: 'You are offline' }).waitFor();
  await screenshot(page, 'offline');
  await expectAccessible(page);
  await page.context().setOffline(false);
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await page.context().close();
});
