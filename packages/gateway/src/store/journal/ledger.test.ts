import { existsSync, renameSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { anchorAt } from '../anchors.ts';
import { type JournalSiteOptions, openJournalSite } from '../contract/journal-site.ts';
import { sampleEntry, settle, traceId } from '../contract/samples.ts';
import { segmentName } from './format.ts';

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

let sites: ReturnType<typeof openJournalSite>[] = [];
afterEach(async () => {
  for (const site of sites) await site.close();
  sites = [];
});

function openSite(options: JournalSiteOptions = {}) {
  const clock = createClock();
  const site = openJournalSite({ clock, ...options });
  sites.push(site);
  return { ...site, clock };
}

/** One that has settled a call, so that its first segment is there. */
async function openUsed(options: JournalSiteOptions = {}) {
  const site = openSite(options);
  expect(await settle(site.ledger, entry(0))).toBe('settled');
  site.disk.writes.length = 0;
  return site;
}

describe('a ledger', () => {
  test('takes into one write what gathered while the one before it ran', async () => {
    const { disk, ledger } = await openUsed();
    const open = disk.shut();
    const settlements = [settle(ledger, entry(1))];
    await vi.waitFor(() => expect(disk.writes).toHaveLength(1));
    for (let number = 2; number <= 30; number++) settlements.push(settle(ledger, entry(number)));
    open();
    expect(new Set(await Promise.all(settlements))).toEqual(new Set(['settled']));
    expect(disk.writes).toHaveLength(2);
  });

  test('writes for a lone caller at the end of the turn, and for many what a few turns in a row bring', async () => {
    const { disk, ledger } = await openUsed();
    const open = disk.shut();
    const settlements = [settle(ledger, entry(1))];
    await nextTurn();
    expect(disk.writes).toHaveLength(1);
    open();
    await Promise.all(settlements);
    const [lone = 0] = disk.writes;
    const shutAgain = disk.shut();
    for (let turn = 1; turn <= 20; turn++) {
      settlements.push(settle(ledger, entry(2 * turn)), settle(ledger, entry(2 * turn + 1)));
      await nextTurn();
    }
    // It has begun although turn after turn brought more.
    expect(disk.writes).toHaveLength(2);
    expect(disk.writes[1]).toBeGreaterThan(6 * lone);
    expect(disk.writes[1]).toBeLessThan(14 * lone);
    shutAgain();
    expect(new Set(await Promise.all(settlements))).toEqual(new Set(['settled']));
  });

  test('tells of a strict settlement only once it is on disk', async () => {
    const { disk, ledger } = await openUsed();
    const open = disk.shut();
    let settled = false;
    const settlement = settle(ledger, entry(1)).then(() => {
      settled = true;
    });
    await vi.waitFor(() => expect(disk.writes).toHaveLength(1));
    expect(settled).toBe(false);
    open();
    await settlement;
  });

  test('with `soon` it says so at once, and writes shortly after', async () => {
    const { disk, ledger, feeder, calls } = openSite({ durability: 'soon' });
    expect(await settle(ledger, entry(1))).toBe('settled');
    expect(disk.writes).toEqual([]);
    await vi.waitFor(async () => {
      await feeder.catchUp();
      expect(calls()).toBe(1);
    });
  });

  test('flush writes everything, whatever the durability', async () => {
    const { ledger, feeder, calls } = openSite({ durability: 'soon' });
    for (let number = 0; number < 200; number++) void settle(ledger, entry(number));
    await ledger.flush();
    await feeder.catchUp();
    expect(calls()).toBe(200);
  });

  test('never writes an entry with values that no line can hold, nor its neighbours less', async () => {
    const { ledger, alarms, feeder, calls } = openSite();
    const broken = { ...entry(2), usage: { ...entry(2).usage, output: 0.5 } };
    const late = { ...entry(4), durationMs: Number.NaN };
    const settlements = await Promise.all(
      [entry(1), broken, entry(3), late].map((each) => settle(ledger, each)),
    );
    expect(settlements).toEqual(['settled', 'unavailable', 'settled', 'unavailable']);
    expect(alarms).toMatchObject([
      { kind: 'unavailable', traceId: traceId(2) },
      { kind: 'unavailable', traceId: traceId(4) },
    ]);
    await feeder.catchUp();
    expect(calls()).toBe(2);
    expect(ledger.isWritable()).toBe(true);
  });

  test('what one caller does with the news does not keep it from the others', async () => {
    const { ledger, alarms } = openSite();
    ledger.settle(entry(1), () => {
      throw new Error('a bug');
    });
    expect(await settle(ledger, entry(2))).toBe('settled');
    expect(alarms).toMatchObject([{ kind: 'bug', detail: 'Error: a bug' }]);
  });

  test('goes on when a write takes less than it was given', async () => {
    const { ledger, disk, feeder, calls } = await openUsed();
    disk.takesAtMost = 100;
    expect(await settle(ledger, entry(1))).toBe('settled');
    await feeder.catchUp();
    expect(calls()).toBe(2);
  });

  test('a frame larger than a segment has a segment that fits', async () => {
    const { ledger, feeder, calls } = openSite({ segmentBytes: 4_096 });
    const large = sampleEntry({ traceId: traceId(7), userAgent: 'x'.repeat(30_000) });
    const settlements = await Promise.all([entry(1), large, entry(2)].map((each) => settle(ledger, each)));
    expect(settlements).toEqual(['settled', 'settled', 'settled']);
    await feeder.catchUp();
    expect(calls()).toBe(3);
  });
});

describe('a ledger that cannot be written', () => {
  test('a full disk settles nothing, and no further call is wanted', async () => {
    const { disk, ledger, alarms } = openSite();
    disk.openFault = 'ENOSPC';
    const settlements = await Promise.all([1, 2, 3].map((number) => settle(ledger, entry(number))));
    expect(new Set(settlements)).toEqual(new Set(['unavailable']));
    expect(alarms).toMatchObject([{ kind: 'unavailable', traceId: null }]);
    expect(alarms[0]?.detail).toContain('ENOSPC');
    expect(ledger.trouble).toBe('store-not-writable');
  });

  test('no call is wanted before the first one, where none could be written', async () => {
    const { disk, ledger } = openSite();
    disk.openFault = 'ENOSPC';
    await expect(ledger.prepare()).rejects.toThrow('ENOSPC');
    disk.openFault = null;
    await ledger.prepare();
    expect(ledger.isWritable()).toBe(true);
  });

  test('a disk that has no room for a next segment is told of while there is room for calls under way', async () => {
    const { disk, ledger, alarms } = await openUsed({ segmentBytes: 16_384 });
    disk.openFault = 'ENOSPC';
    let settled = 0;
    while (ledger.isWritable()) {
      expect(await settle(ledger, entry(++settled))).toBe('settled');
      // The room is looked for behind the write.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(alarms.map(({ detail }) => detail)).toEqual([expect.stringContaining('ENOSPC')]);
    expect(await settle(ledger, entry(++settled))).toBe('settled');
  });

  test.each([
    ['a disk that is full', 'ENOSPC'],
    ['a file that may not grow', 'EFBIG'],
  ])('%s while a frame is written leaves nothing of it behind', async (_, fault) => {
    const { disk, ledger, feeder, calls } = await openUsed();
    disk.writeFault = fault;
    expect(await settle(ledger, entry(1))).toBe('unavailable');
    disk.writeFault = null;
    expect(await settle(ledger, entry(2))).toBe('settled');
    expect(await feeder.catchUp()).toBeNull();
    expect(calls()).toBe(2);
  });

  test('room on the disk is noticed without any call coming in', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { disk, ledger } = openSite();
      disk.openFault = 'ENOSPC';
      await settle(ledger, entry(1));
      await vi.advanceTimersByTimeAsync(5_000);
      expect(ledger.isWritable()).toBe(false);
      disk.openFault = null;
      await vi.advanceTimersByTimeAsync(1_000);
      await vi.waitFor(() => expect(ledger.isWritable()).toBe(true));
      expect(await settle(ledger, entry(1))).toBe('settled');
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ['a write', 'writeFault'],
    ['a flush of a new segment', 'flushFault'],
  ] as const)('after an I/O error of %s it stops for good', async (_name, fault) => {
    const { disk, ledger, alarms } = await openUsed({ segmentBytes: 4_096 });
    disk[fault] = 'EIO';
    const doomed = Array.from({ length: 9 }, (_, number) => settle(ledger, entry(number + 1)));
    expect(new Set(await Promise.all(doomed))).toEqual(new Set(['unavailable']));
    disk[fault] = null;
    expect(ledger.isWritable()).toBe(false);
    expect(await settle(ledger, entry(20))).toBe('unavailable');
    expect(alarms).toMatchObject([{ traceId: null }, { traceId: traceId(20) }]);
    expect(alarms[0]?.detail).toContain('EIO');
    expect(alarms[1]?.detail).toContain('stopped');
    await ledger.flush();
  });

  test('a write that is stuck for 2 s counts as failing, until it returns', async () => {
    const { disk, clock, ledger } = await openUsed();
    const open = disk.shut();
    const settlement = settle(ledger, entry(1));
    await vi.waitFor(() => expect(disk.writes).toHaveLength(1));
    clock.advance(1_999);
    expect(ledger.isWritable()).toBe(true);
    clock.advance(1);
    expect(ledger.isWritable()).toBe(false);
    open();
    expect(await settlement).toBe('settled');
    expect(ledger.isWritable()).toBe(true);
  });

  test('more than may wait is refused at once', async () => {
    const { disk, ledger } = await openUsed();
    const open = disk.shut();
    const first = settle(ledger, entry(1));
    await vi.waitFor(() => expect(disk.writes).toHaveLength(1));
    const waiting = Array.from({ length: 20_000 }, (_, number) => settle(ledger, entry(number + 2)));
    expect(await settle(ledger, entry(30_000))).toBe('unavailable');
    open();
    expect(await first).toBe('settled');
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['settled']));
  });
});

describe('a ledger whose files are lost', () => {
  const segmentOf = ({ directory }: { readonly directory: string }) =>
    join(directory, 'journal', '1', segmentName(0));

  test('acknowledges nothing on an old look, and takes back what it has written', async () => {
    const site = await openUsed();
    const { watch, ledger, feeder, alarms, calls } = site;
    // As after a pause of the process: no look since, and none under way.
    watch.stop();
    await watch.look();
    renameSync(segmentOf(site), `${segmentOf(site)}.away`);
    watch.keep('segment', { path: segmentOf(site), device: 0n, inode: 0n, bytesMin: 0n });
    watch.lookedAt = performance.now() - 501;
    expect(await settle(ledger, entry(1))).toBe('unavailable');
    expect(ledger.trouble).toBe('store-lost');
    expect(alarms[0]?.kind).toBe('lost');
    expect(alarms[0]?.detail).toContain('is gone');
    expect(await settle(ledger, entry(2))).toBe('unavailable');

    renameSync(`${segmentOf(site)}.away`, segmentOf(site));
    watch.keep('segment', anchorAt(segmentOf(site)));
    await watch.look();
    expect(await settle(ledger, entry(3))).toBe('settled');
    expect(await feeder.catchUp()).toBeNull();
    expect(calls()).toBe(2);
  });

  test('feeds nothing into a database that is not where it was, and takes no segment away', async () => {
    const site = await openUsed({ segmentBytes: 4_096 });
    const { file, ledger, feeder, calls } = site;
    // No look comes between.
    site.watch.stop();
    renameSync(file, `${file}.away`);
    // Acknowledged before the next look: it stays in the journal.
    for (let number = 1; number < 20; number++) expect(await settle(ledger, entry(number))).toBe('settled');
    expect(await feeder.catchUp()).not.toBeNull();
    expect([calls(), existsSync(segmentOf(site))]).toEqual([0, true]);
    renameSync(`${file}.away`, file);
    expect(await feeder.catchUp()).toBeNull();
    expect(calls()).toBe(20);
  });

  test.each([0, 1_000, 40_000])('a log that was cut to %i bytes in place stops it', async (bytes) => {
    const { file, ledger, feeder, alarms } = await openUsed();
    expect(await feeder.catchUp()).toBeNull();
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(40_000);
    truncateSync(`${file}-wal`, bytes);
    expect(await feeder.catchUp()).not.toBeNull();
    expect(alarms.at(-1)?.detail).toContain('cut short');
    expect(ledger.isWritable()).toBe(false);
  });

  test('a log that another connection empties in order is none that was cut', async () => {
    const { file, ledger, feeder, calls, alarms } = await openUsed();
    expect(await feeder.catchUp()).toBeNull();
    const other = new DatabaseSync(file);
    other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    expect(statSync(`${file}-wal`).size).toBe(0);
    other.close();
    expect(await settle(ledger, entry(1))).toBe('settled');
    expect(await feeder.catchUp()).toBeNull();
    expect([calls(), alarms]).toEqual([2, []]);
  });

  test('a database that was overwritten in place stops it', async () => {
    const { database, ledger, feeder, alarms } = await openUsed();
    expect(await feeder.catchUp()).toBeNull();
    database.exec('UPDATE runs SET fed = 1');
    await settle(ledger, entry(1));
    expect(await feeder.catchUp()).not.toBeNull();
    expect(ledger.isWritable()).toBe(false);
    expect(alarms.at(-1)?.detail).toContain('overwritten');
  });
});
