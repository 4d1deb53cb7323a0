import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ServingProcess, serveHeadgate, temporaryDirectory } from '../support/process.ts';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { words } from './support/first-run-words.ts';
import { openHouse, openWindow, screenshot, settled, type View, type Window } from './support/house.ts';
import { press, tabTo, typeInto } from './support/keyboard.ts';
import { openUpstream, type Upstream } from './support/upstream.ts';

vi.setConfig({ testTimeout: 150_000, hookTimeout: 60_000 });

const password = 'a sentence that is long enough';
const walkMsMax = 60_000;

let upstream: Upstream;
let browser: Window;
beforeAll(async () => {
  upstream = await openUpstream();
  browser = await openWindow();
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const { en } = words;

/** Two ways of using a page: what a hand does with each. */
const hands = {
  mouse: {
    type: (_: Page, field: Locator, text: string) => field.fill(text),
    press: (_: Page, button: Locator) => button.click(),
  },
  keyboard: { type: typeInto, press },
} as const;

interface Walk {
  readonly page: Page;
  readonly hand: (typeof hands)[keyof typeof hands];
  readonly text: (typeof words)[keyof typeof words];
  /** Looks at a step as a demanding designer and axe would; the time that it takes is nobody's who uses the page. */
  look(name: string): Promise<void>;
}

/** Walks from the link that a start prints to the row in the ledger, and expects it to take less than a minute. */
async function walk(
  serving: ServingProcess,
  name: string,
  { hand, language, ...view }: View & { readonly hand: keyof typeof hands; readonly language: 'en' | 'zh' },
  makeChannel: (walk: Walk) => Promise<void>,
): Promise<void> {
  const [, link = ''] = /Console\s+(\S+\/setup#\S+)/.exec(serving.process.stdout) ?? [];
  expect(link).not.toBe('');
  const page = await browser.openPage(link, { ...view, language });
  const begunAt = performance.now();
  let lookedMs = 0;
  const text = words[language];
  const walked: Walk = {
    ...{ page, text, hand: hands[hand] },
    look: async (step) => {
      const lookedAt = performance.now();
      await screenshot(page, `first-run-${name}-${step}`);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      lookedMs += performance.now() - lookedAt;
    },
  };
  await makeOperator(walked);
  await makeChannel(walked);
  await makeKey(walked);
  await makeCall(walked);
  expect(performance.now() - begunAt - lookedMs, 'milliseconds of interaction').toBeLessThan(walkMsMax);
  await page.context().close();
}

async function makeOperator({ page, hand, text, look }: Walk): Promise<void> {
  await page.getByLabel(text.name, { exact: true }).waitFor();
  // The token is in no address that could be copied or kept.
  expect(page.url()).toMatch(/\/setup$/);
  await look('1-operator');
  await hand.type(page, page.getByLabel(text.name, { exact: true }), 'Ann');
  await hand.type(page, page.getByLabel(text.login), 'ann@example.com');
  await hand.type(page, page.getByLabel(text.password, { exact: true }), 'short');
  await hand.press(page, page.getByRole('button', { name: text.continue }));
  await page.getByText(text.short.replace('{{missing}}', '5')).waitFor();
  await hand.type(page, page.getByLabel(text.password, { exact: true }), password);
  await hand.type(page, page.getByLabel(text.repeat), password);
  await hand.press(page, page.getByRole('button', { name: text.continue }));
  await expectStep(page, text.stepChannel);
}

/** The step is open, and whoever uses the keyboard or a reader of the screen is at its heading. */
async function expectStep(page: Page, title: string): Promise<void> {
  const heading = page.getByRole('heading', { level: 2, name: title });
  await page.locator('[aria-current="step"]').filter({ has: heading }).waitFor();
  await expect.poll(() => heading.and(page.locator(':focus')).count()).toBe(1);
}

async function useSimulated({ page, hand, text, look }: Walk): Promise<void> {
  await page.getByRole('button', { name: 'OpenAI', exact: false }).first().waitFor();
  await look('2-channel');
  await hand.press(page, page.getByRole('button', { name: text.useSimulated }));
}

/** A channel of a preset at an address of its own: each of its mistakes says how it is mended. */
async function makeRealChannel({ page, hand, text, look }: Walk): Promise<void> {
  const test = page.getByRole('button', { name: text.testConnection });
  await hand.type(page, page.getByRole('searchbox'), 'openai');
  await look('2-channel');
  await hand.press(page, page.getByRole('button', { name: /^OpenAI api\.openai\.com/ }));
  await hand.type(page, page.locator('input[name="baseUrl"]'), 'http://127.0.0.1:9/v1');
  await hand.type(page, page.locator('input[name="secret"]'), 'sk-wrong');
  const mayBePrivate = page.getByRole('switch');
  await tabTo(page, mayBePrivate);
  await page.keyboard.press('Space');
  await hand.press(page, test);
  await page.getByText(/Nobody listens there|那里没有服务在监听/).waitFor();
  await look('2-unreachable');
  await hand.type(page, page.locator('input[name="baseUrl"]'), upstream.baseUrl.replace('/v1', '/v2'));
  await hand.type(page, page.locator('input[name="secret"]'), upstream.key);
  await hand.press(page, test);
  await page.getByText(/The address is not known there|那里没有这个地址/).waitFor();
  await hand.type(page, page.locator('input[name="baseUrl"]'), upstream.baseUrl);
  await hand.type(page, page.locator('input[name="secret"]'), 'sk-wrong');
  await hand.press(page, test);
  await page.getByText(/The credential is refused|凭证被拒绝/).waitFor();
  await look('2-refused');
  await hand.type(page, page.locator('input[name="secret"]'), upstream.key);
  await hand.press(page, test);
  await page.getByText(text.works, { exact: true }).waitFor();
  // Those whose price is known are chosen at once; the other one is too, and has none yet.
  expect(await page.getByRole('checkbox', { name: 'gpt-5-mini' }).isChecked()).toBe(true);
  const unpriced = page.getByRole('checkbox', { name: 'house-model' });
  expect(await unpriced.isChecked()).toBe(false);
  await tabTo(page, unpriced);
  await page.keyboard.press('Space');
  await look('2-models');
  await hand.press(page, page.getByRole('button', { name: text.makeChannel }));
  await page.getByText(text.pricesTitle).waitFor();
  await look('2-prices');
  const priceOf = (side: 'input' | 'output') =>
    page.getByLabel(
      (side === 'input' ? text.priceInputOf : text.priceOutputOf).replace('{{model}}', 'house-model'),
    );
  await hand.type(page, priceOf('input'), '1.25');
  await hand.type(page, priceOf('output'), '10');
  await hand.press(page, page.getByRole('button', { name: text.setPrices }));
}

async function makeKey({ page, hand, text, look }: Walk): Promise<void> {
  await expectStep(page, text.stepKey);
  await look('3-key');
  await hand.press(page, page.getByRole('button', { name: text.makeKey }));
  const secret = await page.locator('[data-secret]').textContent();
  expect(secret).toMatch(/^sk-/);
  await look('3-secret');
  await hand.press(page, page.getByRole('button', { name: text.toCall }));
  await expectStep(page, text.stepCall);
  expect(await page.content()).not.toContain(secret ?? 'none');
}

async function makeCall({ page, hand, text, look }: Walk): Promise<void> {
  await hand.press(page, page.getByRole('button', { name: text.send }));
  const trace = page.locator('[data-trace]');
  await trace.waitFor();
  const traceId = (await trace.textContent()) ?? '';
  expect(await page.locator('[data-answer]').textContent()).not.toBe('');
  await page
    .getByText(/\$0\.0/)
    .first()
    .waitFor();
  await look('4-answer');
  await hand.press(page, page.getByRole('link', { name: text.toLedger }));
  await page.waitForURL(`**/ledger?trace=${traceId}`);
  await page.locator(`tbody a[href*="${traceId}"]`).first().waitFor();
}

describe('from the link that a start prints to a streamed answer and its row in the ledger', () => {
  const cases = [
    ['demo-mouse', { hand: 'mouse', language: 'en' }, true],
    ['demo-keyboard', { hand: 'keyboard', language: 'zh', theme: 'dark', width: 360 }, true],
    ['real-keyboard', { hand: 'keyboard', language: 'en', theme: 'dark' }, false],
    ['real-mouse', { hand: 'mouse', language: 'zh', width: 360 }, false],
  ] as const;
  test.each(cases)('%s', async (name, view, isDemo) => {
    using directory = temporaryDirectory();
    await using serving = await serveHeadgate({
      dataDir: directory.path,
      environment: isDemo ? {} : { HEADGATE_DEMO: 'false' },
    });
    await walk(serving, name, view, isDemo ? useSimulated : makeRealChannel);
  });
});

test('it goes on where it was left, and says what is done', async () => {
  await using house = await openHouse({ 'demo-history': 'false' });
  const token = house.gateway.setUpToken ?? '';
  const page = await house.openPage('anonymous', `/setup#${token}`);
  await page.getByLabel(en.name, { exact: true }).fill('Ann');
  await page.getByLabel(en.login).fill('ann');
  await page.getByLabel(en.password, { exact: true }).fill(password);
  await page.getByLabel(en.repeat).fill(password);
  await page.keyboard.press('Enter');
  await expectStep(page, en.stepChannel);
  await page.reload();
  await page.locator('[aria-current="step"]').filter({ hasText: en.stepChannel }).waitFor();
  await page.getByRole('button', { name: en.useSimulated }).click();
  await page.getByRole('button', { name: en.makeKey }).click();
  await page.locator('[data-secret]').waitFor();
  await page.reload();
  // The secret was shown once: who has not kept it makes another for the call.
  await page.locator('[aria-current="step"]').filter({ hasText: en.stepCall }).waitFor();
  expect(await page.getByRole('listitem').filter({ hasText: en.stepKey }).textContent()).toContain(
    en.firstKey,
  );
  await screenshot(page, 'first-run-resumed');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Make a key for a day' }).click();
  await page.getByText('Calls go with').waitFor();
  await page.getByRole('button', { name: en.send }).click();
  await page.locator('[data-trace]').waitFor();
  await expect
    .poll(async () => {
      await page.reload();
      await settled(page);
      return page.getByRole('heading', { name: en.endTitle }).count();
    })
    .toBe(1);
  await screenshot(page, 'first-run-end');
  await expectAccessible(page);
  await page.goto(`${house.gateway.consoleOrigin}/setup#${token}`);
  await page.getByRole('link', { name: en.toConsole }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.context().close();
  const other = await house.openPage('anonymous', `/setup#${token}`);
  await other.getByText(en.setUpTitle).waitFor();
  await screenshot(other, 'first-run-set-up');
  await expectAccessible(other);
  await other.context().close();
});

test('a link that is over, wrong or missing says how to come by another', async () => {
  await using house = await openHouse({ 'demo-history': 'false' });
  const token = house.gateway.setUpToken ?? '';
  for (const [path, title] of [
    ['/setup#', en.noLinkTitle],
    [`/setup#${token.slice(0, -1)}`, en.linkWrong],
    // Nobody can sign in yet, so the first page leads here too.
    ['/', en.noLinkTitle],
  ] as const) {
    const page = await house.openPage('anonymous', path, { width: 360 });
    await page.getByText(title).waitFor();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.context().close();
  }
});
