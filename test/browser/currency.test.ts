import { expect, test } from 'vitest';
import { nanoUsd } from '../../packages/gateway/src/money/money.ts';
import { sampleEntry, settle } from '../../packages/gateway/src/store/contract/samples.ts';
import { openHouse, screenshot } from './support/house.ts';

const startedAtMs = Date.now() - 60_000;
const entry = sampleEntry({
  traceId: `${startedAtMs.toString(16).padStart(12, '0')}${'a'.repeat(20)}`,
  ...{ startedAtMs, finishedAtMs: startedAtMs + 900, chargeNanoUsd: nanoUsd(2_000_123_456n) },
});

test.each([
  { currency: 'JPY', rate: '155.3', charge: '¥311', language: 'en' },
  { currency: 'CNY', rate: '7.2', charge: '¥14.40', language: 'zh' },
] as const)(
  'amounts are shown in $currency, exact in dollars when pointed at, and exported in dollars',
  async ({ currency, rate, charge, language }) => {
    await using house = await openHouse({ currency, 'currency-per-usd': rate });
    await settle(house.gateway.store.ledger, entry);
    await house.gateway.store.catchUp();
    const page = await house.openPage('operator', '/ledger', { language });
    const amount = page.locator(`tbody tr[data-index] [title="$2.000123456"]`).first();
    await amount.waitFor();
    expect(await amount.innerText()).toBe(charge);
    await screenshot(page, `ledger-${currency}`);
    const answer = await page.request.get(`${house.gateway.consoleOrigin}/api/v1/calls/export?format=csv`);
    expect(await answer.text()).toContain('2.000123456');
    await page.goto(`${house.gateway.consoleOrigin}/calls/${entry.traceId}`);
    await page.locator('main [title="$2.000123456"]').first().waitFor();
    await page.goto(`${house.gateway.consoleOrigin}/accounts`);
    await page
      .locator('main tbody [title^="$"], main tbody [title^="−$"]')
      .filter({ hasText: /^−?¥/ })
      .first()
      .waitFor();
    await page.goto(`${house.gateway.consoleOrigin}/`);
    await page.locator('main').getByText('¥').first().waitFor();
    await page.context().close();
  },
);
