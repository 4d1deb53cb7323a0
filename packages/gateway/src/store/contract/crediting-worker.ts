import { nanoUsd } from '../../money/money.ts';
import { openSqliteStore } from '../sqlite/open-sqlite-store.ts';
import { SameThreadLane } from '../sqlite/same-thread-lane.ts';

// Started by a test several times, as processes that credit the same account at once.
const [file = '', count = ''] = process.argv.slice(2);
void creditAll(Number(count));

async function creditAll(times: number): Promise<void> {
  const store = await openSqliteStore({
    file,
    durability: 'strict',
    clock: { now: Date.now, monotonic: () => performance.now() },
    openLane: (...lane) => new SameThreadLane(...lane),
    onAlarm: (alarm) => console.error(alarm),
  });
  const results = await Promise.all(
    Array.from({ length: times }, (_, at) => {
      const adjustment = {
        ...{ id: `adj-${process.pid}-${at}`, accountId: 'account-2', amountNanoUsd: nanoUsd(7n) },
        ...{ reason: 'a gift', reference: 'pay-1', madeBy: 'test', atMs: Date.now() },
      };
      return store.accounts.adjust(adjustment, false);
    }),
  );
  await store.close();
  process.send?.(results.map(({ kind }) => kind));
}
