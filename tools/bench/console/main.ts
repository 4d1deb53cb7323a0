import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type House, openHouse } from '../../../test/browser/support/house.ts';
import { quantile } from '../../harness/statistics.ts';
import { makeSums, makeUsageStore } from '../usage-store.ts';
import { categories, judge } from './lighthouse.ts';
import { scrollOver } from './scrolling.ts';

/**
 * Prints how the console feels on a large store, in a real browser: the first content of the signed-in overview, the ledger's frames while it
 * is scrolled, and what Lighthouse gives the overview and the status page. Fails where one of them misses its bound.
 *
 *     npm run bench:console -- [calls] [directory of a store to keep, or one that was kept]
 */
const count = Number(process.argv[2] ?? 1_000_000);
const kept = process.argv[3];

const bounds = { firstContentMs: 1_000, rows: 10_000, framesPerSecond: 59, inTime: 0.95, score: 95 } as const;
const loads = 7;
/** About six windows a second: as quickly as somebody looks for something. */
const rowsPerSecond = 160;

let isMissed = false;

await main();

async function main(): Promise<void> {
  const directory = kept ?? mkdtempSync(join(tmpdir(), 'headgate-console-bench-'));
  try {
    mkdirSync(directory, { recursive: true });
    makeStore(join(directory, 'headgate.sqlite'));
    await using house = await openHouse({ 'data-dir': directory, 'demo-history': 'false' });
    await measureOverview(house);
    await measureLedger(house);
    await judgePages(house);
    process.exitCode = isMissed ? 1 : 0;
  } finally {
    if (kept === undefined) rmSync(directory, { recursive: true });
  }
}

function makeStore(file: string): void {
  if (!existsSync(file)) makeUsageStore(file, count, (calls) => process.stdout.write(`\r${calls} calls`));
  makeSums(file);
}

function say(what: string, isWithin: boolean): void {
  isMissed ||= !isWithin;
  console.log(`${isWithin ? 'ok    ' : 'MISSED'} ${what}`);
}

/** Each load is that of a window that has nothing in its cache. */
async function measureOverview(house: House): Promise<void> {
  const [first, figures]: [number[], number[]] = [[], []];
  for (let load = 0; load < loads; load++) {
    const page = await house.openPage('operator', '/profile');
    // The window is signed in; the page that is measured has nothing of what the one before has fetched.
    const session = await page.context().newCDPSession(page);
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    await page.goto(`${house.gateway.consoleOrigin}/`, { waitUntil: 'commit' });
    await page.locator('main .font-semibold').first().waitFor();
    figures.push(await page.evaluate(() => performance.now()));
    first.push(await firstContentOf(page));
    await page.context().close();
  }
  const medianMs = quantile(first, 0.5);
  say(
    `overview: first content after ${medianMs.toFixed(0)} ms (worst ${Math.max(...first).toFixed(0)}), its figures after ${quantile(figures, 0.5).toFixed(0)} ms, with ${count} calls`,
    medianMs <= bounds.firstContentMs,
  );
}

/** The browser tells of it a moment after it was there. */
function firstContentOf(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) =>
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
    }).observe({ type: 'paint', buffered: true }))`);
}

async function measureLedger(house: House): Promise<void> {
  const page = await house.openPage('operator', '/ledger');
  await page.locator('tbody tr[data-index]').first().waitFor();
  const { rows, seconds, framesPerSecond, p95Ms, inTime, cpuMs } = await scrollOver(
    page,
    bounds.rows,
    rowsPerSecond,
  );
  say(
    `ledger: ${rows} rows in ${seconds.toFixed(1)} s, ${framesPerSecond.toFixed(1)} frames/s, p95 ${p95Ms.toFixed(1)} ms, ${(inTime * 100).toFixed(1)} % in time, ${cpuMs.toFixed(1)} ms of a core each`,
    rows >= bounds.rows && framesPerSecond >= bounds.framesPerSecond && inTime >= bounds.inTime,
  );
  await page.context().close();
}

async function judgePages({ gateway, openPage }: House): Promise<void> {
  const page = await openPage('operator', '/profile');
  const cookies = await page.context().cookies();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  await page.context().close();
  const port = await freePort();
  await using opened = new AsyncDisposableStack();
  opened.adopt(await launch(port), (browser) => browser.close());
  for (const [path, form] of [
    ['/', 'desktop'],
    ['/status', 'desktop'],
    ['/status', 'mobile'],
  ] as const) {
    const url = `${gateway.consoleOrigin}${path}`;
    const { scores, faults } = await judge(url, port, path === '/' ? cookie : null, form);
    const shown = categories.map((name) => `${name} ${scores[name]}`).join(', ');
    say(
      `Lighthouse of ${path} (${form}): ${shown}`,
      categories.every((name) => scores[name] >= bounds.score),
    );
    for (const fault of faults) console.log(`         ${fault}`);
  }
}

function launch(port: number): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['HEADGATE_CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', `--remote-debugging-port=${port}`],
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
