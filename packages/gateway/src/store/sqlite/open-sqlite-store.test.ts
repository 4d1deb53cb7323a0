import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isSlow } from '../../../../../test/support/slow-form.ts';
import type { Store } from '../../ports/store.ts';
import { describeStore } from '../contract/describe-store.ts';
import { declaration, epochMs, sampleEntry, sampleKey, settle, traceId } from '../contract/samples.ts';
import type { StoreSite } from '../contract/store-site.ts';
import { type OpenLane, openSqliteStore } from './open-sqlite-store.ts';
import { SameThreadLane } from './same-thread-lane.ts';

const clock = { now: Date.now, monotonic: () => performance.now() };

describeStore('sqlite, in the same thread', () => createFileSite((...lane) => new SameThreadLane(...lane)));
// A thread takes half a second to start, and the suite opens a hundred.
if (isSlow) describeStore('sqlite, in threads', () => createFileSite());

describe('sqlite, in threads', () => {
  let site: StoreSite;
  beforeEach(() => {
    site = createFileSite();
  });
  afterEach(() => site.dispose());

  test('stores beside each other on one file see what the others wrote, until they are closed', async () => {
    const [store, other] = [await site.open(), await site.open()];
    await store.configuration.apply('file', declaration, epochMs);
    expect(await other.configuration.revision()).toBe(await store.configuration.revision());
    expect(await settle(store.ledger, sampleEntry())).toBe('settled');
    expect(await Array.fromAsync(other.exportEntries({}))).toEqual([sampleEntry()]);
    expect((await other.verify()).findings).toEqual([]);
    await store.close();
    await expect(store.verify()).rejects.toThrow('the store is closed');
    expect(await other.findEntry(traceId(1))).toEqual(sampleEntry());
  });

  test('a job that fails says why, and the next one is done', async () => {
    const store = await site.open();
    await store.configuration.apply('file', declaration, epochMs);
    const twin = { ...sampleKey('key-1'), id: 'key-2' };
    await expect(store.configuration.insertKey(twin, epochMs)).rejects.toThrow('UNIQUE');
    expect((await store.verify()).findings).toEqual([]);
  });

  test('a file that is none of ours cannot be opened', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'headgate-store-'));
    const file = join(directory, 'headgate.sqlite');
    writeFileSync(file, 'This is not a database. '.repeat(100));
    const opening = openSqliteStore({ file, durability: 'strict', clock, onAlarm: () => undefined });
    await expect(opening).rejects.toThrow('not a database');
    rmSync(directory, { recursive: true });
  });
});

/** Without a lane of its own, the store has the threads of production. */
function createFileSite(openLane?: OpenLane): StoreSite {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-store-'));
  const stores: Store[] = [];
  return {
    async open(onAlarm = () => undefined) {
      const store = await openSqliteStore({
        file: join(directory, 'headgate.sqlite'),
        durability: 'strict',
        clock,
        onAlarm,
        openLane,
      });
      stores.push(store);
      return store;
    },
    async dispose() {
      for (const store of stores) await store.close();
      rmSync(directory, { recursive: true });
    },
  };
}
