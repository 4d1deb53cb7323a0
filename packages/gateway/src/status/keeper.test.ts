import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { modelOf, targetOf } from '../catalogue/catalogue.fixture.ts';
import type { Catalogue, Model, Target } from '../catalogue/catalogue.ts';
import { type CellCounts, cellMs, type StatusStore } from '../ports/status.ts';
import type { Store } from '../ports/store.ts';
import type { Outcome } from '../route/outcome.ts';
import { sampleEntry } from '../store/contract/samples.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../store/sqlite/same-thread-lane.ts';
import { StatusKeeper } from './keeper.ts';

const startMs = Date.UTC(2026, 10, 1);
const answered: Outcome = { kind: 'answered', reading: null as never };
const unreachable: Outcome = { kind: 'unreachable', detail: 'refused', sent: false };
const target = targetOf({ id: 'c' });
const model = modelOf([target], 'm');
const catalogue = { models: new Map([[model.id, model]]), channels: new Map([['c', target.channel]]) };

/** A keeper as it stands in each of several processes on one store, on a clock of the test. */
class Process {
  readonly keeper: StatusKeeper;
  readonly asked: number[] = [];
  readonly troubles: unknown[] = [];
  isAlive = true;

  constructor(store: StatusStore, clock: { nowMs: number }, probesPerCell = 10) {
    this.keeper = new StatusKeeper({
      ...{ store, catalogue: { current: catalogue as unknown as Catalogue }, directory: null, probesPerCell },
      clock: { now: () => clock.nowMs, monotonic: () => clock.nowMs },
      deployment: () => ({
        ...{ name: 'House', consoleOrigin: 'https://h.example', language: 'en' },
        ...{ siblings: [], isSimulated: false },
      }),
      onTrouble: (error) => this.troubles.push(error),
    });
    this.keeper.probeWith((asked: Target, of: Model) => {
      this.asked.push(clock.nowMs);
      queueMicrotask(() => this.keeper.probed(asked, of.id, answered));
      return true;
    });
  }

  call(count: number, outcome: Outcome, nowMs: number): void {
    const isWell = outcome.kind === 'answered';
    const entry = sampleEntry({
      ...{ modelRequested: 'm', finishedAtMs: nowMs, ttftMs: isWell ? 300 : null, attempts: [] },
      ...(isWell
        ? {}
        : { status: 'failed', unbilledReason: 'upstream_failed', errorCode: 'upstream_unavailable' }),
    });
    for (let n = 0; n < count; n++)
      this.keeper.tally.callFinished(entry, [{ target, outcome, ttftMs: entry.ttftMs }]);
  }
}

let directory: string;
let stores: Store[];
let clock: { nowMs: number };
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-keeper-'));
  stores = [];
  clock = { nowMs: startMs };
});
afterEach(async () => {
  for (const store of stores) await store.close();
  rmSync(directory, { recursive: true });
});

async function openStatus(): Promise<StatusStore> {
  const store = await openSqliteStore({
    ...{ file: join(directory, 'headgate.sqlite'), durability: 'strict', onAlarm: () => undefined },
    clock: { now: () => clock.nowMs, monotonic: () => clock.nowMs },
    openLane: (...lane) => new SameThreadLane(...lane),
  });
  stores.push(store);
  await store.prepare();
  return store.status;
}

/** A cell passes in steps of ten seconds, in each of which every process that lives has so many calls. */
async function pass(processes: readonly Process[], calls: number, outcome: Outcome): Promise<void> {
  for (const endMs = clock.nowMs + cellMs; clock.nowMs < endMs; clock.nowMs += 10_000)
    for (const each of processes.filter(({ isAlive }) => isAlive)) {
      if (calls > 0) each.call(calls, outcome, clock.nowMs);
      await each.keeper.tick();
      await Promise.resolve();
    }
}

const cellsOf = (cells: readonly CellCounts[], kind: string) => cells.filter((cell) => cell.kind === kind);

describe('two processes on one store', () => {
  test('each cell is probed by one of them, also when it is killed, and no call is counted twice or lost', async () => {
    const [one, other] = [new Process(await openStatus(), clock), new Process(await openStatus(), clock)];
    for (let cell = 0; cell < 3; cell++) await pass([one, other], 0, answered);
    const asked = () => [...one.asked, ...other.asked].map((at) => Math.floor((at - startMs) / cellMs));
    expect(asked()).toEqual([0, 1, 2]);
    // Whoever has claimed the probes of a cell dies with them; the next cell is the other one's.
    const keeper = one.asked.length > 0 ? one : other;
    const heir = keeper === one ? other : one;
    keeper.isAlive = false;
    await pass([one, other], 0, answered);
    await pass([one, other], 0, answered);
    expect(heir.asked.map((at) => Math.floor((at - startMs) / cellMs))).toEqual([3, 4]);
    await pass([one, other], 3, answered);
    clock.nowMs += 30_000;
    await heir.keeper.tick();
    const { cells, subjects } = (await stores[0]?.status.history(clock.nowMs)) ?? { cells: [], subjects: [] };
    const probes = cellsOf(cells, 'channel').map(({ probesGood, good }) => [probesGood, good]);
    expect(probes).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
      [0, 90],
    ]);
    expect(subjects.map(({ state }) => state)).toEqual(['operational', 'operational', 'operational']);
  });

  test('an outage that both see is one incident, opened and closed once, although one of them is killed in it', async () => {
    const [one, other] = [new Process(await openStatus(), clock), new Process(await openStatus(), clock)];
    const both = [one, other];
    for (let cell = 0; cell < 3; cell++) await pass(both, 2, answered);
    await pass(both, 2, unreachable);
    await pass(both, 2, unreachable);
    one.call(7, unreachable, clock.nowMs);
    one.isAlive = false;
    await pass(both, 2, unreachable);
    for (let cell = 0; cell < 5; cell++) await pass(both, 2, answered);
    const { entries, cells } = (await stores[1]?.status.history(clock.nowMs)) ?? { entries: [], cells: [] };
    const story = entries.map(({ atMs, kind, subject }) =>
      `${(atMs - startMs) / cellMs} ${kind} ${subject?.name ?? ''}`.trim(),
    );
    expect(story).toEqual(['3 opened m', '3 joined c', '6 recovered m', '6 recovered c', '6 closed']);
    // The one that was killed has lost what it counted since it last wrote, and nothing else.
    const counts = cellsOf(cells, 'model').map(({ good, bad }) => good + bad);
    expect(counts).toEqual([120, 120, 120, 120, 120, 60, 60, 60, 60, 60, 60]);
  });
});

test('counts that cannot be written are kept, and written when they can be', async () => {
  const store = await openStatus();
  let isLost = true;
  const failing: StatusStore = {
    ...store,
    add: (...inputs) => (isLost ? Promise.reject(new Error('no disk')) : store.add(...inputs)),
  };
  const process = new Process(failing, clock);
  process.call(5, answered, clock.nowMs);
  clock.nowMs += 10_000;
  await process.keeper.tick();
  expect(process.troubles).toMatchObject([{ message: 'no disk' }]);
  isLost = false;
  process.call(2, answered, clock.nowMs);
  await process.keeper.close();
  const { cells } = await store.history(clock.nowMs);
  expect(cellsOf(cells, 'model')).toMatchObject([{ good: 7 }]);
});

test('the page is made soon after the start, when cells were judged, and when something was said', async () => {
  const store = await openStatus();
  let made = 0;
  const counting: StatusStore = {
    ...store,
    files: (view) => {
      made++;
      return store.files(view);
    },
  };
  const { keeper } = new Process(counting, clock, 0);
  await keeper.tick();
  expect([made, keeper.files]).toEqual([0, null]);
  clock.nowMs += 10_000;
  await keeper.tick();
  await keeper.tick();
  expect(made).toBe(1);
  expect(keeper.files?.has('/status/en')).toBe(true);
  keeper.changed();
  await keeper.tick();
  expect(made).toBe(2);
  clock.nowMs = startMs + cellMs + 20_000;
  await keeper.tick();
  expect(made).toBe(3);
  await Promise.all([keeper.make(), keeper.make()]);
  expect(made).toBe(4);
});
