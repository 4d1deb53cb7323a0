import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './accessible.ts';
import type { House } from './house.ts';
import type { Role } from './roles.ts';

/** A page is looked at in these: each size, theme and language, and each two of them together. */
const looks = {
  en: [
    { width: 1440, theme: 'light' },
    { width: 360, theme: 'dark' },
  ],
  zh: [
    { width: 1440, theme: 'dark' },
    { width: 360, theme: 'light' },
  ],
} as const;

/** All looks of every page in every state; else they take turns over the states, so that each page is seen in each of them. */
const seesAll = process.env['HEADGATE_TEST_LOOKS'] === 'all';

/** A window of the console that goes from page to page as a person does, without loading anew. */
export interface Walker {
  readonly page: Page;
  readonly language: 'en' | 'zh';
  /** Goes there, and waits until the page is there with all that it shows; or does not wait for the latter. */
  go(path: string, waits?: 'settled' | 'shown'): Promise<void>;
  settle(): Promise<void>;
  /** Expects the page to be whole, accessible and no wider than its window, in the looks of this walker whose turn it is. */
  look(name: string, form?: 'briefly'): Promise<void>;
  resize(width: number): Promise<void>;
}

const waitMs = 15_000;

/** Waits in the page: for the router to have come to the path, and for nothing to be loading. */
const arrived = (path: string | null, isSettled: boolean) => `new Promise((done, fail) => {
  const end = performance.now() + ${waitMs};
  const look = () => {
    const { status, resolvedLocation } = __TSR_ROUTER__.state;
    const isThere = status === 'idle' && ${path === null ? 'true' : `resolvedLocation?.href === ${JSON.stringify(path)}`};
    const isWhole = document.querySelector('h1') !== null && (${!isSettled} || document.querySelector('[aria-busy="true"]') === null);
    if (isThere && isWhole) return requestAnimationFrame(() => done());
    if (performance.now() > end) return fail(new Error('not there: ' + status + ' ' + location.href + ' ' + document.body.innerText.slice(0, 300)));
    setTimeout(look, 15);
  };
  look();
})`;

/** Waits until the colours and the sizes are those of the look. */
const drawn =
  'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))';

/** Opens one in each language. They may walk at the same time. */
export async function openWalkers(house: House, role: Role, start = '/profile'): Promise<readonly Walker[]> {
  // One after the other, as the first one makes the person.
  return [await openWalker(house, role, 'en', start), await openWalker(house, role, 'zh', start)];
}

async function openWalker(house: House, role: Role, language: 'en' | 'zh', start: string): Promise<Walker> {
  const page = await house.openPage(role, start, { language });
  const settle = async () => void (await page.evaluate(arrived(null, true)));
  return {
    page,
    language,
    async go(path, waits = 'settled') {
      await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
      await page.evaluate(arrived(path, waits === 'settled'));
    },
    settle,
    async look(name, form) {
      for (const { width, theme } of looksOf(language, name, form)) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: theme });
        await page.evaluate(drawn);
        await expectWhole(page);
        await expectNoSidewaysScroll(page);
        await expectAccessible(page);
        await picture(page, `${name.replaceAll('/', '_')}-${width}-${theme}-${language}`);
      }
    },
    resize: (width) => page.setViewportSize({ width, height: 900 }),
  };
}

/** While one walker has its wide look, the other has its narrow one. */
function looksOf(language: 'en' | 'zh', name: string, form?: 'briefly') {
  const [wide, narrow] = looks[language];
  const isEnglish = language === 'en';
  const isOdd = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 2 === 1;
  if (form === 'briefly') {
    const own = isEnglish ? wide : narrow;
    return seesAll || isEnglish === isOdd ? [own] : [];
  }
  if (seesAll) return [wide, narrow];
  return [isEnglish === isOdd ? wide : narrow];
}

/** Has all of them do it, and waits for all of them also where one of them fails. */
export async function together(
  walkers: readonly Walker[],
  walk: (walker: Walker) => Promise<void>,
): Promise<void> {
  const results = await Promise.allSettled(walkers.map(walk));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Keeps what can be seen without scrolling, where somebody wants to look at it. */
async function picture(page: Page, name: string): Promise<void> {
  const directory = process.env['HEADGATE_SCREENSHOTS'];
  if (directory === undefined) return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), animations: 'disabled' });
}

/** Expects one heading, words below it, and no name of a text in the place of a text. */
async function expectWhole(page: Page): Promise<void> {
  const { headings, text } = await page.evaluate<{ headings: number; text: string }>(
    "({ headings: document.querySelectorAll('h1').length, text: document.querySelector('main')?.innerText ?? '' })",
  );
  expect(headings, `headings at ${page.url()}`).toBe(1);
  expect(text.length, `letters at ${page.url()}`).toBeGreaterThan(2);
  expect(text, page.url()).not.toMatch(/\bundefined\b|\bNaN\b|\[object |Invalid Date|\{\{\w+\}\}/);
}
