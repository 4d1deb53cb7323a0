import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventNews } from '../../ports/events.ts';
import type { Store } from '../../ports/store.ts';
import { epochMs, traceId } from './samples.ts';
import type { StoreSite } from './store-site.ts';

const news: EventNews = {
  id: traceId(1),
  kind: 'missing-credential',
  severity: 'error',
  subject: 'channel:main',
  fold: 'channel:main',
  foldMs: 1_000,
  detail: { channel: 'main', reason: 'the variable X is not set' },
  count: 1,
  firstAtMs: epochMs,
  lastAtMs: epochMs,
  endedAtMs: null,
  webhooks: [],
};

const over: EventNews = { ...news, id: traceId(99), count: 0 };

/** The part of the suite about what operators should hear of. */
export function describeEvents(createSite: () => StoreSite): void {
  let site: StoreSite;
  let store: Store;

  beforeEach(async () => {
    site = createSite();
    store = await site.open();
  });
  afterEach(async () => {
    await site.dispose();
  });

  const record = (...each: readonly EventNews[]) => store.events.record(each, epochMs);
  const listed = () => store.events.list({}, 100, null);
  const later = (n: number, ms: number, more: Partial<EventNews> = {}): EventNews => ({
    ...news,
    ...{ id: traceId(n), firstAtMs: epochMs + ms, lastAtMs: epochMs + ms },
    ...more,
  });

  test('gives back what was recorded, whoever asks', async () => {
    await record(news);
    const { fold: _, foldMs: __, webhooks: ___, ...event } = news;
    const kept = { ...event, acknowledgedAtMs: null, acknowledgedBy: null };
    expect(await listed()).toEqual([kept]);
    expect(await (await site.open()).events.list({}, 100, null)).toEqual([kept]);
  });

  test('counts what happens again within the time in one event, and no more than that', async () => {
    await record(news, later(2, 900, { count: 5, detail: { n: 2 } }));
    await record(later(3, 1_900));
    await record(later(4, 2_901));
    expect(await listed()).toMatchObject([
      { id: traceId(4), count: 1 },
      { id: traceId(1), count: 7, firstAtMs: epochMs, lastAtMs: epochMs + 1_900 },
    ]);
  });

  test('two stores on the same files count in the same event', async () => {
    const other = await site.open();
    await Promise.all([
      store.events.record([news], epochMs),
      other.events.record([later(2, 1)], epochMs),
      store.events.record([later(3, 2)], epochMs),
      other.events.record([later(4, 3)], epochMs),
    ]);
    expect((await listed()).map(({ count }) => count)).toEqual([4]);
  });

  test('the same news a second time change nothing, as nobody may have heard that they had arrived', async () => {
    await record(news);
    await record(news);
    expect((await listed()).map(({ count }) => count)).toEqual([1]);
  });

  test('keeps kinds and subjects apart', async () => {
    await record(
      news,
      later(2, 0, { fold: 'channel:other' }),
      later(3, 0, { kind: 'bug', severity: 'error' }),
    );
    expect(await listed()).toHaveLength(3);
    expect((await store.events.list({ kind: 'bug' }, 10, null)).map(({ id }) => id)).toEqual([traceId(3)]);
    expect(await store.events.list({ severity: 'info' }, 10, null)).toEqual([]);
    expect(await store.events.list({ fromMs: epochMs + 1 }, 10, null)).toEqual([]);
  });

  test('an event that has ended is not gone on with, and one that ends by itself neither', async () => {
    await record(news, { ...over, lastAtMs: epochMs + 10 });
    await record(later(2, 20, { endedAtMs: epochMs + 50 }), later(3, 49), later(4, 50));
    expect(await listed()).toMatchObject([
      { id: traceId(4), count: 1, endedAtMs: null },
      { id: traceId(2), count: 2, endedAtMs: epochMs + 50 },
      { id: traceId(1), count: 1, endedAtMs: epochMs + 10 },
    ]);
  });

  test('an end of what has not begun is nothing', async () => {
    await record(over);
    expect(await listed()).toEqual([]);
  });

  test('pages go on where the one before ended', async () => {
    await record(...[1, 2, 3].map((n) => later(n, n, { fold: `${n}` })));
    expect((await store.events.list({}, 2, null)).map(({ id }) => id)).toEqual([traceId(3), traceId(2)]);
    expect((await store.events.list({}, 2, traceId(2))).map(({ id }) => id)).toEqual([traceId(1)]);
  });

  test('a follower hears of each beginning and each end once, in their order', async () => {
    await record(news);
    const begun = await store.events.follow({}, null);
    expect(begun.events).toEqual([]);
    await record(later(2, 1, { fold: 'other' }), later(3, 2), { ...over, lastAtMs: epochMs + 3 });
    const next = await store.events.follow({}, begun.mark);
    expect(next.events.map(({ id, endedAtMs }) => [id, endedAtMs])).toEqual([
      [traceId(2), null],
      [traceId(1), epochMs + 3],
    ]);
    expect((await store.events.follow({}, next.mark)).events).toEqual([]);
  });

  test('a follower who has fallen far behind is given pages, and misses none', async () => {
    const { mark: first } = await store.events.follow({}, null);
    const many = Array.from({ length: 450 }, (_, n) => later(n + 1, n, { fold: `${n}` }));
    await record(...many);
    const heard: string[] = [];
    for (let mark = first; ; ) {
      const page = await store.events.follow({}, mark);
      if (page.events.length === 0) break;
      heard.push(...page.events.map(({ id }) => id));
      mark = page.mark;
    }
    expect(heard).toEqual(many.map(({ id }) => id));
  });

  test('who has seen an event is noted once, with the time', async () => {
    await record(news, later(2, 1, { fold: 'other' }));
    const seen = await store.events.acknowledge([traceId(1), traceId(9)], 'Ada', epochMs + 7);
    expect(seen).toMatchObject([{ id: traceId(1), acknowledgedAtMs: epochMs + 7, acknowledgedBy: 'Ada' }]);
    expect(await store.events.acknowledge([traceId(1)], 'Bob', epochMs + 8)).toEqual([]);
    const [, first] = await listed();
    expect(first).toMatchObject({ acknowledgedBy: 'Ada', acknowledgedAtMs: epochMs + 7 });
    const idsOf = async (isAcknowledged: boolean) =>
      (await store.events.list({ isAcknowledged }, 10, null)).map(({ id }) => id);
    expect([await idsOf(true), await idsOf(false)]).toEqual([[traceId(1)], [traceId(2)]]);
  });

  test('what is over at a moment is told from what lasts, and only that is counted as unseen', async () => {
    await record(
      ...[news, later(2, 5, { fold: 'b', endedAtMs: epochMs + 50 })],
      ...[later(3, 6, { fold: 'c', severity: 'warning' }), later(4, 7, { fold: 'd', severity: 'info' })],
    );
    const idsOf = async (isOver: boolean, atMs: number) =>
      (await store.events.list({ over: { isOver, atMs } }, 10, null)).map(({ id }) => id);
    expect(await idsOf(true, epochMs + 49)).toEqual([]);
    expect(await idsOf(true, epochMs + 50)).toEqual([traceId(2)]);
    expect(await idsOf(false, epochMs + 50)).toEqual([traceId(4), traceId(3), traceId(1)]);
    expect((await store.events.list({ toMs: epochMs + 6 }, 10, null)).map(({ id }) => id)).toEqual([
      traceId(2),
      traceId(1),
    ]);
    expect(await store.events.unseen(epochMs + 49)).toEqual({ errors: 2, warnings: 1 });
    expect(await store.events.unseen(epochMs + 50)).toEqual({ errors: 1, warnings: 1 });
    await store.events.acknowledge([traceId(1)], 'Ada', epochMs);
    expect(await store.events.unseen(epochMs + 50)).toEqual({ errors: 0, warnings: 1 });
  });

  test('the messages of a webhook are told by pages, and one is sent anew when that is asked for', async () => {
    await record({ ...news, webhooks: ['ops', 'chat'] }, later(2, 1, { fold: 'b', webhooks: ['ops'] }));
    await record({ ...over, lastAtMs: epochMs + 5, webhooks: ['ops'] });
    await store.events.claim(['ops'], epochMs + 10, epochMs + 70);
    const of = { eventId: news.id, phase: 'begun', webhook: 'ops' } as const;
    const tried = { triedAtMs: epochMs + 11, dueAtMs: 0, problem: 'HTTP 410' } as const;
    await store.events.conclude([{ ...of, ...tried, state: 'given-up' }]);
    const first = await store.events.deliveries('ops', 2, null);
    expect(first.map(({ event, phase, state }) => [event.id, phase, state])).toEqual([
      [traceId(2), 'begun', 'waiting'],
      [traceId(1), 'ended', 'waiting'],
    ]);
    const place = { eventId: traceId(1), phase: 'ended' } as const;
    expect(await store.events.deliveries('ops', 2, place)).toMatchObject([
      { phase: 'begun', state: 'given-up', attempts: 1, dueAtMs: null, problem: 'HTTP 410' },
    ]);
    const again = { eventId: traceId(1), phase: 'begun' } as const;
    expect(await store.events.redeliver('nobody', again, epochMs + 20)).toBe(false);
    expect(await store.events.redeliver('ops', again, epochMs + 20)).toBe(true);
    expect(await store.events.claim(['ops'], epochMs + 20, epochMs + 80)).toMatchObject([
      { webhook: 'ops', phase: 'begun', attempts: 0 },
    ]);
  });

  test('what is old is forgotten, with its messages', async () => {
    await record({ ...news, webhooks: ['ops'] });
    await store.events.record([later(2, 0, { fold: 'new', lastAtMs: epochMs * 2 })], epochMs * 2);
    expect((await listed()).map(({ id }) => id)).toEqual([traceId(2)]);
    expect(await store.events.standings()).toEqual([]);
  });

  const claim = (nowMs: number, at = store) => at.events.claim(['ops', 'chat'], nowMs, nowMs + 60_000);

  test('a message is due for each webhook when an event begins, and when it ends; never for what is counted', async () => {
    await record({ ...news, webhooks: ['ops', 'chat'] }, later(2, 1, { webhooks: ['ops', 'chat'] }));
    await record({ ...over, lastAtMs: epochMs + 5, webhooks: ['ops'] });
    const claimed = await claim(epochMs + 10);
    expect(claimed.map(({ webhook, phase, event }) => [webhook, phase, event.id])).toEqual([
      ['ops', 'begun', traceId(1)],
      ['ops', 'ended', traceId(1)],
      ['chat', 'begun', traceId(1)],
    ]);
  });

  test('what one process has taken is no other one’s, until it is found not to have been concluded', async () => {
    await record({ ...news, webhooks: ['ops'] });
    const other = await site.open();
    expect(await claim(epochMs)).toHaveLength(1);
    expect(await claim(epochMs + 59_999, other)).toEqual([]);
    expect(await claim(epochMs + 60_000, other)).toHaveLength(1);
  });

  test('a message that failed is due again when it was said, and one that was taken never', async () => {
    await record({ ...news, webhooks: ['ops', 'chat'] });
    await claim(epochMs);
    const result = { eventId: news.id, phase: 'begun', triedAtMs: epochMs + 1, problem: null } as const;
    await store.events.conclude([
      { ...result, webhook: 'ops', state: 'waiting', dueAtMs: epochMs + 500, problem: 'HTTP 503' },
      { ...result, webhook: 'chat', state: 'delivered', dueAtMs: 0 },
    ]);
    expect(await claim(epochMs + 499)).toEqual([]);
    expect(await claim(epochMs + 500)).toMatchObject([{ webhook: 'ops', attempts: 1 }]);
    const counts = { lastTriedAtMs: epochMs + 1, givenUp: 0 };
    expect(await store.events.standings()).toEqual([
      { ...counts, webhook: 'chat', waiting: 0, delivered: 1, lastDeliveredAtMs: epochMs + 1, problem: null },
      { ...counts, webhook: 'ops', waiting: 1, delivered: 0, lastDeliveredAtMs: null, problem: 'HTTP 503' },
    ]);
  });

  test('a webhook with much to hear is given a few at a time', async () => {
    await record(
      ...Array.from({ length: 9 }, (_, n) => later(n + 1, n, { fold: `${n}`, webhooks: ['ops'] })),
    );
    expect((await claim(epochMs + 100)).map(({ event }) => event.id)).toEqual([1, 2, 3, 4].map(traceId));
    expect((await claim(epochMs + 100)).map(({ event }) => event.id)).toEqual([5, 6, 7, 8].map(traceId));
  });
}
