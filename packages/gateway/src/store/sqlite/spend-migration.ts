import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { slotMs } from '../reports.ts';
import { inTransaction } from './database.ts';
import { dueFromTheStart } from './usage-spans.ts';

const ofCalls = `key_id, account_id, 1 AS calls, unbilled_reason IS NULL AS billed_calls,
  input_fresh + input_cache_read + input_cache_write_5m + input_cache_write_1h + input_audio + input_image + input_cache_read_audio AS input_tokens,
  output + output_audio + output_image AS output_tokens, charge_nano_usd`;

/** Finds the ended calls of one key that began within a time. */
const within = "key_id = :key AND started_at_ms >= :from AND started_at_ms < :to AND status <> 'open'";

const spendOfChannels = `
SELECT 'channel', slot, key_id, name, account_id, sum(calls), sum(billed_calls), sum(input_tokens), sum(output_tokens),
  sum(charge_nano_usd), sum(cost), sum(unknown)
FROM (
  SELECT started_at_ms - started_at_ms % ${slotMs} AS slot, coalesce(channel_id, '') AS name, ${ofCalls}, 0 AS cost, 0 AS unknown
  FROM calls WHERE ${within}
  UNION ALL
  SELECT started_at_ms - started_at_ms % ${slotMs}, attempt.value ->> 1, key_id, account_id, 0, 0, 0, 0, 0,
    coalesce(cast(attempt.value ->> 10 AS INTEGER), 0), attempt.value ->> 10 IS NULL
  FROM calls, json_each(calls.attempts) AS attempt WHERE ${within}
)
GROUP BY 2, 3, 4, 5`;

/** From when on the sums by channel of a key are to be made of its calls. */
const dueTable =
  'CREATE TABLE IF NOT EXISTS spend_slots_due (key_id TEXT PRIMARY KEY, from_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;';

/** A caller's own label of a call, and sums by it and by channel. Those by channel are made in the background of the calls that are there; none has a label yet. */
export const tagsAndSpend = `
ALTER TABLE calls ADD COLUMN tag TEXT;
CREATE TABLE spend_slots (
  kind TEXT NOT NULL, -- channel or tag
  slot_start_ms INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  name TEXT NOT NULL, -- empty for calls that no channel answered
  account_id TEXT NOT NULL,
  calls INTEGER NOT NULL,
  billed_calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  charge_nano_usd INTEGER NOT NULL,
  cost_nano_usd INTEGER NOT NULL,
  unknown_costs INTEGER NOT NULL,
  PRIMARY KEY (kind, slot_start_ms, key_id, name, account_id)
) STRICT, WITHOUT ROWID;
${dueTable}
${dueFromTheStart('spend_slots_due')}
`;

const isDue = `INSERT INTO spend_slots_due (key_id, from_ms) VALUES (NEW.key_id, NEW.slot_start_ms)
    ON CONFLICT DO UPDATE SET from_ms = min(from_ms, excluded.from_ms);`;

/** A feeder of an older version knows no sums by channel: triggers note for which keys it has added calls. */
export const spendIsMadeLater = `
${dueTable}
CREATE TRIGGER older_spend_is_due AFTER INSERT ON usage_slots WHEN NOT EXISTS (SELECT 1 FROM gathering) BEGIN
  ${isDue}
END;
CREATE TRIGGER added_spend_is_due AFTER UPDATE ON usage_slots WHEN NOT EXISTS (SELECT 1 FROM gathering) BEGIN
  ${isDue}
END;
`;

/** About so many calls are summed up in one transaction, which holds nobody up for long. */
const stepCalls = 1_000;
/** And so many quarters of an hour. */
const stepSlots = 200;

/** Makes the sums by channel that are due, in steps. */
export class SpendMaker {
  readonly #database: DatabaseSync;
  readonly #due: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#due = database.prepare('SELECT key_id, from_ms FROM spend_slots_due LIMIT 1');
  }

  /** True when there is more to do. */
  step(): boolean {
    if (this.#due.get() === undefined) return false;
    return inTransaction(this.#database, () => {
      const due = this.#due.get();
      if (due === undefined) return false;
      this.#make(String(due['key_id']), Number(due['from_ms']));
      return true;
    });
  }

  /** Whatever was added meanwhile is in the calls as well, so what is there is made anew. */
  #make(key: string, fromMs: number): void {
    const database = this.#database;
    const slots = this.#nextSlots(key, fromMs);
    const last = slots.at(-1);
    if (last === undefined) {
      database.prepare('DELETE FROM spend_slots_due WHERE key_id = ?').run(key);
      return;
    }
    const forget = database.prepare(
      "DELETE FROM spend_slots WHERE kind = 'channel' AND slot_start_ms = ? AND key_id = ?",
    );
    for (const slot of slots) forget.run(slot, key);
    const to = last + slotMs;
    database.prepare(`INSERT INTO spend_slots ${spendOfChannels}`).run({ key, from: fromMs, to });
    database.prepare('UPDATE spend_slots_due SET from_ms = ? WHERE key_id = ?').run(to, key);
  }

  #nextSlots(key: string, fromMs: number): readonly number[] {
    const rows = this.#database
      .prepare(
        `SELECT slot_start_ms, sum(calls) AS calls FROM usage_slots WHERE key_id = ? AND slot_start_ms >= ?
         GROUP BY slot_start_ms ORDER BY slot_start_ms LIMIT ${stepSlots}`,
      )
      .all(key, fromMs);
    let calls = 0;
    const end = rows.findIndex((row) => {
      calls += Number(row['calls']);
      return calls >= stepCalls;
    });
    return rows.slice(0, end < 0 ? rows.length : end + 1).map((row) => Number(row['slot_start_ms']));
  }
}
