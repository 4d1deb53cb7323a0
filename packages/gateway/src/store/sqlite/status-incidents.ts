import type { DatabaseSync } from 'node:sqlite';
import type {
  IncidentEntry,
  Maintenance,
  NewIncidentEntry,
  NewMaintenance,
  PublicWords,
} from '../../ports/status.ts';
import { inTransaction } from './database.ts';

/** Incidents are kept for so long after their last entry, and so many at the most: the newest. */
const keptMs = 400 * 86_400_000;
const incidentsMax = 2_000;
/** Announced at once, and kept once over. */
const maintenancesMax = 200;

/** The entries of incidents and the announced work of a database. */
export class StatusIncidents {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  lastNumber(): number {
    return this.#number('SELECT coalesce(max(number), 0) AS value FROM status_entries');
  }

  /** Entries of incidents that are open, or that something was said of since. */
  since(fromMs: number): readonly IncidentEntry[] {
    return this.#entries(
      `incident IN (SELECT incident FROM status_entries WHERE at_ms >= ?)
       OR incident NOT IN (SELECT incident FROM status_entries WHERE entry ->> 'kind' = 'closed')`,
      fromMs,
    );
  }

  open(): readonly IncidentEntry[] {
    return this.#entries(
      "incident NOT IN (SELECT incident FROM status_entries WHERE entry ->> 'kind' = 'closed')",
    );
  }

  incidents(limit: number, beforeIncident: number | null): readonly IncidentEntry[] {
    return this.#entries(
      `incident IN (SELECT DISTINCT incident FROM status_entries WHERE incident < ? ORDER BY incident DESC LIMIT ?)`,
      beforeIncident ?? Number.MAX_SAFE_INTEGER,
      limit,
    );
  }

  append(entries: readonly IncidentEntry[]): void {
    const insert = this.#database.prepare(
      'INSERT INTO status_entries (number, incident, at_ms, entry) VALUES (?, ?, ?, ?)',
    );
    for (const { number, incident, atMs, ...entry } of entries)
      insert.run(number, incident, atMs, JSON.stringify(entry));
  }

  addWords(incident: number, words: PublicWords, author: string, nowMs: number): IncidentEntry | null {
    return inTransaction(this.#database, () => {
      if (this.#entries('incident = ?', incident).length === 0) return null;
      const said: NewIncidentEntry = {
        ...{ incident, atMs: nowMs, kind: 'words', words, author },
        ...{ subject: null, state: null, facts: null },
      };
      const entry = { number: this.lastNumber() + 1, ...said };
      this.append([entry]);
      return entry;
    });
  }

  maintenances(): readonly Maintenance[] {
    return this.#database
      .prepare('SELECT * FROM status_maintenance ORDER BY from_ms DESC, id DESC')
      .all()
      .map((row) => ({
        id: Number(row['id']),
        fromMs: Number(row['from_ms']),
        toMs: Number(row['to_ms']),
        cancelledAtMs: row['cancelled_at_ms'] === null ? null : Number(row['cancelled_at_ms']),
        // This class is the only writer of the column.
        ...(JSON.parse(String(row['work'])) as Pick<Maintenance, 'title' | 'subjects' | 'author'>),
      }));
  }

  addMaintenance({ fromMs, toMs, ...work }: NewMaintenance): Maintenance {
    return inTransaction(this.#database, () => {
      const id = this.#number('SELECT coalesce(max(id), 0) + 1 AS value FROM status_maintenance');
      this.#database
        .prepare('INSERT INTO status_maintenance (id, from_ms, to_ms, work) VALUES (?, ?, ?, ?)')
        .run(id, fromMs, toMs, JSON.stringify(work));
      this.#database
        .prepare(
          `DELETE FROM status_maintenance WHERE id NOT IN
           (SELECT id FROM status_maintenance ORDER BY to_ms DESC LIMIT ${maintenancesMax})`,
        )
        .run();
      return { id, fromMs, toMs, ...work, cancelledAtMs: null };
    });
  }

  cancelMaintenance(id: number, nowMs: number): Maintenance | null {
    const { changes } = this.#database
      .prepare(
        'UPDATE status_maintenance SET cancelled_at_ms = ? WHERE id = ? AND to_ms > ? AND cancelled_at_ms IS NULL',
      )
      .run(nowMs, id, nowMs);
    return Number(changes) === 0 ? null : (this.maintenances().find((work) => work.id === id) ?? null);
  }

  forget(nowMs: number): void {
    this.#database
      .prepare(
        `DELETE FROM status_entries WHERE incident IN
         (SELECT incident FROM status_entries GROUP BY incident HAVING max(at_ms) < ?)`,
      )
      .run(nowMs - keptMs);
    this.#database
      .prepare(
        `DELETE FROM status_entries WHERE incident <=
         (SELECT DISTINCT incident FROM status_entries ORDER BY incident DESC LIMIT 1 OFFSET ${incidentsMax})`,
      )
      .run();
  }

  #entries(where: string, ...values: readonly number[]): readonly IncidentEntry[] {
    return this.#database
      .prepare(`SELECT * FROM status_entries WHERE ${where} ORDER BY number`)
      .all(...values)
      .map((row) => ({
        number: Number(row['number']),
        incident: Number(row['incident']),
        atMs: Number(row['at_ms']),
        // `append` is the only writer of the column.
        ...(JSON.parse(String(row['entry'])) as Omit<IncidentEntry, 'number' | 'incident' | 'atMs'>),
      }));
  }

  #number(query: string): number {
    return Number(this.#database.prepare(query).get()?.['value'] ?? 0);
  }
}
