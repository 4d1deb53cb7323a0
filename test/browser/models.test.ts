import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot, settled, type View } from './support/house.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());

const views: readonly View[] = [
  { width: 1440, theme: 'light', language: 'en' },
  { width: 1440, theme: 'dark', language: 'zh' },
  { width: 360, theme: 'dark', language: 'en' },
  { width: 360, theme: 'light', language: 'zh' },
];

async function look(page: Page, name: string, { width, theme, language }: View): Promise<void> {
  await settled(page);
  await screenshot(page, `${name}-${width}-${theme}-${language}`);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
}

test('a price is previewed, set for a day, and taken back', async () => {
  const page = await house.openPage('operator', '/models/demo-fast');
  await page.getByRole('button', { name: 'Set a price' }).click();
  await page.getByLabel('Input', { exact: false }).first().fill('0.5');
  await page.getByLabel('Begins').fill('2099-01-01');
  await page.getByRole('button', { name: 'Show what changes' }).click();
  await page.getByRole('table', { name: 'What changes' }).getByText(/2099/).first().waitFor();
  await screenshot(page, 'set-price');
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Set the price' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Take back what was set' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Take back what was set' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => page.getByRole('button', { name: 'Take back what was set' }).count()).toBe(0);
  await page.context().close();
});

test('prices come from a file: its mistakes have their lines, what changes is shown first', async () => {
  const page = await house.openPage('operator', '/models');
  await page.getByRole('button', { name: 'Import prices' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Its text').fill('prices:\n  demo-fst: { input: 1, output: 2 }');
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await dialog.getByText(/did you mean "demo-fast"/).waitFor();
  await screenshot(page, 'import-prices-wrong');
  await expectAccessible(page);
  await dialog
    .getByLabel('Its text')
    .fill(
      'prices:\n  demo-fast:\n    - { from: 2099-01-01, input: 7, output: 9, tiers: [{ aboveInputTokens: 200000, input: 8, output: 10 }] }',
    );
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await dialog.getByRole('table', { name: 'What changes' }).waitFor();
  await screenshot(page, 'import-prices');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Set these prices' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('changes later').waitFor();
  await page.getByRole('button', { name: 'Import prices' }).click();
  await dialog.getByRole('button', { name: 'From the catalogue' }).click();
  await dialog.getByRole('checkbox', { name: 'Only those without a price' }).uncheck();
  await dialog.getByRole('checkbox', { name: 'demo-fast' }).check();
  await dialog.getByRole('button', { name: 'Show what changes' }).click();
  await dialog.getByText(/no list price/).waitFor();
  await screenshot(page, 'import-prices-list');
  await expectAccessible(page);
  await page.context().close();
});

test('a dry run says which key is missing, and shows the plan of one that is there', async () => {
  const page = await house.openPage('operator', '/routing');
  await page.getByLabel('Key').fill('nobody');
  await page.getByLabel('Model').fill('demo-fast');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.getByText('there is no key "nobody"').first().waitFor();
  const [key] = [...house.gateway.catalogue.current.keys.values()].map(({ caller }) => caller.keyId);
  await page.getByLabel('Key').fill(key ?? '');
  await page.getByRole('button', { name: 'Show the plan' }).click();
  await page.getByRole('heading', { name: 'Candidates' }).waitFor();
  await screenshot(page, 'routing-plan');
  await expectAccessible(page);
  await page.context().close();
});

test.each(views)(
  'models, their prices and routing are clean at $width px, $theme, $language',
  async (view) => {
    const page = await house.openPage('operator', '/models', view);
    await look(page, 'models', view);
    for (const [path, name] of [
      ['/models/demo-fast', 'model'],
      ['/models?search=nothing-is-called-so', 'models-none'],
      ['/models/not-there', 'model-not-there'],
      ['/routing', 'routing'],
    ] as const) {
      await page.goto(`${house.gateway.consoleOrigin}${path}`);
      await look(page, name, view);
    }
    await page.context().close();
  },
);
