import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail } from '@headgate/protocols';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environmentOf } from '../config.ts';
import type { EventNews } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';
import { traceId } from '../store/contract/samples.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import { runCommandLine } from './run.ts';

const nowMs = Date.now();
const news: EventNews = {
  id: traceId(1),
  kind: 'missing-credential',
  severity: 'error',
  subject: 'channel:main',
  fold: 'channel:main',
  foldMs: 1_000,
  detail: { channel: 'main', reason: 'the variable X is not set', endsAtMs: Date.UTC(2026, 10, 24) },
  count: 1_234,
  firstAtMs: nowMs - 5_000,
  lastAtMs: nowMs - 4_000,
  endedAtMs: null,
  webhooks: [],
};
const service = {
  kind: 'channel-out-of-service',
  severity: 'warning',
  subject: 'channel:a/m',
  fold: 'a',
} as const;

let directory = '';
let store: Store;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-events-'));
  await headgate('keys list');
  store = await openSqliteStore({
    file: join(directory, 'data', 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => nowMs, monotonic: () => 0 },
    onAlarm: () => undefined,
    openLane: (...lane) => new SameThreadLane(...lane),
  });
  const out = { ...news, ...service, id: traceId(2), count: 1, detail: { channel: 'a', model: 'm' } };
  await store.events.record([news, out, { ...out, id: traceId(3), count: 0, lastAtMs: nowMs }], nowMs);
});

afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

async function headgate(line: string, stop = AbortSignal.abort()) {
  const written = { out: '', error: '' };
  const code = await runCommandLine(line.split(' '), {
    environment: environmentOf({}),
    directory,
    stopping: () => stop,
    version: '0',
    readSecret: () => Promise.resolve(fail('none')),
    output: {
      color: false,
      write: (text) => {
        written.out += text;
      },
      writeError: (text) => {
        written.error += text;
      },
    },
  });
  return { code, ...written };
}

test('lists what has happened, newest first, with what is known of it', async () => {
  const { code, out } = await headgate('events list');
  expect(code).toBe(0);
  const lines = out.split('\n');
  expect(lines[0]).toMatch(/^LAST TIME \(UTC\)\s+SEVERITY\s+KIND\s+SUBJECT\s+COUNT\s+ENDED$/);
  expect(lines[1]).toMatch(/warning\s+channel-out-of-service\s+channel:a\/m\s+1\s+\d\d-\d\d /);
  expect(lines[2]).toMatch(/error\s+missing-credential\s+channel:main\s+1,234\s+–$/);
  expect(lines[3]).toBe('  reason: the variable X is not set, endsAt: 11-24 00:00:00');
  expect(lines.at(-2)).toBe('2 events');
});

test('programs get all of it, in pages', async () => {
  const first = JSON.parse((await headgate('events list --json --limit 1')).out) as { next: string };
  expect(first).toMatchObject({ events: [{ id: traceId(2), endedAtMs: nowMs }], next: traceId(2) });
  const { out } = await headgate(`events list --json --limit 1 --before ${first.next}`);
  const { fold: _, foldMs: __, webhooks: ___, ...event } = news;
  expect(JSON.parse(out)).toEqual({
    events: [{ ...event, acknowledgedAtMs: null, acknowledgedBy: null }],
    next: null,
  });
});

test('filters by kind, severity and time', async () => {
  const count = async (options: string) =>
    (JSON.parse((await headgate(`events list --json ${options}`)).out) as { events: [] }).events.length;
  expect(await count('--kind channel-out-of-service')).toBe(1);
  expect(await count('--severity error')).toBe(1);
  expect(await count('--severity info')).toBe(0);
  expect(await count('--since 2099-01-01')).toBe(0);
});

test.each([
  ['--kind nothing', '--kind must be one of balance-exhausted, '],
  ['--severity bad', '--severity must be one of error, warning, info'],
  ['--since soon', '--since must be a date or time'],
  ['--limit 0', '--limit must be a whole number from 1 to 1000'],
])('%s is refused by its name', async (option, message) => {
  const { code, error } = await headgate(`events list ${option}`);
  expect(code).toBe(2);
  expect(error).toContain(message);
});

test('a follower hears of beginnings and ends as they come', async () => {
  const stop = new AbortController();
  const following = headgate('events tail --json', stop.signal);
  const begun = { ...news, id: traceId(5), fold: 'five', subject: 'channel:five', count: 1 };
  // The follower takes its mark with its first look.
  await new Promise((resolve) => setTimeout(resolve, 600));
  await store.events.record([begun], nowMs);
  await store.events.record([{ ...begun, id: traceId(6), count: 0 }], nowMs);
  stop.abort();
  const { out } = await following;
  const heard = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { subject: string; endedAtMs: number | null });
  expect(heard.at(-1)).toMatchObject({ subject: 'channel:five', endedAtMs: begun.lastAtMs });
});
