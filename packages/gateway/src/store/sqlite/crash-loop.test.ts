import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../ports/store.ts';
import { declaration, epochMs } from '../contract/samples.ts';
import { openSqliteStore } from './open-sqlite-store.ts';

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
  return openSqliteStore({ file, durability: 'strict', clock, onAlarm: () => undefined });
}

/** A process that settles and opens calls without end, and tells which of them it was told are settled. */
function startSettling(acknowledged: Set<string>): ChildProcess {
  const settling = fork(child, [file], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  settling.on('message', (traceIds: readonly string[]) => {
    for (const traceId of traceIds) acknowledged.add(traceId);
  });
  return settling;
}

test('nothing acknowledged is lost, and nothing is left open, however often the process is killed', async () => {
  const prepared = await open();
  await prepared.configuration.apply('file', declaration, epochMs);
  await prepared.close();
  const acknowledged = new Set<string>();
  const momentsMs = fc.sample(fc.integer({ min: 20, max: 400 }), 5);
  for (const momentMs of momentsMs) {
    const settling = startSettling(acknowledged);
    await once(settling, 'message');
    await new Promise((resolve) => setTimeout(resolve, momentMs));
    settling.kill('SIGKILL');
    await once(settling, 'close');
    await expectIntact(acknowledged);
  }
  expect(acknowledged.size).toBeGreaterThan(momentsMs.length);
}, 60_000);

async function expectIntact(acknowledged: ReadonlySet<string>): Promise<void> {
  const store = await open();
  expect(await store.recoverInterrupted()).toBeGreaterThan(0);
  const statuses = new Map<string, string>();
  for await (const entry of store.exportEntries({})) statuses.set(entry.traceId, entry.status);
  expect([...acknowledged].filter((traceId) => statuses.get(traceId) !== 'complete')).toEqual([]);
  expect(await store.verify()).toMatchObject({ findings: [], counts: { open: 0 } });
  await store.close();
}

test('the calls of a process that lives are not touched by another that starts beside it', async () => {
  const settling = startSettling(new Set());
  await once(settling, 'message');
  const store = await open();
  try {
    expect(await store.recoverInterrupted()).toBe(0);
    expect((await store.verify()).counts.open).toBeGreaterThan(0);
  } finally {
    settling.kill('SIGKILL');
    await once(settling, 'close');
    expect(await store.recoverInterrupted()).toBeGreaterThan(0);
    await store.close();
  }
}, 30_000);
