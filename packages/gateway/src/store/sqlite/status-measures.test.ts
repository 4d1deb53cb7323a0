import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CellCounts, cellMs, dayMs, type IncidentEntry, type Subject } from '../../ports/status.ts';
import { incidentsOf } from '../../status/incidents.ts';
import { addValue, type Spread, writeSpread } from '../../status/spread.ts';
import { migrate } from './migrations.ts';
import { StatusIncidents } from './status-incidents.ts';
import { StatusMeasures } from './status-measures.ts';

const startMs = Date.UTC(2026, 10, 1);
const model: Subject = { kind: 'model', name: 'm' };

/** What one cell of a subject is like. */
interface Weather {
  readonly calls?: number;
  /** The share that goes well; all if left out. */
  readonly share?: number;
  readonly ttftMs?: number;
  readonly probes?: { readonly good: number; readonly bad: number };
}

/** A store whose cells a test writes, on a clock that it moves cell by cell. */
class World {
  readonly database = new DatabaseSync(':memory:', { readBigInts: true });
  readonly measures: StatusMeasures;
  readonly incidents: StatusIncidents;
  nowMs = startMs;
  subjects: readonly Subject[] = [model];

  constructor() {
    migrate(this.database);
    this.measures = new StatusMeasures(this.database);
    this.incidents = new StatusIncidents(this.database);
  }

  /** So many cells of this weather. */
  pass(cells: number, weather: Weather | null, subject = model): void {
    for (let n = 0; n < cells; n++) {
      if (weather !== null) this.measures.add([cellOf(subject, this.nowMs, weather)], this.nowMs);
      this.end();
    }
  }

  /** The running cell ends, and is judged. */
  end(): void {
    this.nowMs += cellMs;
    this.measures.judge(this.subjects, this.nowMs + 30_000);
  }

  get entries(): readonly IncidentEntry[] {
    return this.measures.history(this.nowMs).entries;
  }

  /** Each entry as `minutes since the start, kind, subject, state`. */
  get story(): readonly string[] {
    return this.entries.map(({ atMs, kind, subject, state }) =>
      [(atMs - startMs) / 60_000, kind, subject?.name, state].filter((part) => part != null).join(' '),
    );
  }

  stateOf(name: string): string | undefined {
    return this.measures.history(this.nowMs).subjects.find((subject) => subject.name === name)?.state;
  }
}

function cellOf(
  subject: Subject,
  atMs: number,
  { calls = 100, share = 1, ttftMs, probes }: Weather,
): CellCounts {
  const good = Math.round(calls * share);
  const spread: Spread = new Map();
  if (ttftMs !== undefined) for (let n = 0; n < good; n++) addValue(spread, ttftMs);
  return {
    ...{ ...subject, startMs: atMs, good, bad: calls - good },
    ...{ probesGood: probes?.good ?? 0, probesBad: probes?.bad ?? 0, spread: writeSpread(spread) },
  };
}

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => {
  world.database.close();
});

describe('written incidents, in simulated time', () => {
  test('an outage is entered after two cells and left after three, and told with the times it really had', () => {
    world.pass(12, {});
    world.pass(1, { share: 0.1 });
    expect(world.stateOf('m')).toBe('operational');
    world.pass(5, { share: 0.1 });
    expect(world.stateOf('m')).toBe('outage');
    world.pass(2, {});
    expect(world.stateOf('m')).toBe('outage');
    world.pass(1, {});
    expect(world.stateOf('m')).toBe('operational');
    expect(world.story).toEqual(['60 opened m outage', '90 recovered m operational', '90 closed']);
  });

  test('a brown-out is partial, or degraded, by the share that fails', () => {
    world.pass(3, {});
    world.pass(3, { share: 0.97 });
    world.pass(3, { share: 0.7 });
    world.pass(3, {});
    expect(world.story).toEqual([
      '15 opened m degraded',
      '30 changed m partial',
      '45 recovered m operational',
      '45 closed',
    ]);
  });

  test('first content that takes ten times as long as in the seven days before is degraded', () => {
    world.pass(288, { ttftMs: 300 });
    world.pass(4, { ttftMs: 3000 });
    world.pass(4, { ttftMs: 300 });
    expect(world.story).toEqual(['1440 opened m degraded', '1460 recovered m operational', '1460 closed']);
    expect(world.entries[0]?.facts).toMatchObject({ good: 100, total: 100 });
    const { p95Ms = 0, usualP95Ms = 0 } = world.entries[0]?.facts ?? {};
    expect(p95Ms / usualP95Ms).toBeGreaterThan(9);
  });

  test('what is slow does not become usual while it is slow', () => {
    world.pass(12, { ttftMs: 300, calls: 30 });
    world.pass(60, { ttftMs: 3000, calls: 100 });
    expect(world.stateOf('m')).toBe('degraded');
    expect(world.story).toEqual(['60 opened m degraded']);
  });

  test('a recovery by steps is told step by step, in one incident', () => {
    world.pass(3, {});
    world.pass(3, { share: 0.2 });
    world.pass(3, { share: 0.8 });
    world.pass(3, { share: 0.98 });
    world.pass(3, {});
    expect(world.story).toEqual([
      '15 opened m outage',
      '30 changed m partial',
      '45 changed m degraded',
      '60 recovered m operational',
      '60 closed',
    ]);
    expect(incidentsOf(world.entries)).toHaveLength(1);
  });

  test('no data is unknown and neither opens nor closes an incident', () => {
    expect(world.stateOf('m')).toBeUndefined();
    world.pass(3, {});
    world.pass(1, null);
    expect(world.stateOf('m')).toBe('operational');
    world.pass(1, null);
    expect(world.stateOf('m')).toBe('unknown');
    world.pass(2, { share: 0 });
    expect(world.stateOf('m')).toBe('outage');
    world.pass(2, null);
    expect(world.stateOf('m')).toBe('unknown');
    world.pass(2, {});
    expect(world.stateOf('m')).toBe('outage');
    world.pass(1, {});
    expect(world.story).toEqual(['25 opened m outage', '45 recovered m operational', '45 closed']);
  });

  test('a channel that flaps from cell to cell opens no incident; one that flaps within them does', () => {
    world.subjects = [{ kind: 'channel', name: 'c' }];
    const [channel = model] = world.subjects;
    for (let n = 0; n < 20; n++) world.pass(1, { share: n % 2 }, channel);
    expect(world.story).toEqual([]);
    world.pass(6, { share: 0.5 }, channel);
    // It does not leave on single good cells, either.
    for (let n = 0; n < 10; n++) world.pass(1, { share: n % 3 === 0 ? 0 : 1 }, channel);
    world.pass(3, {}, channel);
    expect(world.story).toEqual(['100 opened c partial', '180 recovered c operational', '180 closed']);
  });

  test('few calls are judged by probes too; many are not', () => {
    world.pass(3, { calls: 3, probes: { good: 2, bad: 0 } });
    world.pass(2, { calls: 0, probes: { good: 0, bad: 2 } });
    expect(world.stateOf('m')).toBe('outage');
    world.pass(3, { calls: 20, probes: { good: 0, bad: 20 } });
    expect(world.stateOf('m')).toBe('operational');
    expect(world.entries[0]?.facts).toMatchObject({ good: 0, total: 2, isProbed: true });
  });

  test('what fails together is one incident, which ends when all are well', () => {
    const channel: Subject = { kind: 'channel', name: 'c' };
    world.subjects = [model, channel];
    const both = (cells: number, weather: Weather, other: Weather) => {
      for (let n = 0; n < cells; n++) {
        world.measures.add(
          [cellOf(model, world.nowMs, weather), cellOf(channel, world.nowMs, other)],
          world.nowMs,
        );
        world.end();
      }
    };
    both(3, {}, {});
    both(1, { share: 0 }, {});
    both(3, { share: 0 }, { share: 0 });
    both(3, {}, { share: 0 });
    both(3, {}, {});
    expect(world.story).toEqual([
      '15 opened m outage',
      '20 joined c outage',
      '35 recovered m operational',
      '50 recovered c operational',
      '50 closed',
    ]);
  });

  test('announced maintenance keeps its subjects out of incidents, until it is over', () => {
    world.pass(3, {});
    const work = { title: { en: 'Move' }, fromMs: world.nowMs, toMs: world.nowMs + 6 * cellMs, author: 'me' };
    world.incidents.addMaintenance({ ...work, subjects: [model] });
    world.pass(6, { share: 0 });
    expect(world.story).toEqual([]);
    world.pass(1, { share: 0 });
    expect(world.story).toEqual([]);
    world.pass(1, { share: 0 });
    expect(world.story).toEqual(['45 opened m outage']);
  });

  test('a subject that is there no more, or silent for a day, leaves its incident', () => {
    world.pass(3, {});
    world.pass(3, { share: 0 });
    world.subjects = [{ kind: 'model', name: 'other' }];
    world.pass(1, {}, world.subjects[0]);
    expect(world.story.slice(1)).toEqual(['35 recovered m', '35 closed']);
    world.subjects = [model];
    world.pass(2, { share: 0 });
    world.pass(290, null);
    expect(world.entries.at(-1)?.kind).toBe('closed');
  });
});

test('counts of several processes are one cell, and whichever judges first, judges for all', () => {
  const other = new StatusMeasures(world.database);
  for (let n = 0; n < 3; n++) {
    world.measures.add([cellOf(model, world.nowMs, { calls: 90 })], world.nowMs);
    other.add([cellOf(model, world.nowMs, { calls: 60, share: 0 })], world.nowMs);
    world.nowMs += cellMs;
    expect(other.judge([model], world.nowMs + 30_000)).toBe(true);
    expect(world.measures.judge([model], world.nowMs + 30_000)).toBe(false);
  }
  expect(world.story).toEqual(['0 opened m partial']);
  const [day] = world.measures.history(world.nowMs).days;
  expect(day).toMatchObject({ good: 270, bad: 180, cells: 3 });
});

test('a gateway that was down for hours goes on with the cells that it missed, as cells without data', () => {
  world.pass(3, {});
  world.nowMs += 5 * 3_600_000;
  world.pass(1, {});
  expect(world.stateOf('m')).toBe('operational');
  const [day] = world.measures.history(world.nowMs).days;
  expect(day?.cells).toBe(4);
});

test('a day of cells is kept, and 90 days of sums', () => {
  for (let day = 0; day < 100; day++) {
    world.pass(1, { ttftMs: 100 });
    world.nowMs = startMs + (day + 1) * dayMs;
  }
  world.pass(2, {});
  const { cells, days } = world.measures.history(world.nowMs);
  expect(cells.every((cell) => cell.startMs >= world.nowMs - dayMs)).toBe(true);
  expect(days.length).toBe(90);
  const kept = world.database.prepare('SELECT count(*) AS n FROM status_days').get()?.['n'];
  expect(Number(kept)).toBeLessThanOrEqual(92);
});

test('entries are never changed, and an operator adds words to them', () => {
  world.pass(3, { share: 0 });
  const words = world.incidents.addWords(1, { en: 'We are on it.' }, 'Ada', world.nowMs);
  expect(words).toMatchObject({ kind: 'words', incident: 1, author: 'Ada' });
  expect(world.incidents.addWords(99, { en: 'What?' }, 'Ada', world.nowMs)).toBeNull();
  expect(() => world.database.exec("UPDATE status_entries SET entry = '{}'")).toThrow('append-only');
});

test('only announced work that is not over is cancelled', () => {
  const work = {
    title: { zh: '维护' },
    fromMs: startMs,
    toMs: startMs + cellMs,
    subjects: null,
    author: 'Ada',
  };
  const { id } = world.incidents.addMaintenance(work);
  expect(world.incidents.cancelMaintenance(id, startMs)).toMatchObject({ id, cancelledAtMs: startMs });
  expect(world.incidents.cancelMaintenance(id, startMs)).toBeNull();
  expect(world.incidents.cancelMaintenance(7, startMs)).toBeNull();
});
