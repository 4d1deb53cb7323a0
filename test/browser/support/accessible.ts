import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of WCAG 2.2 AA, and what axe holds to be good practice. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Expects that axe finds nothing wrong with the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  // By the debugger and not by an element, which the policy of the page forbids.
  await page.evaluate(axe);
  const violations = await page.evaluate(async (runOnly) => {
    const { axe: runner } = globalThis as unknown as {
      readonly axe: { run(options: object): Promise<AxeResults> };
    };
    const found = await runner.run({ runOnly, resultTypes: ['violations'] });
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} – ${failureSummary ?? ''}`),
    );
  }, tags);
  // An open menu hangs at the end of the document, outside of every landmark, and holds the focus until it closes.
  const ofPage = violations.filter((text) => !/^region: <div .*role="(?:menu|listbox)"/.test(text));
  // The first ones tell of the others, which may be as many as a list is long.
  expect(ofPage.slice(0, 3), `axe at ${page.url()}: ${ofPage.slice(0, 3).join('; ')}`).toEqual([]);
}

/** Expects that the page is not wider than its window. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const wider = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(wider, `pixels by which ${page.url()} is wider than its window`).toBeLessThanOrEqual(0);
}
