import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { consolePages, framedPages, mayOpen, pathOf } from './support/console-pages.ts';
import { type House, openHouse } from './support/house.ts';
import { multiply } from './support/multiply.ts';
import { expectHarmless, oddPlanting } from './support/odd-texts.ts';
import { nothing, oneOfEach, plant, withoutDemo } from './support/plant.ts';
import { openWalkers, together, type Walker } from './support/walker.ts';

describe('a deployment with nothing in it', () => {
  let house: House;
  let walkers: readonly Walker[] = [];
  beforeAll(async () => {
    house = await openHouse(withoutDemo);
    walkers = await openWalkers(house, 'operator');
  });
  afterAll(() => house[Symbol.asyncDispose]());

  test('the walk knows every page that the router has', async () => {
    const routes = await walkers[0]?.page.evaluate<string[]>('Object.keys(__TSR_ROUTER__.routesByPath)');
    expect(routes?.toSorted()).toEqual(consolePages.map(({ route }) => route).toSorted());
  });

  test.each(framedPages)('$route', async (page) => {
    const path = pathOf(page, nothing);
    await together(walkers, async (walker) => {
      await walker.go(path);
      await walker.look(`empty${path}`);
    });
  });
});

describe('10,000 rows of everything', () => {
  let house: House;
  let walkers: readonly Walker[] = [];
  let planted = nothing;
  beforeAll(async () => {
    house = await openHouse(withoutDemo);
    planted = await plant(house.gateway, { ...oneOfEach, calls: 10_000 });
    multiply(house.dataDir);
    await vi.waitFor(() => expect(house.gateway.catalogue.current.channels.size).toBe(1_000), {
      timeout: 20_000,
    });
    walkers = await openWalkers(house, 'operator');
  });
  afterAll(() => house[Symbol.asyncDispose]());

  test.each(framedPages)('$route', async (page) => {
    const path = pathOf(page, planted);
    await together(walkers, async (walker) => {
      await walker.go(path);
      await walker.look(`many${path}`);
    });
  });
});

describe('names that are long, turn directions, or look like programs', () => {
  let house: House;
  let walkers: readonly Walker[] = [];
  let planted = nothing;
  beforeAll(async () => {
    house = await openHouse(withoutDemo);
    planted = await plant(house.gateway, oddPlanting);
    walkers = await openWalkers(house, 'operator');
  });
  afterAll(() => house[Symbol.asyncDispose]());

  const tabs = ['/keys/$id', '/accounts/$id', '/groups/$id'].flatMap((route) =>
    ['settings', 'change'].map((tab) => ({ route, tab })),
  );
  test.each([...framedPages.map(({ route }) => ({ route, tab: '' })), ...tabs])(
    '$route $tab',
    async ({ route, tab }) => {
      const page = framedPages.find((one) => one.route === route);
      if (page === undefined) throw new Error(`the walk has no ${route}`);
      const path = `${pathOf(page, planted)}${tab === '' ? '' : `?tab=${tab}`}`;
      await together(walkers, async (walker) => {
        // Narrow tables leave columns out.
        await walker.resize(1440);
        await walker.go(path);
        await expectHarmless(walker.page);
        await walker.look(`odd${route}${tab}`);
      });
    },
  );
});

describe('one row of everything', () => {
  let house: House;
  let planted = nothing;
  beforeAll(async () => {
    house = await openHouse(withoutDemo);
    planted = await plant(house.gateway, oneOfEach);
  });
  afterAll(() => house[Symbol.asyncDispose]());

  describe.each(['operator', 'admin', 'member', 'viewer', 'stranger', 'anonymous'] as const)(
    'as %s',
    (role) => {
      let walkers: readonly Walker[] = [];
      beforeAll(async () => {
        walkers = await openWalkers(house, role, role === 'anonymous' ? '/usage' : '/profile');
      });
      afterAll(() => Promise.all(walkers.map(({ page }) => page.context().close())));

      const form = ['operator', 'admin', 'anonymous'].includes(role) ? undefined : 'briefly';
      const seen =
        role === 'anonymous' ? consolePages.filter(({ access }) => access === 'anyone') : framedPages;
      test.each(seen)('$route', async (page) => {
        const path = pathOf(page, planted);
        await together(walkers, async (walker) => {
          await walker.go(path);
          if (mayOpen(role, page)) await walker.look(`${role}${path}`, form);
        });
        const [walker] = walkers;
        const main = await walker?.page.locator('main').innerText();
        expect(main?.includes('You may not see this page')).toBe(!mayOpen(role, page));
      });
    },
  );
});
