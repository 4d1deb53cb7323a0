import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Actor } from '../../admin/people/actor.ts';
import type { EventNews } from '../../ports/events.ts';
import type { Store } from '../../ports/store.ts';
import { epochMs, traceId } from '../../store/contract/samples.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../../store/sqlite/same-thread-lane.ts';
import { eventsApi } from './events-api.ts';
import type { ConsoleApi } from './frame/console-api.ts';
import { testApi } from './frame/test-api.fixture.ts';
import { webhooksApi } from './webhooks-api.ts';

const news: EventNews = {
  ...{ id: traceId(1), kind: 'missing-credential', severity: 'error', subject: 'channel:main' },
  ...{ fold: 'channel:main', foldMs: 1_000, detail: { channel: 'main' }, count: 1 },
  ...{ firstAtMs: epochMs, lastAtMs: epochMs, endedAtMs: null, webhooks: ['ops'] },
};
let directory = '';
let store: Store;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-webhooks-api-'));
  store = await openSqliteStore({
    file: join(directory, 'headgate.sqlite'),
    durability: 'strict',
    clock: { now: () => epochMs, monotonic: () => performance.now() },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: console.error,
  });
  await store.events.record([news, { ...news, id: traceId(2), fold: 'b', subject: '' }], epochMs);
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function define(api: ConsoleApi): void {
  const eventTools = (actor: Actor) => ({ store, actor, nowMs: epochMs + 5 });
  const webhookTools = (actor: Actor) => ({
    ...{ store, actor, dataDir: directory, nowMs: epochMs + 5 },
    bringIn: () => Promise.resolve(),
  });
  eventsApi(api, { events: store.events, nextNews: () => Promise.resolve(), eventTools });
  webhooksApi(api, {
    ...{ eventTools, webhookTools, webhooks: () => Promise.resolve([]) },
    postTest: (name) => (name === 'ops' ? Promise.resolve('HTTP 500') : null),
  });
}

const ada: Actor = {
  ...{ kind: 'person', personId: 'p1', name: 'Ada', isOperator: true, sessionId: 's', provenAtMs: 0 },
  ...{ memberships: [], address: null },
};
const ask: ReturnType<typeof testApi> = (...asked) => testApi(define, { actor: ada })(...asked);
const auditOf = async () =>
  (await store.audit.list({ accounts: 'all' }, 10, null)).map(({ action, actor, target }) => [
    action,
    actor.name,
    target.name ?? target.id,
  ]);

test('an event is acknowledged once, by name and in the audit, and is counted as unseen until then', async () => {
  expect((await ask('GET', '/events/unseen')).json).toEqual({ errors: 2, warnings: 0 });
  const { json } = await ask('POST', '/events/acknowledge', { ids: [traceId(1), traceId(2)] });
  expect(json).toMatchObject({
    items: [{ acknowledgedBy: 'Ada', acknowledgedAt: new Date(epochMs + 5).toISOString() }, {}],
  });
  expect((await ask('POST', '/events/acknowledge', { ids: [traceId(1)] })).json).toEqual({ items: [] });
  expect((await ask('GET', '/events/unseen')).json).toEqual({ errors: 0, warnings: 0 });
  expect((await ask('GET', '/events?acknowledged=false')).json).toMatchObject({ items: [] });
  expect(await auditOf()).toEqual(
    expect.arrayContaining([
      ['event.acknowledge', 'Ada', 'channel:main'],
      ['event.acknowledge', 'Ada', 'missing-credential'],
    ]),
  );
  for (const [ids, field] of [
    [[], 'ids'],
    [['x'], 'ids.0'],
  ] as const)
    expect(await ask('POST', '/events/acknowledge', { ids })).toMatchObject({
      status: 400,
      json: { errors: [{ field }] },
    });
});

test('messages of a webhook are listed by pages, and sent anew', async () => {
  const first = await ask('GET', '/webhooks/ops/deliveries?limit=1');
  expect(first.json).toMatchObject({
    items: [{ event: { id: traceId(2) }, phase: 'begun', state: 'waiting', attempts: 0 }],
  });
  const next = await ask('GET', `/webhooks/ops/deliveries?limit=1&cursor=${String(first.json['next'])}`);
  expect(next.json).toMatchObject({ items: [{ event: { id: traceId(1) } }], next: null });
  const message = { eventId: traceId(1), phase: 'begun' };
  expect((await ask('POST', '/webhooks/ops/redeliver', message)).status).toBe(204);
  expect((await ask('POST', '/webhooks/nobody/redeliver', message)).status).toBe(404);
  expect(await auditOf()).toContainEqual(['webhook.redeliver', 'Ada', 'ops']);
});

test('a test message tells what its receiver answers', async () => {
  expect((await ask('POST', '/webhooks/ops/test')).json).toMatchObject({ problem: 'HTTP 500' });
  expect((await ask('POST', '/webhooks/nobody/test')).status).toBe(404);
  expect(await auditOf()).toContainEqual(['webhook.test', 'Ada', 'ops']);
});
