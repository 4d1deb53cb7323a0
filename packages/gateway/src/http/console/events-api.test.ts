import { afterEach, beforeEach, expect, test } from 'vitest';
import { NewsBell } from '../../events/news-bell.ts';
import type { EventFilter, OperatorEvent } from '../../ports/events.ts';
import { eventsApi } from './events-api.ts';

const event: OperatorEvent = {
  id: '1'.repeat(32),
  kind: 'missing-credential',
  severity: 'error',
  subject: 'channel:main',
  detail: { reason: 'x' },
  count: 2,
  firstAtMs: 1,
  lastAtMs: 2,
  endedAtMs: null,
};

let asked: { filter: EventFilter; limit: number; before: string | null }[] = [];
let stored: OperatorEvent[] = [];
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

const routes = eventsApi({
  nextNews: (withinMs) => bell.heard(withinMs),
  webhooks: () => Promise.resolve([]),
  events: {
    list: (filter, limit, before) => {
      asked.push({ filter, limit, before });
      return Promise.resolve(stored.slice(0, limit));
    },
    follow: (_, after) =>
      Promise.resolve({ events: after !== null && after < mark ? stored : [], mark: mark }),
  },
});

async function ask(path: string) {
  const answer = await routes.request(path);
  const json: unknown = await answer.json();
  return { status: answer.status, json };
}

test('lists events, with the filter and the place that were asked for', async () => {
  expect(await ask('/events')).toEqual({ status: 200, json: { events: [event], next: null } });
  const before = 'a'.repeat(32);
  await ask(`/events?kind=bug&severity=error&sinceMs=5&limit=3&before=${before}`);
  expect(asked).toEqual([
    { filter: { fromMs: 0 }, limit: 51, before: null },
    { filter: { fromMs: 5, kind: 'bug', severity: 'error' }, limit: 4, before },
  ]);
});

test('a page that is not the last one says where the next begins', async () => {
  stored = [event, { ...event, id: '0'.repeat(32) }];
  expect((await ask('/events?limit=1')).json).toEqual({ events: [event], next: event.id });
});

test.each([
  ['/events?kind=x', 'kind'],
  ['/events?severity=x', 'severity'],
  ['/events?limit=0', 'limit'],
  ['/events?limit=501', 'limit'],
  ['/events?limit=1e2', 'limit'],
  ['/events?before=x', 'before'],
  ['/events?sinceMs=-1', 'sinceMs'],
  ['/events/follow?wait=31', 'wait'],
  ['/events/follow?after=x', 'after'],
])('%s is refused by its name', async (path, param) => {
  expect(await ask(path)).toMatchObject({
    status: 400,
    json: {
      error: { code: 'invalid_request', param, message: expect.stringMatching(`^${param}: `) as string },
    },
  });
});

test('a follower is given the mark of now, and then is answered when something has happened', async () => {
  expect((await ask('/events/follow')).json).toEqual({ events: [], mark: 7 });
  const waiting = ask('/events/follow?after=7');
  await new Promise((resolve) => setTimeout(resolve, 20));
  mark = 8;
  bell.ring();
  expect((await waiting).json).toEqual({ events: [event], mark: 8 });
});

test('a follower who will not wait is answered at once, and one who waits at the end of its time', async () => {
  expect((await ask('/events/follow?after=7&wait=0')).json).toEqual({ events: [], mark: 7 });
  const begunAt = performance.now();
  expect((await ask('/events/follow?after=7&wait=1')).json).toEqual({ events: [], mark: 7 });
  expect(performance.now() - begunAt).toBeGreaterThan(900);
});

test('so many followers wait, and one more is told to come later', async () => {
  const waiting = Array.from({ length: 50 }, () => ask('/events/follow?after=7&wait=5'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await ask('/events/follow?after=7')).toMatchObject({
    status: 503,
    json: { error: { code: 'too_many_followers' } },
  });
  mark = 8;
  bell.ring();
  await Promise.all(waiting);
  expect((await ask('/events/follow?after=7')).status).toBe(200);
});
