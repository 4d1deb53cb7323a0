import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventTools } from '../../admin/events.ts';
import { NewsBell } from '../../events/news-bell.ts';
import type { EventFilter, KeptEvent } from '../../ports/events.ts';
import { eventsApi } from './events-api.ts';
import { writeCursor } from './frame/pages.ts';
import { testApi } from './frame/test-api.fixture.ts';

const event: KeptEvent = {
  id: '1'.repeat(32),
  kind: 'missing-credential',
  severity: 'error',
  subject: 'channel:main',
  detail: { reason: 'x' },
  count: 2,
  firstAtMs: 1,
  lastAtMs: 2,
  endedAtMs: null,
  acknowledgedAtMs: null,
  acknowledgedBy: null,
};

const shown = {
  ...{ id: event.id, kind: event.kind, severity: event.severity, subject: event.subject },
  ...{ detail: event.detail, count: event.count },
  firstAt: '1970-01-01T00:00:00.001Z',
  lastAt: '1970-01-01T00:00:00.002Z',
  endedAt: null,
  acknowledgedAt: null,
  acknowledgedBy: null,
};

/** Lists ask the store itself. */
const tools = { nowMs: 100, actor: { kind: 'operator-token', address: null } } as EventTools;

let asked: { filter: EventFilter; limit: number; before: string | null }[] = [];
let stored: KeptEvent[] = [];
let mark = 7;
let bell = new NewsBell();

beforeEach(() => {
  asked = [];
  stored = [event];
  mark = 7;
});
afterEach(() => {
  bell = new NewsBell();
});

const ask = testApi((api) =>
  eventsApi(api, {
    nextNews: (withinMs) => bell.heard(withinMs),
    eventTools: () => tools,
    events: {
      list: (filter, limit, before) => {
        asked.push({ filter, limit, before });
        return Promise.resolve(stored.slice(0, limit));
      },
      follow: (_, after) =>
        Promise.resolve({ events: after !== null && after < mark ? stored : [], mark: mark }),
    },
  }),
);

test('lists events, with the filter and the place that were asked for', async () => {
  expect(await ask('GET', '/events')).toMatchObject({ status: 200, json: { items: [shown], next: null } });
  const before = 'a'.repeat(32);
  await ask('GET', '/events?state=ended&acknowledged=false&until=1970-01-01T00:00:00.009Z');
  await ask(
    'GET',
    `/events?kind=bug&severity=error&since=1970-01-01T00:00:00.005Z&limit=3&cursor=${writeCursor([before])}`,
  );
  expect(asked).toEqual([
    { filter: { fromMs: 0 }, limit: 51, before: null },
    {
      filter: { fromMs: 0, toMs: 9, over: { isOver: true, atMs: 100 }, isAcknowledged: false },
      ...{ limit: 51, before: null },
    },
    { filter: { fromMs: 5, kind: 'bug', severity: 'error' }, limit: 4, before },
  ]);
});

test('a page that is not the last one says where the next begins', async () => {
  stored = [event, { ...event, id: '0'.repeat(32) }];
  expect((await ask('GET', '/events?limit=1')).json).toEqual({
    items: [shown],
    next: writeCursor([event.id]),
  });
});

test.each([
  ['/events?kind=x', 'kind'],
  ['/events?severity=x', 'severity'],
  ['/events?limit=0', 'limit'],
  ['/events?limit=201', 'limit'],
  ['/events?limit=1e2', 'limit'],
  ['/events?cursor=x', 'cursor'],
  ['/events?state=x', 'state'],
  ['/events?acknowledged=yes', 'acknowledged'],
  ['/events?since=-1', 'since'],
  ['/events?sinceMs=1', 'sinceMs'],
  ['/events/follow?wait=31', 'wait'],
  ['/events/follow?after=x', 'after'],
])('%s is refused by its name', async (path, param) => {
  expect(await ask('GET', path)).toMatchObject({
    status: 400,
    json: { code: 'invalid_request', errors: [{ field: param }] },
  });
});

test('a follower is given the mark of now, and then is answered when something has happened', async () => {
  expect((await ask('GET', '/events/follow')).json).toEqual({ events: [], mark: 7 });
  const waiting = ask('GET', '/events/follow?after=7');
  await new Promise((resolve) => setTimeout(resolve, 20));
  mark = 8;
  bell.ring();
  expect((await waiting).json).toEqual({ events: [shown], mark: 8 });
});

test('a follower who will not wait is answered at once, and one who waits at the end of its time', async () => {
  expect((await ask('GET', '/events/follow?after=7&wait=0')).json).toEqual({ events: [], mark: 7 });
  const begunAt = performance.now();
  expect((await ask('GET', '/events/follow?after=7&wait=1')).json).toEqual({ events: [], mark: 7 });
  expect(performance.now() - begunAt).toBeGreaterThan(900);
});

test('so many followers wait, and one more is told to come later', async () => {
  const waiting = Array.from({ length: 50 }, () => ask('GET', '/events/follow?after=7&wait=5'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await ask('GET', '/events/follow?after=7')).toMatchObject({
    status: 503,
    json: { code: 'too_many_followers' },
  });
  mark = 8;
  bell.ring();
  await Promise.all(waiting);
  expect((await ask('GET', '/events/follow?after=7')).status).toBe(200);
});
