import { afterAll, beforeAll, test } from 'vitest';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot, type View } from './support/house.ts';
import type { Role } from './support/roles.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());

/** Every page, and who looks at it. */
const pages: readonly (readonly [path: string, role: Role])[] = [
  ['/', 'operator'],
  ['/', 'viewer'],
  ['/alerts', 'operator'],
  ['/webhooks', 'operator'],
  ['/webhooks/ops', 'operator'],
  ['/keys', 'member'],
  ['/ledger', 'member'],
  ['/spend', 'viewer'],
  ['/spend', 'operator'],
  ['/ledger', 'operator'],
  ['/playground', 'member'],
  ['/channels', 'operator'],
  ['/channels/new', 'operator'],
  ['/models', 'operator'],
  ['/routing', 'operator'],
  ['/groups', 'operator'],
  ['/accounts', 'operator'],
  ['/accounts', 'viewer'],
  ['/people', 'operator'],
  ['/audit', 'operator'],
  ['/settings', 'operator'],
  ['/profile', 'viewer'],
  ['/usage', 'anonymous'],
  ['/sign-in', 'anonymous'],
  ['/setup', 'anonymous'],
  ['/invitation', 'anonymous'],
  ['/password', 'anonymous'],
];

const views: readonly View[] = [
  { width: 1440, theme: 'light', language: 'en' },
  { width: 1440, theme: 'dark', language: 'zh' },
  { width: 360, theme: 'dark', language: 'en' },
  { width: 360, theme: 'light', language: 'zh' },
];

const cases = pages.flatMap(([path, role]) => views.map((view) => ({ path, role, ...view })));

// The end of the house fails where a page threw, wrote an error or met its policy.
test.each(cases)(
  '$path as $role is clean at $width px, $theme, $language',
  async ({ path, role, ...view }) => {
    const page = await house.openPage(role, path, view);
    const name = path === '/' ? 'overview' : path.slice(1).replaceAll('/', '-');
    await screenshot(page, `${name}-${role}-${view.width}-${view.theme}-${view.language}`);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.context().close();
  },
);
