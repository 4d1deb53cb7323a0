import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isSlow } from '../../../../../test/support/slow-form.ts';
import type { Store } from '../../ports/store.ts';
import { declaration, epochMs } from '../contract/samples.ts';
import { openSqliteStore } from './open-sqlite-store.ts';
import { SameThreadLane } from './same-thread-lane.ts';

const kills = Number(process.env['HEADGATE_CRASH_KILLS'] ?? (isSlow ? 100 : 3));
const killsPerCheck = 10;
/** A ledger is read whole at each check, so a long loop goes on with a new one now and then. */
const killsPerLedger = 25;
/** So small that segments change all the time. */
const segmentBytes = 48 * 1024;
const child = new URL('../contract/settling-worker.ts', import.meta.url);
const clock = { now: Date.now, monotonic: () => performance.now() };

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-crash-'));
  file = join(directory, 'headgate.sqlite');
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function open(): Promise<Store> {
  const openLane = (...lane: ConstructorParameters<typeof SameThreadLane>) => new SameThreadLane(...lane);
  return openSqliteStore({ file, durability: 'strict', clock, openLane, onAlarm: () => undefined });
}

/** A process that settles and opens calls without end, and tells which of them it was told are settled. */
function startSettling(acknowledged: Set<string>): ChildProcess {
  const settling = fork(child, [file, String(segmentBytes)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  settling.on('message', (traceIds: readonly string[]) => {
    for (const traceId of traceIds) acknowledged.add(traceId);
  });
  return settling;
}

async function kill(settling: ChildProcess): Promise<void> {
  const closed = once(settling, 'close');
  settling.kill('SIGKILL');
  await closed;
}

/** Starts and kills one process after the other, some before they have begun to settle: while they open, or replay. */
async function startAndKill(times: number, acknowledged: Set<string>): Promise<void> {
  for (let time = 0; time < times; time++) {
    const settling = startSettling(acknowledged);
    await once(settling, 'message');
    // Every other one has settled something by the time that it dies.
    if (time % 2 === 0) await once(settling, 'message');
    await wait(Math.random() ** 2 * 400);
    // One that has ended by itself has found something wrong.
    expect(settling.exitCode).toBeNull();
    await kill(settling);
  }
}

test(
  `nothing acknowledged is lost or there twice, killed ${kills} times, two at a time on one directory`,
  async () => {
    let total = 0;
    for (let left = kills; left > 0; left -= killsPerLedger) {
      total += await killOnOneLedger(Math.min(left, killsPerLedger));
      rmSync(directory, { recursive: true });
      mkdirSync(directory);
    }
    expect(total).toBeGreaterThan(kills);
    console.log(`crash loop: ${kills} kills, ${total} entries acknowledged, none lost`);
  },
  60_000 + kills * 3_000,
);

/** Returns how many entries were acknowledged. */
async function killOnOneLedger(times: number): Promise<number> {
  const prepared = await open();
  await prepared.configuration.apply('file', declaration, epochMs);
  await prepared.close();
  const acknowledged = new Set<string>();
  for (let killed = 0; killed < times; killed += killsPerCheck) {
    const each = Math.ceil(Math.min(killsPerCheck, times - killed) / 2);
    await Promise.all([startAndKill(each, acknowledged), startAndKill(each, acknowledged)]);
    await expectIntact(acknowledged);
  }
  return acknowledged.size;
}

async function expectIntact(acknowledged: ReadonlySet<string>): Promise<void> {
  const store = await open();
  expect(await store.recover(() => undefined)).toMatchObject({ damage: null });
  const statuses = new Map<string, string>();
  for await (const entry of store.exportEntries({})) statuses.set(entry.traceId, entry.status);
  expect([...acknowledged].filter((traceId) => statuses.get(traceId) !== 'complete')).toEqual([]);
  expect(await store.verify()).toMatchObject({ findings: [], counts: { open: 0 }, asOfMs: null });
  await store.close();
  expect(readdirSync(join(directory, 'journal'))).toEqual([]);
}

test('the calls of a process that lives are not touched by another that starts beside it', async () => {
  const prepared = await open();
  await prepared.configuration.apply('file', declaration, epochMs);
  await prepared.close();
  const settling = startSettling(new Set());
  await once(settling, 'message');
  await once(settling, 'message');
  const store = await open();
  try {
    expect((await store.recover(() => undefined)).interrupted).toBe(0);
    // Its journal loses segments while it is read here, since it feeds them itself.
    for (let time = 0; time < 3; time++) {
      const { findings, counts } = await store.verify();
      expect(findings).toEqual([]);
      expect(counts.open).toBeGreaterThan(0);
    }
  } finally {
    await kill(settling);
    expect((await store.recover(() => undefined)).interrupted).toBeGreaterThan(0);
    await store.close();
  }
}, 60_000);
