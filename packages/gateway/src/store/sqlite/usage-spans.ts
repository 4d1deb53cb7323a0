import type { DatabaseSync } from 'node:sqlite';
import { usageColumns } from '../columns.ts';
import { spanMs } from '../reports.ts';
import { inTransaction } from './database.ts';

/** The parts of usage that were counted when these tables were made. */
const parts = usageColumns.slice(0, 18);
const summed = ['calls', 'billed_calls', ...parts, 'charge_nano_usd'];
const columns = summed.join(', ');
const sums = summed.map((column) => `sum(${column})`).join(', ');

/** A row of sums by quarter of an hour adds this to the spans it lies in; `value` gives the change of a column. */
function addition(value: (column: string) => string): string {
  const values = summed.map(value).join(', ');
  const start = (ms: number) => `NEW.slot_start_ms - NEW.slot_start_ms % ${ms}`;
  return `INSERT INTO usage_spans (key_id, span, start_ms, model, ${columns}) VALUES
    (NEW.key_id, 'hour', ${start(spanMs.hour)}, '', ${values}),
    (NEW.key_id, 'day', ${start(spanMs.day)}, NEW.model, ${values}),
    (NEW.key_id, 'total', 0, '', ${values})
  ON CONFLICT DO UPDATE SET ${summed.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')};`;
}

/** Notes that a table of sums is to be made for every key that has calls, which it finds without reading all sums. */
export function dueFromTheStart(table: string): string {
  return `WITH RECURSIVE known (key_id) AS (
  SELECT min(key_id) FROM usage_slots
  UNION ALL SELECT (SELECT min(key_id) FROM usage_slots WHERE key_id > known.key_id) FROM known WHERE key_id IS NOT NULL
)
INSERT INTO ${table} (key_id, from_ms) SELECT key_id, 0 FROM known WHERE key_id IS NOT NULL;`;
}

/**
 * Sums of a key by hour, by day and model, and in all. Triggers keep them, so whoever feeds the store adds to them: also a process of an
 * older version that is about to retire. The sums of what was stored before are made in the background, key by key.
 */
export const usageSpans = `
CREATE TABLE usage_spans (
  key_id TEXT NOT NULL,
  span TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  model TEXT NOT NULL,
  ${summed.map((column) => `${column} INTEGER NOT NULL`).join(',\n  ')},
  PRIMARY KEY (key_id, span, start_ms, model)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER usage_slots_are_added AFTER INSERT ON usage_slots BEGIN
  ${addition((column) => `NEW.${column}`)}
END;
CREATE TRIGGER usage_slots_add_up AFTER UPDATE ON usage_slots BEGIN
  ${addition((column) => `NEW.${column} - OLD.${column}`)}
END;
CREATE TABLE usage_spans_due (key_id TEXT PRIMARY KEY, from_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
${dueFromTheStart('usage_spans_due')}
`;

/** That much of a key is summed up in one transaction, which holds nobody up for long. */
const stepMs = 7 * spanMs.day;

/** Makes the spans of keys that lack them, in steps. */
export class SpanMaker {
  readonly #database: DatabaseSync;
  /** Keys that are due are found at the start, and no more come. */
  #isDone = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** True when there is more to do. */
  step(): boolean {
    if (this.#isDone) return false;
    const due = this.#database.prepare('SELECT key_id, from_ms FROM usage_spans_due LIMIT 1').get();
    if (due === undefined) this.#isDone = true;
    else inTransaction(this.#database, () => this.#make(String(due['key_id']), Number(due['from_ms'])));
    return !this.#isDone;
  }

  /** Whatever was added meanwhile is in the quarters of an hour as well, so what is there is made anew. */
  #make(keyId: string, afterMs: number): void {
    const database = this.#database;
    const first = database
      .prepare('SELECT min(slot_start_ms) AS at_ms FROM usage_slots WHERE key_id = ? AND slot_start_ms >= ?')
      .get(keyId, afterMs)?.['at_ms'];
    if (first === null || first === undefined) return this.#finish(keyId);
    const fromMs = Number(first) - (Number(first) % spanMs.day);
    const toMs = fromMs + stepMs;
    database
      .prepare(
        `DELETE FROM usage_spans WHERE key_id = ? AND span IN ('hour', 'day') AND start_ms >= ? AND start_ms < ?`,
      )
      .run(keyId, fromMs, toMs);
    for (const [span, model] of [
      ['hour', "''"],
      ['day', 'model'],
    ] as const)
      database
        .prepare(
          `INSERT INTO usage_spans (key_id, span, start_ms, model, ${columns})
           SELECT key_id, '${span}', slot_start_ms - slot_start_ms % ${spanMs[span]}, ${model}, ${sums}
           FROM usage_slots WHERE key_id = ? AND slot_start_ms >= ? AND slot_start_ms < ? GROUP BY 3, 4`,
        )
        .run(keyId, fromMs, toMs);
    database.prepare('UPDATE usage_spans_due SET from_ms = ? WHERE key_id = ?').run(toMs, keyId);
  }

  #finish(keyId: string): void {
    const database = this.#database;
    database.prepare(`DELETE FROM usage_spans WHERE key_id = ? AND span = 'total'`).run(keyId);
    database
      .prepare(
        `INSERT INTO usage_spans (key_id, span, start_ms, model, ${columns})
         SELECT key_id, 'total', 0, '', ${sums} FROM usage_spans WHERE key_id = ? AND span = 'hour' GROUP BY key_id`,
      )
      .run(keyId);
    database.prepare('DELETE FROM usage_spans_due WHERE key_id = ?').run(keyId);
  }
}
