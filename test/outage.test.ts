import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { startSimulator } from '@headgate/simulator';
import { expect, test } from 'vitest';
import { storeFile } from '../packages/gateway/src/admin/owner-files.ts';
import { openSqliteStore } from '../packages/gateway/src/store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../packages/gateway/src/store/sqlite/same-thread-lane.ts';
import { openTestGateway, type TestChannel, type TestGateway } from './support/gateway.ts';
import { entriesOf } from './support/ledger.ts';
import { scrapeMetrics } from './support/metrics.ts';
import { ownAddress } from './support/own-address.ts';
import { configureDirectory, serveHeadgate, temporaryDirectory } from './support/process.ts';
import { chatRequest, exchange } from './support/raw-http.ts';

const pauseMs = 100;
const patienceMs = 60_000;

function channelAt(id: string, origin: string, cost: string): TestChannel {
  return { id, origin, cost, priority: 0, models: { m: 'sim-fast+tokens=3' } };
}

async function callOnce(origin: string, key: string): Promise<number> {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
  return (await exchange(origin, chatRequest(key, body))).status;
}

/** A caller who asks ten times a second until it has seen enough; every call of it is answered. */
async function callUntil(
  call: () => Promise<number>,
  isEnough: () => boolean | Promise<boolean>,
): Promise<void> {
  const endsAt = performance.now() + patienceMs;
  do {
    expect(performance.now()).toBeLessThan(endsAt);
    expect(await call()).toBe(200);
    await setTimeout(pauseMs);
  } while (!(await isEnough()));
}

async function metric({ consoleOrigin, dataDir }: TestGateway, line: string): Promise<number> {
  const text = await scrapeMetrics(consoleOrigin, dataDir);
  return Number(text.split(`\n${line} `)[1]?.split('\n')[0] ?? 0);
}

async function attemptsOn(gateway: TestGateway, channelId: string): Promise<number> {
  await gateway.store.ledger.flush();
  const attempts = (await entriesOf(gateway)).flatMap((entry) => entry.attempts);
  return attempts.filter((attempt) => attempt.channelId === channelId).length;
}

test('no call is spent on a channel that is down, and its traffic comes back seconds after it does', {
  timeout: 2 * patienceMs,
}, async () => {
  const [cheap, dear] = [await startSimulator({ host: ownAddress }), await startSimulator()];
  await using gateway = await openTestGateway({
    channels: [channelAt('cheap', cheap.origin, '1'), channelAt('dear', dear.origin, '20')],
  });
  const call = () => callOnce(gateway.apiOrigin, gateway.keys.completions);
  await callUntil(call, () => cheap.requestCount > 3);

  await cheap.control.goDown();
  await callUntil(
    call,
    async () => (await metric(gateway, 'headgate_ejections_total{channel="cheap"}')) === 1,
  );
  const spent = await attemptsOn(gateway, 'cheap');
  const probes = 'headgate_probes_total{channel="cheap",result="unreachable"}';
  await callUntil(call, async () => (await metric(gateway, probes)) > 0);
  expect(await attemptsOn(gateway, 'cheap')).toBe(spent);

  const before = cheap.requestCount;
  await cheap.control.comeUp();
  await callUntil(call, () => cheap.requestCount >= before + 3);
  const [first, ...others] = cheap.requests.slice(before - cheap.requestCount);
  expect(Buffer.from(first?.body ?? []).toString()).toContain('"max_completion_tokens":1');
  expect(Buffer.from(others[0]?.body ?? []).toString()).toContain('Hello');
  await cheap.close();
  await dear.close();
});

interface Recorder {
  readonly origin: string;
  /** Bodies of the requests it was sent by callers: probes ask for one token. */
  readonly calls: string[];
  readonly server: Server;
}

/** An upstream that resets every request, or answers each with a status. */
async function startRecorder(status: number | null): Promise<Recorder> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (!body.includes('max_completion_tokens')) calls.push(body);
      if (status === null) request.socket.destroy();
      else response.writeHead(status, { 'retry-after': '600' }).end('{"error":{"message":"no"}}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, calls, server };
}

/** The states of its router that a gateway has stored, read beside it. */
async function storedStates(dataDir: string): Promise<string> {
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const store = await openSqliteStore({
    file: storeFile(dataDir),
    durability: 'strict',
    clock,
    onAlarm: () => undefined,
    openLane: (...lane) => new SameThreadLane(...lane),
  });
  const states = await store.routerStates.load();
  await store.close();
  return states.map(({ kind, key, text }) => `${kind} ${key.replaceAll('\n', '/')} ${text}`).join('\n');
}

test('a gateway that is killed during an outage does not ask again what it knew to be down or limited', {
  timeout: 2 * patienceMs,
}, async () => {
  using directory = temporaryDirectory();
  const [dead, limited, good] = [await startRecorder(null), await startRecorder(429), await startSimulator()];
  const { key, options } = configureDirectory(directory.path, {
    channels: [
      channelAt('dead', dead.origin, '1'),
      channelAt('limited', limited.origin, '2'),
      channelAt('good', good.origin, '50'),
    ],
  });
  {
    await using serving = await serveHeadgate(options);
    await callUntil(
      () => callOnce(serving.ready.apiOrigin, key),
      async () => {
        const states = await storedStates(directory.path);
        const [, blockedUntilMs = 0] = /^capacity limited.*"blockedUntilMs":(\d+)/m.exec(states) ?? [];
        return /^target dead\/.*"isOpen":1/m.test(states) && Number(blockedUntilMs) > Date.now() + 60_000;
      },
    );
    serving.process.signal('SIGKILL');
    await serving.process.ended;
  }
  dead.calls.length = 0;
  limited.calls.length = 0;
  await using again = await serveHeadgate(options);
  let calls = 0;
  await callUntil(
    () => callOnce(again.ready.apiOrigin, key),
    () => ++calls >= 20,
  );
  expect([dead.calls, limited.calls]).toEqual([[], []]);
  dead.server.close();
  limited.server.close();
  await good.close();
});
