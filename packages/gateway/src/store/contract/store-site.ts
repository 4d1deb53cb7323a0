import { expect } from 'vitest';
import type { LedgerAlarm, Store } from '../../ports/store.ts';

/** An empty place in which stores can be opened, at once or one after another, as several processes would. */
export interface StoreSite {
  open(onAlarm?: (alarm: LedgerAlarm) => void): Promise<Store>;
  /** Closes what is still open and removes everything. */
  dispose(): Promise<void>;
}

export async function expectSound(store: Store): Promise<void> {
  expect((await store.verify()).findings).toEqual([]);
}
