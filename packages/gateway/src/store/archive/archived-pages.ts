import { type Kysely, sql } from 'kysely';
import type {
  UsageEntry,
  UsageFilter,
  UsagePage,
  UsagePeriod,
  UsagePlace,
} from '../../ports/usage-report.ts';
import { slotMs, slotOf } from '../reports.ts';
import type { Schema } from '../schema.ts';
import { isContradiction, isIn, newestFirst, passes, toUsageEntry, type UsagePages } from '../usage-pages.ts';
import { type Archive, archivedIn, archivesWhere, findArchived, overlaps } from './archived-calls.ts';

/** A page reads so many files at the most; then it says how far it came. */
const filesMax = 30;

/**
 * The calls of a key, newest first, those that are archived among them. Without archives of the time that is asked for it costs one look into
 * their table.
 */
export class ArchivedPages {
  readonly #database: Kysely<Schema>;
  readonly #stored: UsagePages;

  constructor(database: Kysely<Schema>, stored: UsagePages) {
    this.#database = database;
    this.#stored = stored;
  }

  async page(
    keyId: string,
    period: UsagePeriod,
    filter: UsageFilter,
    limit: number,
    after: UsagePlace | null,
  ): Promise<UsagePage> {
    const stored = await this.#stored.page(keyId, period, filter, limit, after);
    const before = after ?? { atMs: period.toMs, traceId: '' };
    // Stored calls are known down to here, and archived ones are not looked for below it.
    const fromMs = Math.max(period.fromMs, stored.next?.atMs ?? 0);
    const span = { keyId, fromMs, filter };
    const files = isContradiction(filter) ? [] : await this.#files(keyId, { fromMs, toMs: before.atMs + 1 });
    if (files.length === 0) return stored;
    let { next, entries } = stored;
    for (const [read, { id, to_ms }] of files.entries()) {
      const last = entries[limit];
      if (last !== undefined && Number(to_ms) < last.startedAtMs) break;
      if (read === filesMax) {
        next = { atMs: Number(to_ms) + 1, traceId: '' };
        break;
      }
      const { rows } = await sql<
        Readonly<Record<string, unknown>>
      >`select * from ${archivedIn(id, JSON.stringify(keyId))}
        where ${isIn(span, before)} and ${passes(filter)} ${newestFirst} limit ${limit + 1}`.execute(
        this.#database,
      );
      entries = [...entries, ...rows.map(toUsageEntry)].sort(byNewest);
    }
    return pageOf(entries, next, limit);
  }

  async find(keyId: string, traceId: string): Promise<UsageEntry | null> {
    const stored = await this.#stored.find(keyId, traceId);
    if (stored !== null) return stored;
    const row = await findArchived(this.#database, traceId);
    return row?.['key_id'] === keyId ? toUsageEntry(row) : null;
  }

  /** The files, newest first, of times in which the key has calls at all. */
  #files(keyId: string, period: UsagePeriod): Promise<readonly Archive[]> {
    const firstSlot = slotOf(period.fromMs);
    const isKnown = sql`exists (select 1 from usage_slots where key_id = ${keyId} and slot_start_ms >= ${BigInt(firstSlot)}
      and slot_start_ms <= archives.to_ms and slot_start_ms > archives.from_ms - ${slotMs})`;
    return archivesWhere(this.#database, sql`${overlaps(period)} and ${isKnown}`, sql`to_ms desc`);
  }
}

/** Looking was given up at a place: behind it some calls may be missing, so none of those is told yet. */
function pageOf(found: readonly UsageEntry[], next: UsagePlace | null, limit: number): UsagePage {
  const entries = found.filter((entry) => next === null || isFrom(entry, next));
  const page = entries.slice(0, limit);
  const last = page.at(-1);
  if (entries.length > limit && last !== undefined)
    return { entries: page, next: { atMs: last.startedAtMs, traceId: last.traceId }, searchedToMs: null };
  return { entries: page, next, searchedToMs: page.length < limit ? (next?.atMs ?? null) : null };
}

function isFrom({ startedAtMs, traceId }: UsageEntry, { atMs, traceId: placeId }: UsagePlace): boolean {
  return startedAtMs > atMs || (startedAtMs === atMs && traceId >= placeId);
}

function byNewest(one: UsageEntry, other: UsageEntry): number {
  return other.startedAtMs - one.startedAtMs || (one.traceId < other.traceId ? 1 : -1);
}
