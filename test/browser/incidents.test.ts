import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot, settled, type View } from './support/house.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse();
  // The simulated history has two incidents.
  await vi.waitFor(
    async () => {
      const answer = await fetch(`${house.gateway.consoleOrigin}/status.json`);
      const { incidents } = (await answer.json()) as { readonly incidents: readonly unknown[] };
      expect(incidents).toHaveLength(2);
    },
    { timeout: 20_000, interval: 250 },
  );
});
afterAll(() => house[Symbol.asyncDispose]());

const views: readonly View[] = [
  { width: 1440, theme: 'light', language: 'en' },
  { width: 360, theme: 'dark', language: 'zh' },
];

test('an operator adds words and announces maintenance, and the public reads both', async () => {
  const page = await house.openPage('operator', '/incidents');
  await page.getByRole('button', { name: 'Add words' }).first().click();
  await page.getByLabel('English').fill('A <b>cable</b> was cut.');
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByText('A <b>cable</b> was cut.').waitFor();
  await page.getByRole('button', { name: 'Announce maintenance' }).click();
  await page.getByLabel('English').fill('Moving house');
  // Days apart, as the browser has a time zone of its own.
  const [starts, ends] = [new Date(Date.now() - 2 * 86_400_000), new Date(Date.now() + 2 * 86_400_000)];
  const local = (time: Date) =>
    new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  await page.getByLabel('Begins').fill(local(starts));
  await page.getByLabel('Ends').fill(local(ends));
  await page.getByLabel('Models and channels').fill('demo-fast');
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByText('Moving house').waitFor();
  const shown = async () => (await fetch(`${house.gateway.consoleOrigin}/status/en`)).text();
  await expect.poll(shown).toMatch(/Moving house[\s\S]*Operator: A &#60;b&#62;cable/);
  await page.context().close();
});

test.each(views)('the page is clean at $width px, $theme, $language', async (view) => {
  const page = await house.openPage('operator', '/incidents', view);
  await settled(page);
  await screenshot(page, `incidents-${view.width}-${view.theme}-${view.language}`);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.context().close();
});

test.each(views)('the public page is clean at $width px, $theme, $language', async (view) => {
  const page = await house.openPage('anonymous', `/status/${view.language ?? 'en'}`, view);
  // The chart of the first row and its days in words, by the keyboard alone.
  const row = page.locator('article', { has: page.locator('.days') }).first();
  for (const summary of await row.locator('summary').all()) {
    await summary.focus();
    await page.keyboard.press('Enter');
  }
  expect(await row.locator('.days li').first().isVisible()).toBe(true);
  await screenshot(page, `status-${view.width}-${view.theme}-${view.language}`);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.context().close();
});
