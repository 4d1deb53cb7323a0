import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type House, openHouse, settled } from './support/house.ts';

/**
 * The pictures of README.md, docs/console.md and docs/administration.md but those of the first run.
 * `HEADGATE_TEST_PICTURES=docs/images npm run test:browser -- pictures` renews them; otherwise they are made to see that they still can be.
 */
const folder = process.env['HEADGATE_TEST_PICTURES'] ?? join(tmpdir(), 'headgate-pictures');
const small = { width: 1000, theme: 'light', language: 'en', bytesMax: 60_000 } as const;
const large = { ...small, width: 1280, height: 900, bytesMax: 130_000 } as const;

let house: House;
beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  house = await openHouse();
  await Promise.all([makeChanges(), makeCalls()]);
}, 60_000);
afterAll(() => house[Symbol.asyncDispose]());

function ask(method: string, path: string, body?: object): Promise<Response> {
  const token = readFileSync(join(house.dataDir, 'operator-token'), 'utf8').trim();
  return fetch(`${house.gateway.consoleOrigin}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

/** Something for the audit to tell of. */
async function makeChanges(): Promise<void> {
  const change = async (method: string, path: string, body: object) => {
    const answer = await ask(method, path, body);
    if (!answer.ok) throw new Error(await answer.text());
  };
  await change('POST', '/accounts', { id: 'research', name: 'Research' });
  await change('PATCH', '/accounts/research', { budgets: { month: '250' } });
  await change('POST', '/accounts/research/credit', { amount: '100', reason: 'Paid by invoice 2026-118' });
  await change('POST', '/invitations', { account: 'research', role: 'admin', email: 'grace@example.com' });
}

/** Calls of now, so that channels have something to say of this minute; the history is older. */
async function makeCalls(): Promise<void> {
  const { selfConfiguration, apiOrigin } = house.gateway;
  const key = selfConfiguration.kind === 'demo' ? selfConfiguration.keys.completions : '';
  const call = async (at: number) => {
    const answer = await fetch(`${apiOrigin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: at % 3 === 0 ? 'demo-smart' : 'demo-fast',
        messages: [{ role: 'user', content: 'What does a gateway do?' }],
        stream: true,
      }),
    });
    await answer.text();
  };
  await Promise.all(Array.from({ length: 24 }, (_, at) => call(at)));
}

interface Listed {
  readonly items: readonly { readonly traceId: string; readonly attempts: number }[];
  readonly next: string | null;
}

/** A call that one channel failed and another answered. */
async function savedCall(): Promise<string> {
  for (let cursor = ''; ; ) {
    const answer = await ask('GET', `/calls?limit=200${cursor}`);
    const { items, next } = (await answer.json()) as Listed; // The console's own API says so.
    const saved = items.find(({ attempts }) => attempts > 1);
    if (saved !== undefined) return saved.traceId;
    if (next === null) throw new Error('no channel failed in two weeks');
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}

async function keepPicture(page: Page, name: string, bytesMax: number): Promise<void> {
  await settled(page);
  await page.locator('main').waitFor();
  const file = join(folder, `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
  expect(statSync(file).size).toBeLessThan(bytesMax);
  await page.context().close();
}

test.each([
  ['member', '/keys', 'keys', { ...small, height: 560 }],
  ['member', '/ledger', 'ledger', { ...small, height: 480 }],
  ['member', '/profile', 'profile', { ...small, height: 600 }],
  ['operator', '/channels', 'channels', { ...small, height: 420 }],
  ['operator', '/people', 'people', { ...small, height: 420 }],
  ['operator', '/audit', 'audit', { ...small, height: 480 }],
  ['operator', '/settings', 'settings', { ...small, height: 420 }],
  ['anonymous', '/status/en', 'status', large],
] as const)('as %s, a small picture of %s', async (role, path, name, view) => {
  await keepPicture(await house.openPage(role, path, view), name, view.bytesMax);
});

test('a small picture of the overview, once this second is there', async () => {
  const page = await house.openPage('operator', '/', large);
  await page.getByText('open calls').waitFor();
  await keepPicture(page, 'overview', large.bytesMax);
});

test('a small picture of the page of a call', async () => {
  const page = await house.openPage('operator', `/calls/${await savedCall()}`, { ...large, theme: 'dark' });
  await keepPicture(page, 'call', large.bytesMax);
});
