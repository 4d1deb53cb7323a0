import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { framedPages, pathOf } from './support/console-pages.ts';
import { type House, openHouse, settled } from './support/house.ts';
import { nothing, oneOfEach, plant, withoutDemo } from './support/plant.ts';
import { openWalkers, together, type Walker } from './support/walker.ts';

let house: House;
let planted = nothing;
let walkers: readonly Walker[] = [];
beforeAll(async () => {
  house = await openHouse(withoutDemo);
  planted = await plant(house.gateway, oneOfEach);
});
afterAll(() => house[Symbol.asyncDispose]());

const fetching = framedPages.filter(({ isStill }) => isStill !== true);

describe.each([
  { status: 500, title: 'Something went wrong here', says: 'This could not be loaded', form: undefined },
  { status: 403, title: 'That is for operators', says: 'You may not see this', form: 'briefly' },
  { status: 503, title: 'The store cannot be asked now', says: 'This could not be loaded', form: 'briefly' },
] as const)('the API answers $status', ({ status, title, says, form }) => {
  let fails = true;
  const problem = { type: 'about:blank', title, status, code: 'test', detail: `${title}: try it later.` };
  const body = JSON.stringify(problem);
  const refuse = (route: Route) =>
    fails && !isOfFrame(route)
      ? route.fulfill({ status, contentType: 'application/problem+json', body })
      : route.continue();
  beforeAll(async () => {
    walkers = await openWalkers(house, 'operator', '/routing');
    await intercept(refuse);
  });
  afterAll(closeAll);

  test.each(fetching)('$route says so, and comes when it is asked again', async (page) => {
    const path = pathOf(page, planted);
    fails = true;
    await together(walkers, async (walker) => {
      await walker.go(path);
      await walker.look(`${status}${path}`, form);
    });
    const main = walkers[0]?.page.locator('main');
    await main?.getByText(says).first().waitFor();
    if (status !== 403) await main?.getByRole('button', { name: 'Try again' }).first().waitFor();
    fails = false;
    // At once, as some pages ask again by themselves.
    await walkers[0]?.page.evaluate(tryAgain);
    if (status !== 403) await main?.getByText(says).first().waitFor({ state: 'detached' });
  });
});

describe('the API takes its time', () => {
  let gate = Promise.withResolvers<void>();
  const hold = async (route: Route) => {
    if (!isOfFrame(route)) await gate.promise;
    await route.continue().catch(() => undefined); // Nobody waits for it any more.
  };
  beforeAll(async () => {
    walkers = await openWalkers(house, 'operator', '/routing');
    await intercept(hold);
  });
  afterAll(closeAll);

  test.each(fetching)('$route has the shape of what is to come', async (page) => {
    const path = pathOf(page, planted);
    gate = Promise.withResolvers();
    await together(walkers, async (walker) => {
      await walker.go(path, 'shown');
      await walker.page.locator('main [aria-busy="true"]').first().waitFor({ state: 'attached' });
      await walker.look(`loading${path}`);
    });
    await Promise.all(walkers.map(({ page: shown }) => shown.evaluate(watchShifts)));
    gate.resolve();
    for (const walker of walkers) {
      await walker.settle();
      const shift = await walker.page.evaluate<number>('globalThis.shifted()');
      expect(shift, `by how much ${path} jumps when it comes`).toBeLessThan(0.1);
    }
  });
});

describe('without a network', () => {
  beforeAll(async () => {
    walkers = await openWalkers(house, 'operator', '/routing');
  });
  afterAll(closeAll);

  test.each(framedPages)('$route stays as it is, says so, and goes on', async (page) => {
    const path = pathOf(page, planted);
    await together(walkers, async (walker) => {
      await walker.go(path);
      const before = await steadyWords(walker.page);
      await walker.page.context().setOffline(true);
      await walker.page.locator('[data-offline]').waitFor();
      expect(await shownWords(walker.page)).toEqual(before);
      await walker.look(`offline${path}`);
      await walker.page.context().setOffline(false);
      await walker.page.locator('[data-offline]').waitFor({ state: 'detached' });
      await walker.settle();
    });
  });

  test('a page that is first gone to meanwhile comes with the network', async () => {
    const page = await house.openPage('operator', '/profile');
    const navigation = page.getByRole('navigation');
    await navigation.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    // Its charts, too, come behind it.
    await settled(page);
    await page.locator('main canvas').first().waitFor();
    await page.context().setOffline(true);
    await navigation.getByRole('link', { name: 'Accounts' }).click();
    await page.locator('[data-offline]').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Accounts' }).waitFor();
    await page.context().close();
  });

  test('figures that could not be asked for come by themselves', async () => {
    const page = await house.openPage('operator', '/accounts');
    await page.goto(`${house.gateway.consoleOrigin}/profile`);
    const navigation = page.getByRole('navigation');
    await navigation.getByRole('link', { name: 'Accounts' }).hover();
    await page.waitForLoadState('networkidle');
    await page.context().setOffline(true);
    await navigation.getByRole('link', { name: 'Accounts' }).click();
    await page.getByText('The gateway does not answer').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('link', { name: 'Row 0' }).first().waitFor();
    await page.context().close();
  });
});

/** What the frame itself asks for is answered in any case. */
function isOfFrame(route: Route): boolean {
  return new URL(route.request().url()).pathname === '/api/v1/session';
}

function intercept(handle: (route: Route) => Promise<void>): Promise<unknown> {
  return Promise.all(walkers.map(({ page }) => page.route(/\/api\/v1\//, handle)));
}

function closeAll(): Promise<unknown> {
  return Promise.all(walkers.map(({ page }) => page.context().close()));
}

/** Words of the page without its figures, which go on meanwhile. */
async function shownWords(page: Page): Promise<string> {
  const text = await page.locator('main').innerText();
  return text.replaceAll(/[\d.,:]+/g, '0');
}

/** Words that nothing that follows the page itself changes any more. */
async function steadyWords(page: Page): Promise<string> {
  for (let before = await shownWords(page); ; ) {
    await page.waitForTimeout(150);
    const words = await shownWords(page);
    if (words === before) return words;
    before = words;
  }
}

const tryAgain =
  "for (const button of document.querySelectorAll('main button')) if (button.innerText === 'Try again') button.click()";

/** Sums up how far what is seen moves from now on, as browsers measure it. */
const watchShifts = `(() => {
  let sum = 0;
  const add = (entries) => { for (const { value } of entries) sum += value; };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: 'layout-shift' });
  globalThis.shifted = () => { add(observer.takeRecords()); observer.disconnect(); return sum; };
})()`;
