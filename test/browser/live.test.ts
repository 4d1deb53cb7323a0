import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type House, openHouse, screenshot } from './support/house.ts';

let house: House;

beforeAll(async () => {
  house = await openHouse();
  for (let count = 0; count < 45; count++) await call();
});
afterAll(() => house[Symbol.asyncDispose]());

/** A real call, of which the console hears as everybody's; resolves with its trace id. */
async function call(): Promise<string> {
  const { selfConfiguration, apiOrigin } = house.gateway;
  const key = selfConfiguration.kind === 'demo' ? selfConfiguration.keys.completions : '';
  const answer = await fetch(`${new URL(apiOrigin).origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'demo-fast', max_tokens: 5 },
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  });
  await answer.text();
  return answer.headers.get('x-trace-id') ?? '';
}

const rowOf = (page: Page, trace: string) => page.locator(`tbody tr[data-index] a[href*="${trace}"]`);
const live = (page: Page) => page.getByText('Live', { exact: true });

async function openLedger(): Promise<Page> {
  const page = await house.openPage('operator', '/ledger');
  await live(page).waitFor();
  // The gap below stands for the rows that are not drawn: the list is as long as it will be.
  await page.locator('tbody tr[aria-hidden]').last().waitFor({ state: 'attached' });
  return page;
}

test('at the top of the ledger calls appear as they end', async () => {
  const page = await openLedger();
  const trace = await call();
  await rowOf(page, trace).waitFor();
  expect(await page.locator('tbody tr[data-index] a').first().getAttribute('href')).toContain(trace);
  await page.context().close();
});

test('what is read does not move: new calls are counted, and shown when that is asked for', async () => {
  const page = await openLedger();
  await page.evaluate('scrollTo(0, 500)');
  await page.waitForFunction('scrollY === 500');
  const read = page.locator('tbody tr[data-index="20"]');
  const before = { text: await read.innerText(), place: await read.boundingBox() };
  await call();
  const last = await call();
  await page.getByRole('button', { name: /^Show/ }).waitFor();
  const button = page.getByRole('button', { name: 'Show 2 new calls' });
  await button.waitFor();
  expect({ text: await read.innerText(), place: await read.boundingBox() }).toMatchObject({
    place: before.place,
  });
  expect((await read.innerText()).split('\n').slice(1)).toEqual(before.text.split('\n').slice(1));
  await screenshot(page, 'ledger-new-calls');
  await button.click();
  await rowOf(page, last).waitFor();
  expect(await page.evaluate('scrollY')).toBe(0);
  // With the pointer in the rows, nothing moves at the top either.
  await page.locator('tbody tr[data-index="3"]').hover();
  await call();
  await page.getByRole('button', { name: 'Show 1 new call' }).waitFor();
  await page.context().close();
});

test('a connection that broke is taken up where it was', async () => {
  await using way = await openWay(new URL(house.gateway.consoleOrigin));
  const page = await house.openPage('operator', '/ledger');
  await page.goto(`${way.origin}/ledger`);
  await live(page).waitFor();
  await rowOf(page, await call()).waitFor();
  const resumed: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/api/v1/live'))
      void request.allHeaders().then((headers) => resumed.push(headers['last-event-id']));
  });
  way.breakOff();
  const missed = await call();
  await rowOf(page, missed).waitFor();
  expect(resumed.at(-1)).toMatch(/\d/);
  await page.context().close();
});

/** Another way to the console, whose connections can be broken off. */
async function openWay(to: URL) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const further = connect(Number(to.port), to.hostname);
    for (const each of [socket, further]) {
      sockets.add(each);
      each.on('error', () => undefined).on('close', () => sockets.delete(each));
    }
    socket.pipe(further).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, to.hostname, resolve));
  const breakOff = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    origin: `http://${to.hostname}:${(server.address() as AddressInfo).port}`,
    breakOff,
    [Symbol.asyncDispose]: async () => {
      breakOff();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a tab that nobody looks at holds no stream, and misses nothing', async () => {
  const page = await openLedger();
  await rowOf(page, await call()).waitFor();
  const see = (state: string) =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' });
      document.dispatchEvent(new Event('visibilitychange'))`);
  await see('hidden');
  await live(page).waitFor({ state: 'detached' });
  const missed = await call();
  expect(await rowOf(page, missed).count()).toBe(0);
  await see('visible');
  await live(page).waitFor();
  await rowOf(page, missed).waitFor();
  await page.context().close();
});

test('a gateway that refuses the stream for a moment is asked again', async () => {
  const page = await house.openPage('operator', '/accounts');
  let refusals = 0;
  await page.route('**/api/v1/live*', (route) =>
    refusals++ === 0 ? route.fulfill({ status: 503, body: '{}' }) : route.continue(),
  );
  await page.goto(`${house.gateway.consoleOrigin}/ledger`);
  await live(page).waitFor({ timeout: 10_000 });
  expect(refusals).toBe(2);
  await page.context().close();
});
