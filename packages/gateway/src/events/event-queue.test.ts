import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { EventNews } from '../ports/events.ts';
import { EventQueue } from './event-queue.ts';

let recorded: EventNews[][] = [];
let stuck: (readonly EventNews[])[] = [];
let fails = false;
let trouble: 'store-lost' | null = null;
let ids = 0;
let recordings = 0;

beforeEach(() => {
  vi.useFakeTimers();
  recorded = [];
  stuck = [];
  fails = false;
  trouble = null;
  recordings = 0;
});
afterEach(() => vi.useRealTimers());

function open(): EventQueue {
  const queue = new EventQueue({
    clock: { now: () => Date.now(), monotonic: () => Date.now() },
    newId: () => `id-${++ids}`,
    redact: (text) => text.replaceAll('sk-secret', '[redacted]'),
    webhooksFor: (kind) => (kind === 'bug' ? ['ops'] : []),
    onRecorded: () => undefined,
    onStuck: (news) => stuck.push(news),
  });
  queue.keepIn({
    get trouble() {
      return trouble;
    },
    events: {
      record: (news) => {
        recordings++;
        if (fails) return Promise.reject(new Error('away'));
        recorded.push(structuredClone([...news]));
        return Promise.resolve();
      },
    },
  });
  return queue;
}

const batches = () => recorded.map((batch) => batch.map(({ kind, count }) => `${kind} ${count}`));

test('what happens again before it is written is one piece of news', async () => {
  const queue = open();
  for (let n = 0; n < 1000; n++) queue.raise('missing-credential', { channel: 'a' });
  queue.raise('missing-credential', { channel: 'b' });
  queue.raise('bug', { error: 'x' });
  await vi.advanceTimersByTimeAsync(200);
  expect(batches()).toEqual([['missing-credential 1000', 'missing-credential 1', 'bug 1']]);
  expect(recorded[0]?.[0]).toMatchObject({ subject: 'channel:a', severity: 'error', webhooks: [] });
  expect(recorded[0]?.[2]).toMatchObject({ subject: '', webhooks: ['ops'] });
});

test('a flood of the same is written every ten seconds, and something new at once', async () => {
  const queue = open();
  for (let ms = 0; ms < 20_000; ms += 100) {
    queue.raise('odd-answer', { channel: 'a', model: 'm', what: 'x' });
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(batches()).toEqual([['odd-answer 2'], ['odd-answer 100']]);
  queue.raise('odd-answer', { channel: 'b', model: 'm', what: 'x' });
  await vi.advanceTimersByTimeAsync(200);
  expect(recorded.at(-1)?.at(-1)).toMatchObject({ subject: 'channel:b/m' });
});

test('an end parts what happened before it from what happens after', async () => {
  const queue = open();
  const about = { channel: 'a', model: 'm' };
  queue.raise('channel-out-of-service', about);
  queue.over('channel-out-of-service', about);
  queue.raise('channel-out-of-service', about);
  queue.raise('channel-out-of-service', about);
  await vi.advanceTimersByTimeAsync(200);
  expect(batches()).toEqual([
    ['channel-out-of-service 1', 'channel-out-of-service 0', 'channel-out-of-service 2'],
  ]);
});

test('while the store is away everything waits, counted on, and goes in when it is back', async () => {
  const queue = open();
  fails = true;
  for (let n = 0; n < 60; n++) {
    queue.raise('missing-credential', { channel: 'a' });
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(batches()).toEqual([]);
  expect(recordings).toBeLessThan(10);
  fails = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(batches()).toEqual([['missing-credential 60']]);
});

test('nothing is given to a store whose files are lost, and others are told of what waits', async () => {
  const queue = open();
  trouble = 'store-lost';
  queue.raise('store-lost', { reason: 'gone' });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(recordings).toBe(0);
  expect(stuck[0]?.map(({ kind }) => kind)).toEqual(['store-lost']);
  trouble = null;
  queue.over('store-lost', {});
  await vi.advanceTimersByTimeAsync(30_000);
  expect(batches()).toEqual([['store-lost 1', 'store-lost 0']]);
});

test('more than fits is counted, and told of', async () => {
  const queue = open();
  fails = true;
  for (let n = 0; n < 1_500; n++) queue.raise('missing-credential', { channel: `c${n}` });
  fails = false;
  await vi.advanceTimersByTimeAsync(20_000);
  const all = recorded.flat();
  expect(all.filter(({ kind }) => kind === 'missing-credential')).toHaveLength(1_000);
  expect(all.find(({ kind }) => kind === 'events-lost')).toMatchObject({ detail: { count: 500 } });
});

test('secrets are taken out, texts of others are cut off, and a budget is told of once for its window', async () => {
  const queue = open();
  queue.raise('credential-refused', { channel: 'a', credential: 'KEY', message: 'sk-secret is wrong' });
  queue.raise('bug', { error: 'x'.repeat(5_000) });
  const window = { subject: 'account:acme', window: 'day 2026-11-23', endsAtMs: 86_400_000 };
  queue.raise('budget-threshold', { ...window, spentUsd: '80.0' });
  queue.raise('budget-threshold', { ...window, spentUsd: '81.0' });
  queue.raise('budget-threshold', { ...window, window: 'day 2026-11-24' });
  await vi.advanceTimersByTimeAsync(200);
  const [refused, bug, budget, next, ...others] = recorded.flat();
  expect(refused?.detail).toEqual({ channel: 'a', credential: 'KEY', message: '[redacted] is wrong' });
  expect(String(bug?.detail['error'])).toHaveLength(500);
  expect(budget).toMatchObject({ subject: 'account:acme', endedAtMs: 86_400_000, count: 2 });
  expect(next).toMatchObject({ subject: 'account:acme', count: 1 });
  expect(others).toEqual([]);
});

test('what is raised before there is a store waits for it, and a close writes the rest', async () => {
  const queue = new EventQueue({
    clock: { now: () => 0, monotonic: () => 0 },
    newId: () => 'id',
    redact: (text) => text,
    webhooksFor: () => [],
    onRecorded: () => undefined,
    onStuck: () => undefined,
  });
  queue.raise('disk-full', { reason: 'x' });
  await vi.advanceTimersByTimeAsync(1_000);
  const heard: string[] = [];
  const record = (news: readonly EventNews[]) =>
    Promise.resolve(void heard.push(...news.map(({ kind }) => kind)));
  queue.keepIn({ trouble: null, events: { record } });
  queue.raise('store-lost', { reason: 'x' });
  await queue.close();
  expect(heard).toEqual(['disk-full', 'store-lost']);
});
