import { afterAll, beforeAll, expect, test } from 'vitest';
import { nanoUsd } from '../../packages/gateway/src/money/money.ts';
import type { CallEntry } from '../../packages/gateway/src/ports/ledger.ts';
import { sampleEntry, settle, traceId } from '../../packages/gateway/src/store/contract/samples.ts';
import { expectAccessible, expectNoSidewaysScroll } from './support/accessible.ts';
import { type House, openHouse, screenshot, settled } from './support/house.ts';

let house: House;
const nowMs = Date.now();

/** What callers and upstreams may write where the ledger keeps it. */
const hostile = [
  '<img src=x onerror="document.title=\'owned\'">',
  '<script>document.title="owned"</script>',
  '\u202Egnp.exe\u202C',
  '=HYPERLINK("http://evil.example")',
  'javascript:document.title="owned"',
  '{{constructor.constructor("document.title=1")()}}',
  `${'very-long-'.repeat(19)}name`,
];

function call(at: number, changes: Partial<CallEntry> = {}): CallEntry {
  const startedAtMs = nowMs - (at + 1) * 7_000;
  return sampleEntry({
    traceId: startedAtMs.toString(16).padStart(12, '0') + traceId(at).slice(12),
    ...{ startedAtMs, finishedAtMs: startedAtMs + 900, chargeNanoUsd: nanoUsd(BigInt(at) * 12_345n) },
    ...changes,
  });
}

const odd = hostile.map((text, at) =>
  call(at, { modelRequested: text, tag: text, userAgent: text, clientRequestId: text, losses: [text] }),
);
const usual = Array.from({ length: 400 }, (_, at) =>
  call(
    at + hostile.length,
    at % 9 === 4
      ? {
          status: 'failed',
          unbilledReason: 'upstream_failed',
          errorCode: 'overloaded',
          chargeNanoUsd: nanoUsd(0n),
        }
      : {},
  ),
);

beforeAll(async () => {
  house = await openHouse();
  const { store } = house.gateway;
  await Promise.all([...odd, ...usual].map((entry) => settle(store.ledger, entry)));
  await store.catchUp();
});
afterAll(() => house[Symbol.asyncDispose]());

test.each([
  { width: 1440, theme: 'light', language: 'en' },
  { width: 360, theme: 'dark', language: 'zh' },
] as const)('the ledger and a call are clean at $width px, $theme, $language', async (view) => {
  const page = await house.openPage('operator', '/ledger', view);
  await page.locator('tbody tr[data-index]').first().waitFor();
  const name = `${view.width}-${view.theme}-${view.language}`;
  await screenshot(page, `ledger-${name}`);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.goto(`${house.gateway.consoleOrigin}/calls/${usual[20]?.traceId}`);
  await settled(page);
  await page.locator('table').first().waitFor();
  await screenshot(page, `call-${name}`);
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.context().close();
});

test('filters live in the address, and one that matches nothing says so', async () => {
  const page = await house.openPage('operator', '/ledger?status=failed');
  await page.locator('tbody tr[data-index]').first().waitFor();
  expect(await page.locator('tbody tr[data-index]').first().innerText()).toContain('overloaded');
  await page.getByLabel('Model', { exact: true }).fill('no-such-model');
  await page.getByText('No calls match').waitFor();
  expect(new URL(page.url()).searchParams.get('model')).toBe('no-such-model');
  await screenshot(page, 'ledger-empty');
  await page.getByRole('button', { name: 'Clear' }).first().click();
  await page.locator('tbody tr[data-index]').nth(5).waitFor();
  await page.getByLabel('Trace id').fill(usual[3]?.traceId ?? '');
  await page.locator('tbody tr[data-index]').nth(1).waitFor({ state: 'detached' });
  expect(await page.locator('tbody tr[data-index]').count()).toBe(1);
  await page.context().close();
});

test('what callers write is text and nothing else, also under the pointer and in the page of the call', async () => {
  for (const [at, entry] of odd.entries()) {
    const page = await house.openPage('operator', at === 0 ? '/ledger' : `/calls/${entry.traceId}`, {
      width: 360,
    });
    await page
      .locator(at === 0 ? 'tbody tr[data-index]' : 'dl')
      .first()
      .waitFor();
    expect(await page.title()).toContain('Headgate');
    expect(await page.locator('main img, main script, main iframe').count()).toBe(0);
    await expectNoSidewaysScroll(page);
    if (at === 6) await screenshot(page, 'call-long-names');
    await page.context().close();
  }
});

test('a call that is not there says so', async () => {
  const page = await house.openPage('operator', `/calls/${'0'.repeat(32)}`);
  await page.getByText('There is no such call').waitFor();
  await expectAccessible(page);
  await page.context().close();
});
