import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqliteStore } from './open-sqlite-store.ts';

const child = fileURLToPath(new URL('../contract/faulty-disk-worker.ts', import.meta.url));
const run = promisify(execFile);

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-fault-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

// A limit on the size of files makes write(2) fail with EFBIG, which SQLite reports as an I/O error.
test('after an I/O error nothing is settled until a restart, and what was settled before is intact', async () => {
  const file = join(directory, 'headgate.sqlite');
  const limited = 'ulimit -f 1100; exec "$0" "$@"';
  const { stdout } = await run('/bin/bash', ['-c', limited, process.execPath, child, file]);
  // One line of JSON, as the child writes it.
  const report = JSON.parse(stdout) as { settled: number; after: readonly string[]; writable: boolean };
  expect(report.settled).toBeGreaterThan(0);
  expect(new Set(report.after)).toEqual(new Set(['unavailable']));
  expect(report.writable).toBe(false);

  const clock = { now: Date.now, monotonic: () => performance.now() };
  const store = await openSqliteStore({ file, durability: 'strict', clock, onAlarm: () => undefined });
  const { findings, counts } = await store.verify();
  expect(findings).toEqual([]);
  expect(counts.calls).toBeGreaterThanOrEqual(report.settled);
  expect(store.ledger.isWritable()).toBe(true);
  await store.close();
}, 30_000);
