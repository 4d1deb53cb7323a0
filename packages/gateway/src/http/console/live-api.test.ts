import { afterEach, beforeEach, expect, test } from 'vitest';
import { LiveHub } from '../../admin/live/live-hub.ts';
import type { Actor } from '../../admin/people/actor.ts';
import { sampleEntry, traceId } from '../../store/contract/samples.ts';
import { ConsoleApi } from './frame/console-api.ts';
import { Gate } from './frame/gate.ts';
import { liveApi } from './live-api.ts';

let live: LiveHub;
let tick: () => void;
let person: Actor | null;

const member: Actor = {
  ...{ kind: 'person', personId: 'p1', name: 'Person', isOperator: false, sessionId: 's', provenAtMs: 0 },
  ...{ memberships: [{ accountId: 'account-1', role: 'viewer' }], address: null },
};

beforeEach(() => {
  person = member;
  live = new LiveHub({
    ...{ now: () => 1_000, openCalls: () => 0, nameOf: (id) => id },
    followEvents: () => Promise.resolve({ events: [], mark: 0 }),
    every: (_, work) => {
      tick = work;
      return () => undefined;
    },
  });
});
afterEach(() => live.close());

async function open(
  query = 'topics=calls',
  headers: Readonly<Record<string, string>> = { cookie: 'session=x' },
) {
  const findPerson = () => Promise.resolve(person);
  const gate = new Gate({ operatorToken: 'operator', consoleOrigin: null, findPerson, now: () => 0 });
  const api = new ConsoleApi({ gate, creates: null });
  liveApi(api, { live }, findPerson);
  const response = await api.hono().request(`/api/v1/live?${query}`, { headers });
  const body: ReadableStream<Uint8Array<ArrayBuffer>> | null = response.body;
  const reader = body?.getReader();
  const next = async () => {
    const step = await reader?.read();
    return step?.done === false ? new TextDecoder().decode(step.value) : null;
  };
  return { response, reader, next };
}

const call = (at: number, accountId = 'account-1') => sampleEntry({ traceId: traceId(at), accountId });

test('a stream says hello, tells of the calls of its reader, and goes on where it was', async () => {
  const { response, reader, next } = await open();
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(await next()).toContain('"resumed":false');
  live.callEnded(call(1));
  live.callEnded(call(2, 'account-2'));
  tick();
  const frame = (await next()) ?? '';
  expect(frame).toContain(traceId(1));
  expect(frame).not.toMatch(/channel|account-2/);
  await reader?.cancel();
  expect(live.readerCount).toBe(0);
  live.callEnded(call(3));
  tick();
  const id = /^id: (.*)$/m.exec(frame)?.[1] ?? '';
  const back = await open('topics=calls', { cookie: 'session=x', 'last-event-id': id });
  expect(await back.next()).toContain('"resumed":true');
  expect(await back.next()).toContain(traceId(3));
  await back.reader?.cancel();
});

test('a stream ends within a second of its session, and of a change of its role', async () => {
  for (const now of [null, { ...member, memberships: [] }, { ...member, isOperator: true }]) {
    person = member;
    const { next } = await open();
    await next();
    person = now;
    const since = performance.now();
    expect(await next()).toContain('signed-out');
    expect(performance.now() - since).toBeLessThan(3_000);
    expect(await next()).toBeNull();
    expect(live.readerCount).toBe(0);
  }
});

test('who reads too slowly loses frames, hears how many, and holds no more than the bound', async () => {
  const { reader, next } = await open('topics=calls,overview', { authorization: 'Bearer operator' });
  await next();
  for (let frame = 0; frame < 200; frame++) {
    for (let at = 0; at < 25; at++) live.callEnded(call(frame * 25 + at));
    tick();
  }
  let held = 0;
  for (let text = await next(); !text?.includes('event: gap'); text = await next()) {
    held += text?.length ?? 0;
    if (held > 1_000_000) throw new Error('more is held than may be');
    // Room for the next one.
    if (held > 150_000) tick();
  }
  expect(held).toBeLessThan(600_000);
  await reader?.cancel();
});

test('strangers, and topics that there are not, are refused', async () => {
  expect((await open('topics=calls', {})).response.status).toBe(401);
  expect((await open('topics=calls,secrets')).response.status).toBe(400);
  expect((await open('')).response.status).toBe(400);
});
