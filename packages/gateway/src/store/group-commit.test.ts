import { describe, expect, test, vi } from 'vitest';
import type { LedgerAlarm } from '../ports/store.ts';
import { openInProcessLedger } from './contract/in-process-ledger.ts';
import { sampleEntry, traceId } from './contract/samples.ts';
import { GroupCommit } from './group-commit.ts';

const entry = (number: number) => sampleEntry({ traceId: traceId(number) });

function createClock() {
  let nowMs = 0;
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

/** A ledger with a disk that a test can fill. */
function createLedger(durability: 'strict' | 'soon' = 'strict') {
  const clock = createClock();
  const { database, alarms, ledger, ...disk } = openInProcessLedger(clock, durability);
  const limitPages = (pages: number) => database.exec(`PRAGMA max_page_count = ${pages}`);
  const pageCount = () => Number(database.prepare('PRAGMA page_count').get()?.['page_count'] ?? 0);
  const fillDisk = () => limitPages(pageCount());
  const emptyDisk = () => limitPages(1_000_000);
  return { clock, alarms, ledger, disk: { ...disk, fillDisk, emptyDisk } };
}

/** Enough entries that some must need a new page. */
const many = Array.from({ length: 200 }, (_, number) => entry(number));

describe('group commit', () => {
  test('takes into one commit what gathered while the one before it ran', async () => {
    const { disk, ledger } = createLedger();
    const open = disk.shut();
    const settlements = [ledger.settle(entry(0))];
    await vi.waitFor(() => expect(disk.sizes).toEqual([1]));
    for (let number = 1; number <= 300; number++) settlements.push(ledger.settle(entry(number)));
    open();
    expect(new Set(await Promise.all(settlements))).toEqual(new Set(['settled']));
    expect(disk.sizes).toEqual([1, 256, 44]);
  });

  test('a strict settlement resolves only once it is written', async () => {
    const { disk, ledger } = createLedger();
    const open = disk.shut();
    let settled = false;
    const settlement = ledger.settle(entry(1)).then(() => {
      settled = true;
    });
    await vi.waitFor(() => expect(disk.sizes).toEqual([1]));
    expect(settled).toBe(false);
    open();
    await settlement;
    expect(disk.calls()).toBe(1);
  });

  test('with `soon` it resolves at once, and is written shortly after', async () => {
    const { disk, ledger } = createLedger('soon');
    expect(await ledger.settle(entry(1))).toBe('settled');
    expect(disk.calls()).toBe(0);
    await vi.waitFor(() => expect(disk.calls()).toBe(1));
  });

  test('with `soon` a conflict still sounds the alarm', async () => {
    const { ledger, alarms } = createLedger('soon');
    await ledger.settle(entry(1));
    await ledger.settle({ ...entry(1), httpStatus: 500 });
    await ledger.flush();
    expect(alarms).toMatchObject([{ kind: 'conflict', traceId: traceId(1) }]);
  });

  test('flush writes everything, whatever the durability', async () => {
    const { disk, ledger } = createLedger('soon');
    for (const each of many) void ledger.settle(each);
    await ledger.flush();
    expect(disk.calls()).toBe(200);
  });

  test('an entry whose values the store refuses does not take its neighbours along', async () => {
    const { ledger, alarms, disk } = createLedger();
    const broken = { ...entry(2), usage: { ...entry(2).usage, output: 0.5 } };
    const settlements = await Promise.all([entry(1), broken, entry(3)].map((each) => ledger.settle(each)));
    expect(settlements).toEqual(['settled', 'unavailable', 'settled']);
    expect(alarms).toMatchObject([{ kind: 'unavailable', traceId: traceId(2) }]);
    expect(disk.calls()).toBe(2);
    expect(ledger.isWritable()).toBe(true);
  });
});

describe('a ledger that cannot be written', () => {
  test('a full disk settles nothing; after 2 s no new calls are wanted', async () => {
    const { disk, clock, ledger, alarms } = createLedger();
    disk.fillDisk();
    const settlements = await Promise.all(many.map((each) => ledger.settle(each)));
    expect(new Set(settlements)).toEqual(new Set(['unavailable']));
    expect(disk.calls()).toBe(0);
    expect(alarms).toMatchObject([{ kind: 'unavailable', traceId: null, detail: /full/ }]);
    expect(ledger.isWritable()).toBe(true);
    clock.advance(2_000);
    expect(ledger.isWritable()).toBe(false);
  });

  test('room on the disk is noticed without any call coming in', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      const { disk, clock, ledger } = createLedger();
      disk.fillDisk();
      await Promise.all(many.map((each) => ledger.settle(each)));
      clock.advance(2_000);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(ledger.isWritable()).toBe(false);
      disk.emptyDisk();
      await vi.advanceTimersByTimeAsync(1_000);
      expect(ledger.isWritable()).toBe(true);
      expect(await ledger.settle(entry(1))).toBe('settled');
    } finally {
      vi.useRealTimers();
    }
  });

  test('a commit that is stuck for 2 s counts as failing, until it returns', async () => {
    const { disk, clock, ledger } = createLedger();
    const open = disk.shut();
    const settlement = ledger.settle(entry(1));
    await vi.waitFor(() => expect(disk.sizes).toEqual([1]));
    clock.advance(1_999);
    expect(ledger.isWritable()).toBe(true);
    clock.advance(1);
    expect(ledger.isWritable()).toBe(false);
    open();
    expect(await settlement).toBe('settled');
    expect(ledger.isWritable()).toBe(true);
  });

  test('a writer that is gone stops the ledger for good', async () => {
    const alarms: LedgerAlarm[] = [];
    const gone = () => Promise.reject(new Error('gone'));
    const ledger = new GroupCommit({
      writer: { commit: gone, probe: gone },
      clock: createClock(),
      durability: 'strict',
      onAlarm: (alarm) => alarms.push(alarm),
      onCommit: () => undefined,
    });
    expect(await Promise.all([ledger.settle(entry(1)), ledger.settle(entry(2))])).toEqual([
      'unavailable',
      'unavailable',
    ]);
    expect(ledger.isWritable()).toBe(false);
    expect(await ledger.settle(entry(3))).toBe('unavailable');
    await ledger.flush();
  });

  test('more than may wait is refused at once', async () => {
    const { disk, ledger } = createLedger();
    const open = disk.shut();
    const first = ledger.settle(entry(0));
    await vi.waitFor(() => expect(disk.sizes).toEqual([1]));
    const waiting = Array.from({ length: 20_000 }, (_, number) => ledger.settle(entry(number + 1)));
    expect(await ledger.settle(entry(30_000))).toBe('unavailable');
    open();
    expect(await first).toBe('settled');
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['settled']));
  });
});
