import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type House, openHouse, settled } from './support/house.ts';

/**
 * The pictures of docs/console.md and docs/administration.md. `HEADGATE_TEST_PICTURES=docs/images npm run test:browser -- pictures` renews
 * them; otherwise they are made to see that they still can be.
 */
const folder = process.env['HEADGATE_TEST_PICTURES'] ?? join(tmpdir(), 'headgate-pictures');
const bytesMax = 60_000;

let house: House;
beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  house = await openHouse();
  await makeChanges();
}, 60_000);
afterAll(() => house[Symbol.asyncDispose]());

/** Something for the audit to tell of. */
async function makeChanges(): Promise<void> {
  const token = readFileSync(join(house.dataDir, 'operator-token'), 'utf8').trim();
  const ask = async (method: string, path: string, body: object) => {
    const answer = await fetch(`${house.gateway.consoleOrigin}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
  };
  await ask('POST', '/accounts', { id: 'research', name: 'Research' });
  await ask('PATCH', '/accounts/research', { budgets: { month: '250' } });
  await ask('POST', '/accounts/research/credit', { amount: '100', reason: 'Paid by invoice 2026-118' });
  await ask('POST', '/invitations', { account: 'research', role: 'admin', email: 'grace@example.com' });
}

test.each([
  ['member', '/keys', 'keys', 560],
  ['member', '/ledger', 'ledger', 480],
  ['member', '/profile', 'profile', 600],
  ['operator', '/channels', 'channels', 560],
  ['operator', '/people', 'people', 420],
  ['operator', '/audit', 'audit', 480],
  ['operator', '/settings', 'settings', 420],
] as const)('as %s, a small picture of %s', async (role, path, name, height) => {
  const page = await house.openPage(role, path, { width: 1000, height, theme: 'light', language: 'en' });
  await settled(page);
  await page.locator('main').waitFor();
  const file = join(folder, `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
  expect(statSync(file).size).toBeLessThan(bytesMax);
  await page.context().close();
});
