import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isSlow } from '../../../../test/support/slow-form.ts';
import type { OwnerLimits, RateKind } from '../catalogue/limits.ts';
import { nanoUsd } from '../money/money.ts';
import type { Store } from '../ports/store.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import { accountOf, demand, ownerOf, rate } from './lease-site.fixture.ts';
import type { Heat, HeatResult, RaceMessage } from './race-worker.fixture.ts';

const heats = isSlow ? 200 : 2;
const processes = 4;
const timesTooMany = 50;
const charge = 1_000n;
const tokens = 70;
const worker = new URL('./race-worker.fixture.ts', import.meta.url);
const clock = { now: Date.now, monotonic: () => performance.now() };

let directory: string;
let store: Store;
let racers: ChildProcess[];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-race-'));
  const file = join(directory, 'headgate.sqlite');
  const openLane = (...lane: ConstructorParameters<typeof SameThreadLane>) => new SameThreadLane(...lane);
  store = await openSqliteStore({ file, durability: 'strict', clock, openLane, onAlarm: () => undefined });
  await store.configuration.revision();
  racers = Array.from({ length: processes }, () =>
    fork(worker, [file], { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  );
  await Promise.all(racers.map((racer) => once(racer, 'message')));
}, 60_000);
afterAll(async () => {
  await Promise.all(
    racers.map((racer) => {
      const closed = once(racer, 'close');
      racer.kill('SIGKILL');
      return closed;
    }),
  );
  await store.close();
  rmSync(directory, { recursive: true });
});

async function tell<Answer>(
  message: RaceMessage | ((at: number) => RaceMessage),
): Promise<readonly Answer[]> {
  return Promise.all(
    racers.map(async (racer, at) => {
      const answered = once(racer, 'message');
      racer.send(typeof message === 'function' ? message(at) : message);
      return (await answered)[0] as Answer;
    }),
  );
}

/** The same numbers for the same seed (Park and Miller, 1988). */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed * 7919 + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const rated = (kind: RateKind, each: number) => (id: string, count: number) => [
  ownerOf(id, { rates: [rate(kind, count * each)] }),
];

/** Room for exactly so many calls, in each way that there is. */
const kinds: Readonly<Record<string, (id: string, count: number) => readonly OwnerLimits[]>> = {
  balance: (id, count) => [accountOf(id, BigInt(count) * charge)],
  budget: (id, count) => [
    ownerOf(id, { budgets: [{ span: 'day', amountNanoUsd: nanoUsd(BigInt(count) * charge) }] }),
  ],
  'all at once': (id, count) => [
    accountOf(id, BigInt(count + 1) * charge, { rates: [rate('requests-per-day', count + 1)] }),
    ownerOf(id, {
      owner: 'group',
      rates: [rate('requests-per-minute', count), rate('concurrent-calls', 1_000)],
    }),
    ownerOf(id, { budgets: [{ span: 'total', amountNanoUsd: nanoUsd(BigInt(count) * charge) }] }),
  ],
  'requests-per-minute': rated('requests-per-minute', 1),
  'tokens-per-minute': rated('tokens-per-minute', tokens),
  'concurrent-calls': rated('concurrent-calls', 1),
};

test(
  `of fifty times too many calls in four processes, exactly as many are admitted as there is room for, ${heats} times`,
  async () => {
    let [admitted, asked] = [0, 0];
    for (let seed = 1; seed <= heats; seed++) {
      const next = numbersFrom(seed);
      const counts = Object.keys(kinds).map(() => 1 + next(5));
      const lanes = Object.values(kinds).map((ownersFor, at) => ({
        owners: ownersFor(`heat-${seed}-${at}`, counts[at] ?? 0),
        demand: demand(charge, { tokens }),
        calls: Math.ceil(((counts[at] ?? 0) * timesTooMany) / processes),
      }));
      const heat: Heat = { lanes };
      const results = await tell<HeatResult>({ heat });
      const sums = Object.fromEntries(
        Object.keys(kinds).map((kind, at) => [
          kind,
          results.reduce((sum, each) => sum + (each.admitted[at] ?? 0), 0),
        ]),
      );
      expect({ seed, ...sums }).toEqual({
        seed,
        ...Object.fromEntries(Object.keys(kinds).map((kind, at) => [kind, counts[at]])),
      });
      expect(results.flatMap(({ others }) => others)).toEqual([]);
      await tell('let-go');
      admitted += counts.reduce((sum, count) => sum + count, 0);
      asked += lanes.reduce((sum, { calls }) => sum + calls * processes, 0);
    }
    const { findings } = await store.verify();
    expect(findings.filter(({ rule }) => /lease|spending|sums|balance/.test(rule))).toEqual([]);
    console.log(
      `overdraft race: ${heats} heats, ${admitted} of ${asked} calls admitted, no more and no fewer`,
    );
  },
  60_000 + heats * 2_000,
);
