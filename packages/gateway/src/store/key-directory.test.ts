import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { isSlow } from '../../../../test/support/slow-form.ts';
import { keyOrders } from '../ports/key-directory.ts';
import { declaration, sampleKey } from './contract/samples.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';
import { SameThreadLane } from './sqlite/same-thread-lane.ts';

const keys = isSlow ? 10_000 : 2_000;
const dayMs = 86_400_000;
/** Generous: a page takes a few milliseconds, and one in the order of spend some tens. */
const pageMsMax = isSlow ? 1_000 : 400;

test('a page of many keys that are used every day comes as quickly as one of few', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-keys-'));
  const file = join(directory, 'headgate.sqlite');
  const store = await openSqliteStore({
    ...{ file, durability: 'strict', clock: { now: Date.now, monotonic: () => performance.now() } },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: () => undefined,
  });
  try {
    await store.configuration.apply('import', declaration, Date.now());
    await store.configuration.insertKey({ ...sampleKey('first'), budgets: null }, Date.now());
    fill(file);
    for (const order of keyOrders) {
      const took: number[] = [];
      for (let attempt = 0; attempt < 3; attempt++) {
        const begunAt = performance.now();
        expect(await store.keys.list('all', {}, order, 51, null)).toHaveLength(51);
        took.push(performance.now() - begunAt);
      }
      console.log(`a page of ${keys} keys by ${order}: ${Math.min(...took).toFixed(1)} ms`);
      expect(Math.min(...took)).toBeLessThan(pageMsMax);
    }
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
});

/** Copies one key many times, each with the spending of thirty days. */
function fill(file: string): void {
  const database = new DatabaseSync(file);
  const columns = database
    .prepare('SELECT name FROM pragma_table_info(?)')
    .all('keys')
    .map((row) => String(row['name']));
  const copied = columns.map((name) => (['id', 'hash', 'name'].includes(name) ? `'copy-' || value` : name));
  const count = `WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < ${keys})`;
  database.exec(`BEGIN;
    ${count} INSERT INTO keys (${columns.join(', ')}) SELECT ${copied.join(', ')} FROM numbers, keys WHERE id = 'first';
    ${count}, days (day) AS (SELECT 0 UNION ALL SELECT day + 1 FROM days WHERE day < 29)
    INSERT INTO spending (subject, width_ms, start_ms, charge_nano_usd)
      SELECT 'key:copy-' || value, ${dayMs}, ${Math.floor(Date.now() / dayMs) * dayMs} - day * ${dayMs}, value FROM numbers, days;
    COMMIT;`);
  database.close();
}
