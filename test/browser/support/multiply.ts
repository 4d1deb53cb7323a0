import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { storeFile } from '../../../packages/gateway/src/admin/owner-files.ts';
import { openDatabase } from '../../../packages/gateway/src/store/sqlite/database.ts';

/** Rows of a table that are made after the model of the one that is there. */
interface Copies {
  readonly table: string;
  /** Finds the one that is there. */
  readonly first: string;
  readonly count: number;
  /** The members of the row at this place that differ from the first one's. */
  readonly differ: (at: number) => Readonly<Record<string, SQLInputValue>>;
}

const rows = 10_000;
const few = 1_000;
const timeId = (atMs: number, at: number) =>
  atMs.toString(16).padStart(12, '0') + at.toString(16).padStart(20, '0');

/** Makes of a store that has one row of everything one with 10,000, and 1,000 channels and groups: as other processes write, beside the gateway. */
export function multiply(dataDir: string): void {
  const nowMs = Date.now();
  const named = (noun: string) => (at: number) => ({ id: `${noun}-${at}`, name: `Row ${at}` });
  const tables: readonly Copies[] = [
    { table: 'accounts', first: "id = 'demo'", count: rows, differ: named('account') },
    { table: 'groups', first: "id = 'group-0'", count: few, differ: named('group') },
    {
      table: 'models',
      first: "id = 'model-0'",
      count: rows,
      differ: (at) => ({ id: `model-${at}`, display_name: `Row ${at}` }),
    },
    {
      table: 'prices',
      first: "subject = 'model:model-0'",
      count: rows,
      differ: (at) => ({ subject: `model:model-${at}`, version: `model:model-${at}@1` }),
    },
    {
      table: 'channels',
      first: "id = 'channel-0'",
      count: few,
      differ: (at) => ({ id: `channel-${at}`, alias: `Row ${at}`, priority: at % 10 }),
    },
    {
      table: 'channel_models',
      first: "channel_id = 'channel-0'",
      count: few,
      differ: (at) => ({ channel_id: `channel-${at}` }),
    },
    {
      ...{ table: 'keys', first: "id = 'key-0'", count: rows },
      differ: (at) => ({ ...named('key')(at), hash: at.toString(16).padStart(64, '0') }),
    },
    {
      ...{ table: 'persons', first: "login = 'person-0@example.com'", count: rows },
      differ: (at) => ({
        id: `person-${at.toString(16)}`,
        login: `person-${at}@example.com`,
        login_folded: `person-${at}@example.com`,
        name: `Row ${at}`,
      }),
    },
    {
      table: 'audit',
      first: "target_id = 'key-0'",
      count: rows,
      differ: (at) => ({ id: timeId(nowMs - at * 1_000, at), at_ms: nowMs - at * 1_000 }),
    },
    {
      table: 'events',
      first: "kind = 'channel-out-of-service'",
      count: rows,
      differ: (at) => ({ id: timeId(nowMs - at * 1_000, at), fold: `${at}`, change: 1_000_000 + at }),
    },
  ];
  const database = openDatabase(storeFile(dataDir));
  database.exec('BEGIN IMMEDIATE');
  for (const copies of tables) copy(database, copies);
  database.exec("UPDATE meta SET value = value + 1 WHERE name = 'configuration_revision'");
  database.exec('COMMIT');
  database.close();
}

function copy(database: DatabaseSync, { table, first, count, differ }: Copies): void {
  const model = database.prepare(`SELECT * FROM "${table}" WHERE ${first} LIMIT 1`).get();
  if (model === undefined) throw new Error(`there is no row of ${table} where ${first}`);
  const columns = Object.keys(model);
  const insert = database.prepare(
    `INSERT INTO "${table}" (${columns.map((name) => `"${name}"`).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  for (let at = 1; at < count; at++) {
    const row: Readonly<Record<string, SQLInputValue>> = { ...model, ...differ(at) };
    insert.run(...columns.map((name) => row[name] ?? null));
  }
}
