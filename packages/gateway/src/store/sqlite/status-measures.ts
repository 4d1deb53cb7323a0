import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { ChannelFailure } from '../../ports/channel-history.ts';
import {
  type CellCounts,
  cellMs,
  type DayCounts,
  dayMs,
  type StatusHistory,
  type Subject,
  type SubjectKind,
} from '../../ports/status.ts';
import { sumOfFaults } from '../../status/faults.ts';
import { IncidentTeller, incidentsOf, subjectKey } from '../../status/incidents.ts';
import {
  type CalmDays,
  cellsKeptMs,
  type DayIncrement,
  type JudgedSubject,
  judgeDelayMs,
  judgeSubject,
  usualDays,
} from '../../status/judge.ts';
import { initialMachine, type MachineState, shownState } from '../../status/machine.ts';
import { addSpread, readSpread, writeSpread } from '../../status/spread.ts';
import { forgetFailures, noteFailures } from './channel-courses.ts';
import { inTransaction } from './database.ts';
import { StatusIncidents } from './status-incidents.ts';

/** Shown, and kept: the first day is a whole one. */
const daysShown = 90;
const daysKeptMs = (daysShown + 1) * dayMs;
/** A subject that nobody has measured for so long has no incident any more. */
const goneMs = dayMs;

type Row = Readonly<Record<string, SQLOutputValue>>;

/** The counts of a database, which any process may add to and whichever comes first judges. */
export class StatusMeasures {
  readonly #database: DatabaseSync;
  readonly #incidents: StatusIncidents;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#incidents = new StatusIncidents(database);
  }

  add(increments: readonly CellCounts[], nowMs: number, failures: readonly ChannelFailure[] = []): void {
    inTransaction(this.#database, () => {
      const find = this.#database.prepare(
        'SELECT spread, faults FROM status_cells WHERE kind = ? AND name = ? AND start_ms = ?',
      );
      const put = this.#database.prepare(
        `INSERT INTO status_cells (kind, name, start_ms, good, bad, probes_good, probes_bad, spread, faults)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET good = good + excluded.good, bad = bad + excluded.bad,
           probes_good = probes_good + excluded.probes_good, probes_bad = probes_bad + excluded.probes_bad, spread = excluded.spread,
           faults = excluded.faults`,
      );
      for (const cell of increments) {
        const { kind, name, startMs, good, bad, probesGood, probesBad, spread, faults = '' } = cell;
        const there = find.get(kind, name, startMs);
        const sum = sumOf(String(there?.['spread'] ?? ''), spread);
        const allFaults = sumOfFaults(String(there?.['faults'] ?? ''), faults);
        put.run(kind, name, startMs, good, bad, probesGood, probesBad, sum, allFaults);
      }
      noteFailures(this.#database, failures);
      this.#forget(nowMs);
    });
  }

  /** See `StatusStore`. */
  judge(subjects: readonly Subject[], nowMs: number): boolean {
    const untilMs = nowMs - judgeDelayMs - ((nowMs - judgeDelayMs) % cellMs);
    return inTransaction(this.#database, () => {
      const judged = this.#judged();
      const cells = this.#cellsBySubject(untilMs);
      const due = subjects.filter((subject) => {
        const known = judged.get(subjectKey(subject));
        return known === undefined ? cells.has(subjectKey(subject)) : known.judgedToMs < untilMs;
      });
      if (due.length === 0) return false;
      const calm = this.#calm(untilMs);
      const teller = new IncidentTeller(
        incidentsOf(this.#incidents.open()),
        this.#incidents.maintenances(),
        this.#incidents.lastNumber(),
      );
      const judgements = due.map((subject) => {
        const key = subjectKey(subject);
        const own = cells.get(key) ?? new Map<number, CellCounts>();
        const known = judged.get(key) ?? unjudged(subject, own, untilMs);
        return judgeSubject(known, own, calm.get(key) ?? new Map(), untilMs);
      });
      for (const { subject, days } of judgements) this.#keep(subject, days);
      // The calls of all models together are shown, and are no incident of their own.
      const told = judgements.filter(({ subject }) => subject.kind !== 'gateway');
      const transitions = told.flatMap((one) => one.transitions);
      for (const transition of transitions.toSorted((a, b) => a.atMs - b.atMs)) teller.tell(transition);
      for (const { subject } of told) teller.tellStanding(subject);
      const current = new Set(subjects.map(subjectKey));
      const isSilent = (key: string) =>
        ![...(cells.get(key)?.keys() ?? [])].some((at) => at > untilMs - goneMs);
      teller.tellGone((key) => !current.has(key) || isSilent(key), untilMs);
      this.#incidents.append(teller.entries);
      this.#incidents.forget(nowMs);
      return true;
    });
  }

  /** See `StatusStore`. */
  claimProbes(startMs: number): readonly CellCounts[] | null {
    const { changes } = this.#database
      .prepare('INSERT OR IGNORE INTO status_probings (start_ms) VALUES (?)')
      .run(startMs);
    if (Number(changes) === 0) return null;
    return this.#rows('SELECT * FROM status_cells WHERE start_ms = ?', startMs).map(toCell);
  }

  history(nowMs: number): StatusHistory {
    const from = nowMs - daysShown * dayMs;
    return {
      subjects: [...this.#judged().values()].map(({ kind, name, machine }) => ({
        ...{ kind, name },
        state: shownState(machine),
      })),
      cells: this.#rows('SELECT * FROM status_cells WHERE start_ms >= ?', nowMs - dayMs).map(toCell),
      days: this.#rows('SELECT * FROM status_days WHERE start_ms > ?', from).map(toDay),
      entries: this.#incidents.since(from),
      maintenance: this.#incidents.maintenances(),
    };
  }

  #judged(): ReadonlyMap<string, JudgedSubject> {
    const rows = this.#rows('SELECT * FROM status_subjects').map((row) => ({
      ...subjectOf(row),
      judgedToMs: Number(row['judged_to_ms']),
      // `#keep` is the only writer of the column.
      machine: JSON.parse(String(row['machine'])) as MachineState,
    }));
    return new Map(rows.map((row) => [subjectKey(row), row]));
  }

  #cellsBySubject(untilMs: number): ReadonlyMap<string, Map<number, CellCounts>> {
    const found = new Map<string, Map<number, CellCounts>>();
    const rows = this.#rows('SELECT * FROM status_cells WHERE start_ms >= ?', untilMs - cellsKeptMs);
    for (const cell of rows.map(toCell)) placeOf(found, cell).set(cell.startMs, cell);
    return found;
  }

  #calm(untilMs: number): ReadonlyMap<string, CalmDays> {
    const found = new Map<string, CalmDays>();
    const from = untilMs - (usualDays + 2) * dayMs;
    for (const row of this.#rows("SELECT * FROM status_days WHERE start_ms >= ? AND calm <> ''", from))
      placeOf(found, subjectOf(row)).set(Number(row['start_ms']), readSpread(String(row['calm'])));
    return found;
  }

  #keep({ kind, name, judgedToMs, machine }: JudgedSubject, days: readonly DayIncrement[]): void {
    this.#database
      .prepare(
        'INSERT OR REPLACE INTO status_subjects (kind, name, judged_to_ms, machine) VALUES (?, ?, ?, ?)',
      )
      .run(kind, name, judgedToMs, JSON.stringify(machine));
    const find = this.#database.prepare(
      'SELECT spread, calm FROM status_days WHERE kind = ? AND name = ? AND start_ms = ?',
    );
    const put = this.#database.prepare(
      `INSERT INTO status_days (kind, name, start_ms, good, bad, probes_good, probes_bad, spread, cells, calm)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET good = good + excluded.good, bad = bad + excluded.bad,
         probes_good = probes_good + excluded.probes_good, probes_bad = probes_bad + excluded.probes_bad,
         spread = excluded.spread, cells = cells + excluded.cells, calm = excluded.calm`,
    );
    for (const day of days) {
      const there = find.get(kind, name, day.startMs);
      const [spread, calm] = [
        sumOf(String(there?.['spread'] ?? ''), day.spread),
        sumOf(String(there?.['calm'] ?? ''), day.calm),
      ];
      const { startMs, good, bad, probesGood, probesBad, cells } = day;
      put.run(kind, name, startMs, good, bad, probesGood, probesBad, spread, cells, calm);
    }
  }

  #forget(nowMs: number): void {
    const run = (table: string, column: string, before: number) =>
      this.#database.prepare(`DELETE FROM ${table} WHERE ${column} < ?`).run(before);
    run('status_cells', 'start_ms', nowMs - cellsKeptMs - 2 * cellMs);
    run('status_probings', 'start_ms', nowMs - 2 * cellMs);
    forgetFailures(this.#database, nowMs - daysKeptMs);
    run('status_days', 'start_ms', nowMs - daysKeptMs);
    run('status_subjects', 'judged_to_ms', nowMs - daysKeptMs);
  }

  #rows(query: string, ...values: readonly number[]): readonly Row[] {
    return this.#database.prepare(query).all(...values);
  }
}

/** A subject is first judged from its first cell on. */
function unjudged(
  { kind, name }: Subject,
  cells: ReadonlyMap<number, CellCounts>,
  untilMs: number,
): JudgedSubject {
  const judgedToMs = Math.min(untilMs, ...cells.keys());
  return { kind, name, judgedToMs, machine: initialMachine };
}

function placeOf<Value>(found: Map<string, Map<number, Value>>, subject: Subject): Map<number, Value> {
  const key = subjectKey(subject);
  const place = found.get(key) ?? new Map<number, Value>();
  found.set(key, place);
  return place;
}

function sumOf(one: string, other: string): string {
  if (one === '' || other === '') return one + other;
  const sum = readSpread(one);
  addSpread(sum, readSpread(other));
  return writeSpread(sum);
}

function subjectOf(row: Row): Subject {
  // The port's types are the only source of the column.
  return { kind: String(row['kind']) as SubjectKind, name: String(row['name']) };
}

function toCell(row: Row): CellCounts {
  return {
    ...subjectOf(row),
    startMs: Number(row['start_ms']),
    good: Number(row['good']),
    bad: Number(row['bad']),
    probesGood: Number(row['probes_good']),
    probesBad: Number(row['probes_bad']),
    spread: String(row['spread']),
  };
}

function toDay(row: Row): DayCounts {
  return { ...toCell(row), cells: Number(row['cells']) };
}
