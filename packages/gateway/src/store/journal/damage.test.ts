import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { tries } from '../../../../../test/support/slow-form.ts';
import type { CallEntry } from '../../ports/ledger.ts';
import type { Damage } from '../../ports/store.ts';
import { lineColumns, writeEntry } from '../columns.ts';
import { ConfigurationWriter } from '../configuration.ts';
import { openJournalSite } from '../contract/journal-site.ts';
import { anyEntry, declaration, epochMs, sampleEntry, settle, traceId } from '../contract/samples.ts';
import type { ReplayStep } from '../feeder.ts';
import { openKysely } from '../sqlite/kysely.ts';
import { verifyJournals, verifyLedger } from '../verify.ts';
import { frameOf, segmentName } from './format.ts';
import { Journal } from './journal.ts';
import { JournalReader } from './reader.ts';

let site: ReturnType<typeof openJournalSite>;
const detailsOf = ({ alarms }: typeof site): readonly string[] => alarms.map(({ detail }) => detail);

beforeEach(async () => {
  site = openJournalSite();
  await new ConfigurationWriter(openKysely(site.database)).apply('file', declaration, epochMs);
});
afterEach(() => site.close());

const entry = (number: number) => sampleEntry({ traceId: traceId(number) });

/** The run of a process that is dead, of which the store has not heard yet. */
const deadRun = 700;
const journalOf = (run: number) => join(site.directory, 'journal', String(run));

/** Leaves a journal as a dead process does: one frame for each list. Returns where each frame ends. */
async function leaveJournal(
  frames: readonly (readonly string[])[],
  { columns = lineColumns, segmentBytes = 1024 * 1024 } = {},
): Promise<readonly number[]> {
  const directory = journalOf(deadRun);
  mkdirSync(directory, { recursive: true });
  const journal = new Journal({ directory, columns, segmentBytes });
  const ends: number[] = [];
  for (const lines of frames) {
    const frame = Buffer.from(frameOf(lines, 0));
    const end = await new Promise<number>((resolve, reject) =>
      journal.append(frame, frame.length, (error, at) => (error === null ? resolve(at) : reject(error))),
    );
    ends.push(end);
  }
  await journal.close();
  return ends;
}

const linesOf = (...numbers: readonly number[]) => numbers.map((number) => writeEntry(entry(number)));

const segment = (start = 0) => join(journalOf(deadRun), segmentName(start));

function change(file: string, work: (bytes: Buffer) => void): void {
  const bytes = readFileSync(file);
  work(bytes);
  writeFileSync(file, bytes);
}

function storedNumbers(): readonly number[] {
  const rows = site.database.prepare('SELECT trace_id FROM calls ORDER BY trace_id').all();
  return rows.map((row) => Number.parseInt(String(row['trace_id']), 16));
}

/** All steps of a replay: a slow machine takes several. */
async function replay(): Promise<ReplayStep> {
  for (let lines = 0; ; ) {
    const step = await site.feeder.replay();
    lines += step.lines;
    if (step.isDone) return { ...step, lines };
  }
}

async function expectSound(): Promise<void> {
  expect((await verifyLedger(site.database, openKysely(site.database))).findings).toEqual([]);
  expect(verifyJournals(site.database, site.file)).toEqual([]);
}

/** Everything that can be read, and what it ends with. */
function readAll(): { lines: readonly string[]; damage: Damage | null } {
  const reader = new JournalReader(journalOf(deadRun));
  const lines: string[] = [];
  try {
    for (let place = 0; ; ) {
      const passage = reader.read(place, 3, { isDead: true });
      if (passage === null) return { lines, damage: null };
      if ('detail' in passage) return { lines, damage: passage };
      lines.push(...passage.lines);
      place = passage.end;
    }
  } finally {
    reader.close();
  }
}

describe('the journal of a dead process', () => {
  test('is fed before anything is served, and goes away', async () => {
    await leaveJournal([linesOf(1, 2), linesOf(3)]);
    expect(await replay()).toMatchObject({ isDone: true, lines: 3, damage: null });
    expect(storedNumbers()).toEqual([1, 2, 3]);
    expect(existsSync(journalOf(deadRun))).toBe(false);
    await expectSound();
  });

  test('feeds nothing twice when it was fed before, and the store has forgotten', async () => {
    await leaveJournal([linesOf(1, 2)]);
    await replay();
    const before = site.database.prepare('SELECT * FROM balances').all();
    await leaveJournal([linesOf(1, 2), linesOf(3)]);
    await replay();
    expect(storedNumbers()).toEqual([1, 2, 3]);
    expect(site.database.prepare('SELECT * FROM balances').all()).not.toEqual(before);
    await expectSound();
  });

  test('gives back any entry as it was written', async () => {
    const entries = fc.sample(anyEntry, { numRuns: tries(2_000), seed: 11 });
    const lines = entries.map(writeEntry);
    await leaveJournal([lines]);
    expect(readAll()).toEqual({ lines, damage: null });
  });

  test('with columns of another version is read by their names', async () => {
    const columns = [...lineColumns.toReversed(), 'of_the_future'];
    const cells = JSON.parse(writeEntry(entry(1)).slice(1).split('\t')[0] ?? '') as unknown[];
    const line = writeEntry(entry(1)).replace(
      /\[.*?\]\t/,
      `${JSON.stringify([...cells.toReversed(), 'x'])}\t`,
    );
    await leaveJournal([[line]], { columns });
    expect(await replay()).toMatchObject({ lines: 1, damage: null });
    await leaveJournal([linesOf(1)]);
    await replay();
    await expectSound();
  });
});

describe('a torn end', () => {
  test('was never acknowledged, and is dropped wherever it is torn', async () => {
    const [whole = 0, end = 0] = await leaveJournal([linesOf(1, 2), linesOf(3, 4, 5)]);
    const bytes = readFileSync(segment());
    const torn = fc.record({ from: fc.integer({ min: whole, max: end - 1 }), length: fc.nat(end - whole) });
    fc.assert(
      fc.property(torn, ({ from, length }) => {
        const copy = Buffer.from(bytes).fill(0, from, Math.min(end, from + 1 + length));
        fc.pre(!copy.equals(bytes));
        writeFileSync(segment(), copy);
        expect(readAll()).toEqual({ lines: linesOf(1, 2), damage: null });
      }),
      { numRuns: tries(3_000) },
    );
  });

  test('may be the end of the file', async () => {
    const [whole = 0] = await leaveJournal([linesOf(1), linesOf(2)]);
    writeFileSync(segment(), readFileSync(segment()).subarray(0, whole + 40));
    expect(await replay()).toMatchObject({ lines: 1, damage: null });
  });
});

describe('damage with entries behind it', () => {
  test('is found wherever it is, never taken for an end, and never for entries', async () => {
    const [, , third = 0] = await leaveJournal([linesOf(1, 2), linesOf(3), linesOf(4, 5), linesOf(6)]);
    const bytes = readFileSync(segment());
    const flips = fc.record({ at: fc.nat(third - 1), bit: fc.nat(7) });
    fc.assert(
      fc.property(flips, ({ at, bit }) => {
        const copy = Buffer.from(bytes);
        copy[at] = (copy[at] ?? 0) ^ (1 << bit);
        writeFileSync(segment(), copy);
        const { lines, damage } = readAll();
        expect(damage).toMatchObject({ file: segment() });
        expect(linesOf(1, 2, 3, 4, 5, 6).slice(0, lines.length)).toEqual(lines);
      }),
      { numRuns: tries(5_000) },
    );
  });

  test('stops the replay with the place; salvage keeps every line that is whole, and the journal', async () => {
    const [first = 0] = await leaveJournal([linesOf(1, 2), linesOf(3, 4, 5), linesOf(6)]);
    change(segment(), (bytes) => bytes.write('ruined', bytes.indexOf(traceId(4)) + 3));
    const { damage } = await replay();
    expect(damage).toMatchObject({ file: segment(), offset: first });
    expect(storedNumbers()).toEqual([1, 2]);
    expect(verifyJournals(site.database, site.file)).toMatchObject([{ rule: 'journals-can-be-read' }]);

    expect(site.feeder.salvage()).toMatchObject([{ file: segment(), offset: first, linesKept: 2 }]);
    expect(storedNumbers()).toEqual([1, 2, 3, 5, 6]);
    expect(existsSync(`${journalOf(deadRun)}.damaged`)).toBe(true);
    expect(await replay()).toMatchObject({ isDone: true, damage: null });
    await expectSound();
  });

  test('a segment that is missing is noticed, and can be gone on without', async () => {
    const ends = await leaveJournal([linesOf(1), linesOf(2), linesOf(3)], { segmentBytes: 1_024 });
    rmSync(segment(ends[0]));
    const { damage } = await replay();
    expect(damage).toMatchObject({ file: segment(ends[0]), offset: 0 });
    expect(damage?.detail).toContain('missing');
    expect(site.feeder.salvage()).toHaveLength(1);
    expect(storedNumbers()).toEqual([1, 3]);
    await expectSound();
  });

  test('a journal of a newer Headgate is left alone', async () => {
    await leaveJournal([linesOf(1)]);
    const newer = frameOf([`H{"version":2,"columns":["trace_id"]}`], 0);
    change(segment(), (bytes) => newer.copy(bytes, 0));
    expect(await replay()).toMatchObject({
      lines: 0,
      damage: { detail: 'the journal was written by another version of Headgate' },
    });
  });

  test('in the journal of the process itself stops it: new calls are refused', async () => {
    expect(await settle(site.ledger, entry(1))).toBe('settled');
    const own = join(site.directory, 'journal', '1', segmentName(0));
    change(own, (bytes) => bytes.write('ruined', bytes.indexOf(traceId(1))));
    expect(await site.feeder.catchUp()).not.toBeNull();
    expect(site.ledger.isWritable()).toBe(false);
    expect(detailsOf(site)).toEqual([expect.stringContaining(own)]);
  });
});

describe('a line that the store does not take', () => {
  test('is set aside with its reason, and costs no other its place', async () => {
    const broken = writeEntry({ ...entry(2), usage: { ...entry(2).usage, output: 0.5 } });
    await leaveJournal([[...linesOf(1), broken, 'E[no line]', ...linesOf(3)]]);
    expect(await replay()).toMatchObject({ isDone: true, lines: 4, damage: null });
    expect(storedNumbers()).toEqual([1, 3]);
    expect(site.alarms).toMatchObject([{ traceId: traceId(2) }, { traceId: null }]);
    const { findings } = await verifyLedger(site.database, openKysely(site.database));
    expect(findings.map(({ rule }) => rule)).toEqual(['every-line-is-taken', 'every-line-is-taken']);
  });
});

describe('a store that cannot be written', () => {
  test('is behind, says as of when, and catches up when it can', async () => {
    expect(await settle(site.ledger, entry(1))).toBe('settled');
    expect(await site.feeder.catchUp()).toBeNull();
    const pages = Number(site.database.prepare('PRAGMA page_count').get()?.['page_count']);
    site.database.exec(`PRAGMA max_page_count = ${pages}`);
    const many = Array.from({ length: 200 }, (_, number) => settle(site.ledger, entry(number + 2)));
    expect(new Set(await Promise.all(many))).toEqual(new Set(['settled']));
    expect(await site.feeder.catchUp()).toBeLessThanOrEqual(Date.now());
    expect(site.calls()).toBe(1);
    expect(detailsOf(site)).toEqual([expect.stringContaining('full')]);
    site.database.exec('PRAGMA max_page_count = 1000000');
    expect(await site.feeder.catchUp()).toBeNull();
    expect(site.calls()).toBe(201);
    await expectSound();
  });

  test('a folder in which no journal can be made settles nothing', async () => {
    writeFileSync(join(site.directory, 'journal'), 'a file');
    expect(await settle(site.ledger, entry(1))).toBe('unavailable');
    expect(detailsOf(site)).toEqual([expect.stringContaining('journal')]);
  });
});

test('an entry that was fed and is another one in the store is found', async () => {
  await settle(site.ledger, entry(1));
  await site.feeder.catchUp();
  expect(verifyJournals(site.database, site.file)).toEqual([]);
  site.database.exec('UPDATE calls SET http_status = 201');
  expect(verifyJournals(site.database, site.file)).toMatchObject([
    { rule: 'journals-agree-with-calls', subject: traceId(1) },
  ]);
});

test('segments go once they are fed', async () => {
  const small = openJournalSite({ segmentBytes: 4_096 });
  const entries: CallEntry[] = Array.from({ length: 40 }, (_, number) => entry(number));
  const reader = new JournalReader(join(small.directory, 'journal', '1'));
  for (const each of entries) expect(await settle(small.ledger, each)).toBe('settled');
  expect(reader.starts().length).toBeGreaterThan(5);
  while (small.calls() < 40) await small.feeder.catchUp();
  expect(reader.starts()).toHaveLength(1);
  await small.close();
});

test('segments that go while another process reads them are no damage', async () => {
  const small = openJournalSite({ segmentBytes: 4_096 });
  for (let number = 0; number < 40; number++) await settle(small.ledger, entry(number));
  const reader = new JournalReader(join(small.directory, 'journal', '1'));
  const [first = 0, second = 0] = reader.starts();
  const passage = reader.read(first, 1, {});
  while (small.calls() < 40) await small.feeder.catchUp();
  const [last = 0] = reader.starts();
  expect(last).toBeGreaterThan(second);
  // The segment that is open is still read to its end; the next one is gone.
  expect(passage).toMatchObject({ segment: first });
  expect(reader.read(second, 1, {})).toHaveProperty('detail', expect.stringContaining('missing'));
  expect(reader.read(second, 1, { fed: () => last })).toMatchObject({ segment: last });
  expect(reader.read(second, 1, { fed: () => second })).toHaveProperty(
    'detail',
    expect.stringContaining('missing'),
  );
  expect(reader.read(second, 1, { fed: () => null })).toBeNull();

  // Gone between the listing and the opening.
  const listed = vi.spyOn(reader, 'starts').mockReturnValueOnce([first, second]);
  expect(reader.read(second, 1, { fed: () => last })).toMatchObject({ segment: last });
  expect(listed.mock.calls.length).toBeGreaterThan(1);
  reader.close();
  await small.close();
});

test('a segment that is gone before anybody has read it is missing, and may come back; the one before it is not damaged', async () => {
  const [before = 0, after = 0] = await leaveJournal([linesOf(1), linesOf(2)], { segmentBytes: 1_024 });
  const gone = segment(before);
  const bytes = readFileSync(gone);
  const reader = new JournalReader(journalOf(deadRun));
  rmSync(gone);
  expect(reader.read(before, 10, { until: after })).toMatchObject({ file: gone, offset: 0 });
  writeFileSync(gone, bytes);
  expect(reader.read(before, 10, { until: after })).toMatchObject({ end: after, lines: linesOf(2) });
  reader.close();
});
