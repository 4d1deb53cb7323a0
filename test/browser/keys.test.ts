import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleKey } from '../../packages/gateway/src/store/contract/samples.ts';
import { expectAccessible } from './support/accessible.ts';
import { type House, openHouse, screenshot } from './support/house.ts';

let house: House;
const demoGroup = 'demo-completions';

function demoKey(): string {
  const { selfConfiguration } = house.gateway;
  return selfConfiguration.kind === 'demo' ? selfConfiguration.keys.completions : '';
}

beforeAll(async () => {
  house = await openHouse();
  const { configuration } = house.gateway.store;
  for (const [id, name] of [
    ['long', `A key of a team whose name is far longer than any column ${'x'.repeat(120)}`],
    ['hostile', '<img src=x onerror=alert(1)> =1+1'],
  ] as const)
    await configuration.insertKey(
      { ...sampleKey(id), name, accountId: 'demo', groupId: demoGroup, limits: null },
      Date.now(),
    );
});
afterAll(() => house[Symbol.asyncDispose]());

test('a key is made, shown once with snippets, used in the playground, rotated and revoked', async () => {
  const page = await house.openPage('member', '/keys');
  await page.getByRole('button', { name: 'New key' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('From the console');
  await page.getByLabel('A day').fill('2.5');
  await screenshot(page, 'keys-form');
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'New key' }).click();
  const secret = await page.locator('[data-secret]').textContent();
  expect(secret).toMatch(/^sk-/);
  expect(await page.getByRole('dialog').textContent()).toContain(new URL(house.gateway.apiOrigin).origin);
  await screenshot(page, 'keys-secret');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'I have copied it' }).click();
  expect(await page.content()).not.toContain(secret ?? 'none');
  await page.getByRole('link', { name: 'From the console' }).click();
  await page.getByRole('button', { name: 'Rotate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  await page.locator('[data-secret]').waitFor();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByText('Retiring').first().waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('From the console');
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('Revoked').first().waitFor();
  await page.context().close();
});

test('the playground makes a key by one click, streams, and tells trace, tokens and charge', async () => {
  const page = await house.openPage('member', '/playground');
  await page.getByRole('button', { name: 'Make a key for a day' }).click();
  await page.getByText('Calls go with').waitFor();
  // The gateway takes a new key up within a second.
  await page.waitForTimeout(1_500);
  await page.getByLabel('Prompt', { exact: true }).fill('Say hello.');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('[data-trace]').waitFor();
  expect(await page.locator('[data-answer]').textContent()).not.toBe('');
  expect(await page.locator('[data-trace]').textContent()).toMatch(/^[0-9a-f]{32}$/);
  await page.getByText(/\$0/).first().waitFor();
  await screenshot(page, 'playground-answer');
  await expectAccessible(page);
  await page.context().close();
});

test('anybody sees the usage of a key that they paste, and a refusal in the words of the API', async () => {
  const page = await house.openPage('anonymous', '/usage');
  await page.getByLabel('Key', { exact: true }).fill('sk-wrong');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByText('The API refuses this key').waitFor();
  await page.getByLabel('Key', { exact: true }).fill(demoKey());
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByText('Charges of 30 days').first().waitFor();
  await screenshot(page, 'usage-of-key');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Forget the key' }).click();
  await page.getByRole('button', { name: 'Show' }).waitFor();
  await page.context().close();
});

test('a viewer makes and changes nothing, a stranger sees nothing', async () => {
  const viewer = await house.openPage('viewer', '/keys');
  expect(await viewer.getByRole('button', { name: 'New key' }).count()).toBe(0);
  expect(await viewer.getByRole('link', { name: /A key of a team/ }).count()).toBe(1);
  await viewer.context().close();
  const stranger = await house.openPage('stranger', '/keys');
  await stranger.getByText('No keys yet').waitFor();
  await screenshot(stranger, 'keys-empty');
  await expectAccessible(stranger);
  await stranger.goto(`${house.gateway.consoleOrigin}/keys/long`);
  await stranger.getByText('There is no such thing').waitFor();
  await screenshot(stranger, 'key-missing');
  await stranger.context().close();
});
