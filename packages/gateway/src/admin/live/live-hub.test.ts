import { expect, test } from 'vitest';
import type { CallEntry } from '../../ports/ledger.ts';
import { sampleEntry, traceId } from '../../store/contract/samples.ts';
import type { Scope } from '../people/actor.ts';
import { type LiveFrame, LiveHub, type LiveTopic, liveTopics, readersMax } from './live-hub.ts';

function openHub() {
  let tick: (() => void) | null = null;
  const time = { nowMs: 1_000_000 };
  const hub = new LiveHub({
    now: () => time.nowMs,
    openCalls: () => 7,
    nameOf: (id) => `name of ${id}`,
    followEvents: (mark) => Promise.resolve({ events: [], mark: (mark ?? 0) + 1 }),
    every: (_, work) => {
      tick = work;
      return () => {
        tick = null;
      };
    },
  });
  const pass = (frames = 1) => {
    for (let at = 0; at < frames; at++) {
      time.nowMs += 250;
      tick?.();
    }
  };
  return { hub, pass, time, isTicking: () => tick !== null };
}

function join(
  hub: LiveHub,
  scope: Scope,
  topics: readonly LiveTopic[] = liveTopics,
  after: string | null = null,
) {
  const frames: LiveFrame[] = [];
  const ends: string[] = [];
  const joined = hub.join(
    scope,
    { topics: new Set(topics), send: (frame) => frames.push(frame), end: (reason) => ends.push(reason) },
    after,
  );
  joined?.greet();
  const of = (topic: LiveTopic) =>
    frames
      .filter((frame) => frame.topic === topic)
      .map(({ text }) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '') as Shown);
  return { frames, ends, joined, of };
}

interface Shown {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly skipped: number;
  readonly callsPerSecond: number;
  readonly spendPerMinute: string;
  readonly openCalls: number | null;
}

const call = (at: number, accountId = 'account-1'): CallEntry =>
  sampleEntry({ traceId: traceId(at), accountId });
const idOf = (frame: LiveFrame | undefined) => /^id: (.*)$/m.exec(frame?.text ?? '')?.[1] ?? null;

test('each reader hears of the calls of its own accounts; channels and costs are for operators', () => {
  const { hub, pass } = openHub();
  const [operator, own, stranger] = [join(hub, 'all'), join(hub, ['account-1']), join(hub, ['account-2'])];
  hub.callEnded(call(1));
  hub.serviceChanged({ kind: 'back', afterMs: 5 }, 'channel-1', 'alpha');
  pass(4);
  expect(operator.of('calls')[0]?.items[0]).toMatchObject({
    traceId: traceId(1),
    keyName: 'name of key-1',
    channelId: 'channel-1',
  });
  expect(own.of('calls')[0]?.items[0]).toMatchObject({ traceId: traceId(1) });
  expect(JSON.stringify(own.frames)).not.toMatch(/channel|\\"cost\\"/);
  expect(stranger.of('calls')).toEqual([]);
  expect(stranger.of('overview')).toMatchObject([{ callsPerSecond: 0, openCalls: null }]);
  expect(operator.of('overview')).toMatchObject([{ callsPerSecond: 1, openCalls: 7 }]);
  expect(operator.of('channels')[0]?.items).toMatchObject([{ channelId: 'channel-1', change: 'restored' }]);
  expect(own.of('channels')).toEqual([]);
});

test('a flood is counted and not listed, and costs no memory', () => {
  const { hub, pass } = openHub();
  const { of } = join(hub, 'all');
  for (let at = 0; at < 5_000; at++) hub.callEnded(call(at));
  pass(4);
  const [frame] = of('calls');
  expect(frame?.items).toHaveLength(25);
  expect(frame?.skipped).toBe(4_975);
  expect(of('overview')[0]?.callsPerSecond).toBe(5_000);
});

test('a reader who comes back is sent what it has missed, and is told where that is not known', () => {
  const { hub, pass, time } = openHub();
  const first = join(hub, 'all', ['calls']);
  hub.callEnded(call(1));
  pass();
  const last = idOf(first.frames.at(-1));
  first.joined?.leave();
  hub.callEnded(call(2));
  pass();
  const back = join(hub, 'all', ['calls'], last);
  expect(back.joined?.resumed).toBe(true);
  expect(back.of('calls').map(({ items }) => items[0]?.['traceId'])).toEqual([traceId(2)]);
  // An id of another audience, of another process, or of long ago.
  expect(join(hub, ['account-1'], ['calls'], last).joined?.resumed).toBe(false);
  expect(join(openHub().hub, 'all', ['calls'], 'x.1').joined?.resumed).toBe(false);
  for (let at = 0; at < 100; at++) {
    hub.callEnded(call(10 + at));
    pass();
  }
  expect(join(hub, 'all', ['calls'], last).joined?.resumed).toBe(false);
  back.joined?.leave();
  time.nowMs += 60_000;
});

test('nothing is gathered and nothing ticks while nobody looks on', () => {
  const { hub, pass, isTicking } = openHub();
  expect(hub.isWatched).toBe(false);
  const reader = join(hub, 'all');
  expect(hub.isWatched).toBe(true);
  reader.joined?.leave();
  pass(200);
  expect(isTicking()).toBe(false);
  expect(hub.isWatched).toBe(false);
});

test('there are only so many readers, and all are told when the process goes', () => {
  const { hub } = openHub();
  const readers = Array.from({ length: readersMax }, () => join(hub, 'all'));
  expect(join(hub, 'all').joined).toBeNull();
  hub.close();
  expect(readers.every(({ ends }) => ends[0] === 'restart')).toBe(true);
});

test('readers of channels are told once a second how those stand that calls were sent to, and nobody else is', () => {
  const { hub, pass } = openHub();
  const asked: string[][] = [];
  hub.tellStandings((ids) => {
    asked.push([...ids]);
    return asked.at(-1)?.map((id) => ({ id })) ?? [];
  });
  const member = join(hub, ['account-1']);
  hub.callEnded(call(1));
  pass(4);
  expect(asked).toEqual([]);
  const idle = join(hub, 'all', ['calls']);
  pass(4);
  expect(asked).toEqual([]);
  const operator = join(hub, 'all');
  const [first] = call(2).attempts;
  hub.callEnded(call(2));
  hub.callEnded(call(3));
  hub.serviceChanged({ kind: 'back', afterMs: 1 } as never, 'other', 'm');
  pass(3);
  expect(operator.of('channels')).toMatchObject([{ items: [{ channelId: 'other' }] }]);
  pass(1);
  expect(asked).toEqual([['other', first?.channelId]]);
  expect(operator.of('channels').at(-1)).toMatchObject({
    standings: expect.arrayContaining([{ id: 'other' }]) as unknown,
  });
  pass(4);
  expect(asked).toHaveLength(2);
  expect(asked[1]).toEqual([]);
  expect([...member.of('channels'), ...idle.of('channels')]).toEqual([]);
});
