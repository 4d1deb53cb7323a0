import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../ports/store.ts';
import { describeStore } from '../contract/describe-store.ts';
import type { StoreSite } from '../contract/store-site.ts';
import { openSqliteStore } from './open-sqlite-store.ts';

describeStore('sqlite', createFileSite);

function createFileSite(): StoreSite {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-store-'));
  const stores: Store[] = [];
  return {
    async open(onAlarm = () => undefined) {
      const clock = { now: Date.now, monotonic: () => performance.now() };
      const store = await openSqliteStore({
        file: join(directory, 'headgate.sqlite'),
        durability: 'strict',
        clock,
        onAlarm,
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
