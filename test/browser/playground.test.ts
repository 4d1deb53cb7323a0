import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot } from './support/house.ts';
import { openUpstream, type Upstream } from './support/upstream.ts';

let house: House;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await openUpstream();
  house = await openHouse({ 'demo-history': 'false' });
  const made = await fetch(`${house.gateway.consoleOrigin}/api/v1/channels`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${readFileSync(join(house.dataDir, 'operator-token'), 'utf8').trim()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      ...{ id: 'mine', provider: 'openai', baseUrl: upstream.baseUrl, allowPrivate: true },
      ...{ secret: upstream.key, models: ['gpt-5-mini'] },
    }),
  });
  expect(made.status, await made.text()).toBe(201);
});
afterAll(async () => {
  await house[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

function demoKey(platform: 'completions' | 'messages' | 'native'): string {
  const { selfConfiguration } = house.gateway;
  return selfConfiguration.kind === 'demo' ? selfConfiguration.keys[platform] : '';
}

async function useKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('Or paste one').fill(key);
  await page.getByRole('button', { name: 'Use it' }).click();
  await page.getByText('Calls go with').waitFor();
}

async function choose(page: Page, label: string, model: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).fill(model);
  await page.getByRole('option', { name: model, exact: true }).click();
}

async function ask(page: Page, prompt: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill(prompt);
  await page.getByRole('button', { name: 'Send' }).click();
}

const surfaces = [
  ['Chat completions', 'completions', '/v1/chat/completions', '"max_completion_tokens": 900'],
  ['Responses', 'completions', '/v1/responses', '"max_output_tokens": 900'],
  ['Messages', 'messages', '/v1/messages', '"stop_sequences"'],
  ['Generate content', 'native', ':streamGenerateContent?alt=sse', '"maxOutputTokens": 900'],
] as const;

test.each(surfaces)(
  '%s streams an answer, and tells trace, charge and the call as code',
  async (...surface) => {
    const [label, platform, path, parameter] = surface;
    const page = await house.openPage('member', '/playground');
    await page.getByRole('combobox', { name: 'Surface' }).selectOption(label);
    await useKey(page, demoKey(platform));
    await page.getByLabel('Max. tokens').fill('900');
    await page.getByLabel('Temperature').fill('0,5');
    await page.getByText('More parameters').click();
    if (label !== 'Responses') await page.getByLabel('Stop before').fill('never said');
    await page.getByLabel('Other members of the body').fill('{ "metadata": { "from": "it\'s here" } }');
    await ask(page, 'Say hello.');
    await page.locator('[data-trace]').waitFor();
    expect(await page.locator('[data-answer]').textContent()).toMatch(/hello/i);
    expect(await page.locator('[data-trace]').textContent()).toMatch(/^[0-9a-f]{32}$/);
    await page
      .getByText(/\$0\.0/)
      .first()
      .waitFor();
    for (const language of ['curl', 'JavaScript', 'Python']) {
      await page.getByRole('button', { name: language, exact: true }).click();
      expect(await page.locator('pre').last().textContent()).toContain(path);
    }
    await page.getByRole('button', { name: 'Body', exact: true }).click();
    const body = await page.locator('pre').last().textContent();
    for (const part of [parameter, "it's here", '0.5', 'Say hello.']) expect(body).toContain(part);
    await ask(page, 'And again.');
    await expect.poll(() => page.locator('pre').last().textContent()).toContain('And again.');
    // The whole conversation is sent, so the whole of it is shown.
    expect(await page.locator('pre').last().textContent()).toContain('Say hello.');
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await screenshot(page, `playground-${platform}`);
    await expectAccessible(page);
    await page.context().close();
  },
);

test('what cannot be sent is said at its field', async () => {
  const page = await house.openPage('member', '/playground', { width: 360, theme: 'dark' });
  await useKey(page, demoKey('completions'));
  await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('Say hello.');
  await page.getByLabel('Temperature').fill('warm');
  await page.getByText('Not a number').waitFor();
  await page.getByText('More parameters').click();
  await page.getByLabel('Other members of the body').fill('[1]');
  await page.getByText('Not a JSON object').waitFor();
  expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  await screenshot(page, 'playground-mistakes');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.getByLabel('Temperature').fill('1');
  await page.getByLabel('Other members of the body').fill('');
  expect(await page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true);
  await page.context().close();
});

test('two models answer side by side, each with its own trace, charge and code', async () => {
  const page = await house.openPage('member', '/playground');
  await useKey(page, demoKey('completions'));
  await choose(page, 'Beside it', 'gpt-5-mini');
  await ask(page, 'Say 20 words.');
  await expect.poll(() => page.locator('[data-trace]').count()).toBe(2);
  const traces = await page.locator('[data-trace]').allTextContents();
  expect(new Set(traces).size).toBe(2);
  expect(
    await page
      .getByRole('region', { name: /gpt-5-mini/ })
      .locator('[data-answer]')
      .textContent(),
  ).toContain('word20');
  await page.getByRole('button', { name: 'gpt-5-mini', exact: true }).click();
  expect(await page.locator('pre').last().textContent()).toContain('gpt-5-mini');
  await screenshot(page, 'playground-two');
  await expectAccessible(page);
  await page.context().close();
});

test('an answer that is stopped stays as far as it came, and the conversation goes on', async () => {
  const page = await house.openPage('member', '/playground');
  await useKey(page, demoKey('completions'));
  await choose(page, 'Model', 'gpt-5-mini');
  await ask(page, 'Say 99 words.');
  await page.locator('[data-answer]').filter({ hasText: 'word5' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('You stopped it.').waitFor();
  expect(await page.locator('[data-answer]').textContent()).not.toContain('word99');
  await screenshot(page, 'playground-stopped');
  await expectAccessible(page);
  await ask(page, 'Say 3 words.');
  await page.locator('[data-answer]').filter({ hasText: 'word3' }).waitFor();
  await page.context().close();
});

describe('a long answer', () => {
  const words = 60_000;
  const gapMsMax = 1_500;

  test('leaves the page free while it comes, and is there whole', async () => {
    const page = await house.openPage('member', '/playground');
    await useKey(page, demoKey('completions'));
    await choose(page, 'Model', 'gpt-5-mini');
    await page.evaluate(`
      globalThis.longestGapMs = 0;
      let before = performance.now();
      setInterval(() => {
        const now = performance.now();
        globalThis.longestGapMs = Math.max(globalThis.longestGapMs, now - before);
        before = now;
      }, 10);
    `);
    await ask(page, `Say ${words} words.`);
    // Somebody types the next prompt meanwhile.
    await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('The next one');
    await page.locator('[data-trace]').waitFor();
    expect(await page.locator('[data-answer]').textContent()).toContain(`word${words}`);
    expect(await page.evaluate('globalThis.longestGapMs')).toBeLessThan(gapMsMax);
    await page.context().close();
  });
});

test('a key that is not known is told with what helps', async () => {
  const page = await house.openPage('member', '/playground');
  await useKey(page, 'sk-unknown');
  await ask(page, 'Say hello.');
  await page.getByText('Refused with 401').waitFor();
  await page.getByText('The key is not known').waitFor();
  await screenshot(page, 'playground-refused');
  await expectAccessible(page);
  await page.context().close();
});

test('a parameter that the API does not take is told in its words', async () => {
  const page = await house.openPage('member', '/playground', { width: 360, theme: 'dark' });
  await useKey(page, demoKey('completions'));
  await page.getByText('More parameters').click();
  await page.getByLabel('Other members of the body').fill('{ "messages": "none" }');
  await ask(page, 'Say hello.');
  await page.getByText('Refused with 400').waitFor();
  await page.getByText('Look at the member that it names').waitFor();
  await screenshot(page, 'playground-refused-400');
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.context().close();
});
