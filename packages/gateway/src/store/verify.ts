import type { DatabaseSync } from 'node:sqlite';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Finding, Verification } from '../ports/store.ts';
import { archivedFinder } from './archive/archived-calls.ts';
import { type Cell, callColumns, usageColumns } from './columns.ts';
import { JournalReader, type Passage } from './journal/reader.ts';
import { isSameCell, readLine } from './lines.ts';
import { spanMs } from './reports.ts';
import type { Schema } from './schema.ts';
import { spendingOfSlots } from './sqlite/lease-tables.ts';
import { acquireRun, fedOf, journalDirectory, knownRuns } from './sqlite/runs.ts';
import {
  type Breach,
  CallVerification,
  differences,
  everyCharge,
  everyCost,
  findingsMax,
  rulesOfSums,
} from './verify-calls.ts';

/** Checks that the database can be read at all, and then the ledger in it. */
export async function verifyStore(
  database: DatabaseSync,
  kysely: Kysely<Schema>,
  file: string,
): Promise<Omit<Verification, 'asOfMs'>> {
  const faults = database
    .prepare('PRAGMA quick_check(5)')
    .all()
    .map((row) => String(row['quick_check']));
  if (faults.join() === 'ok') return verifyLedger(database, kysely);
  const findings = faults.map((detail) => ({ rule: 'database-can-be-read', subject: file, detail }));
  return { findings, counts: { calls: 0, open: 0, billed: 0, postings: 0, prices: 0 } };
}

/** Checks every invariant of the ledger against one snapshot of it. Reads everything; meant for operators and tests. */
export function verifyLedger(
  database: DatabaseSync,
  kysely: Kysely<Schema>,
): Promise<Omit<Verification, 'asOfMs'>> {
  return kysely
    .transaction()
    .setAccessMode('read only')
    .execute(async (transaction) => {
      const calls = new CallVerification(database, transaction);
      try {
        const isWhole = await calls.read();
        const counts = { ...calls.counts, ...(await countRows(transaction)) };
        const ofCalls = [...calls.findings.values()].flat();
        if (!isWhole) return { findings: calls.findings.get('archives-can-be-read') ?? [], counts };
        const findings: Finding[] = [];
        for (const [rule, breaches] of Object.entries(rules)) {
          const { rows } = await sql<Breach>`
            select * from (${breaches}) as breaches limit ${sql.lit(findingsMax)}`.execute(transaction);
          findings.push(...rows.map((row) => toFinding(rule, row)));
        }
        return { findings: [...findings, ...ofCalls], counts };
      } finally {
        calls.close();
      }
    });
}

function toFinding(rule: string, row: Breach): Finding {
  return { rule, subject: String(row.subject), detail: String(row.detail) };
}

const folded = sql`
  select ledger_account, cast(sum(amount) as bigint) as amount from (
    select debit as ledger_account, -amount_nano_usd as amount from postings
    union all select credit, amount_nano_usd from postings) as movements
  group by ledger_account`;

const spanSums = ['calls', 'billed_calls', ...usageColumns, 'charge_nano_usd'] as const;
const spanIdentity = ['key_id', 'span', 'start_ms', 'model'];

/** The longer sums as quarters of an hour give them. */
const spansOfSlots = sql`
  select key_id, span, case span when 'total' then 0 when 'day' then slot_start_ms - slot_start_ms % ${sql.lit(spanMs.day)}
      else slot_start_ms - slot_start_ms % ${sql.lit(spanMs.hour)} end as start_ms,
    case span when 'day' then model else '' end as model,
    ${sql.join(spanSums.map((column) => sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`))}
  from usage_slots, (select 'hour' as span union all select 'day' union all select 'total') as spans group by 1, 2, 3, 4`;

/** A query for what breaks each rule: no rows, no finding. */
const rules: Readonly<Record<string, RawBuilder<unknown>>> = {
  'debits-equal-credits': sql`
      select 'all balances' as subject, sum(balance_nano_usd) as detail from balances
      having sum(balance_nano_usd) <> 0`,
  'balance-is-fold-of-postings': sql`
      select coalesce(folded.ledger_account, balances.ledger_account) as subject,
        'postings give ' || coalesce(amount, 0) || ', the balance is ' || coalesce(balance_nano_usd, 0) as detail
      from (${folded}) as folded full join balances on balances.ledger_account = folded.ledger_account
      where coalesce(amount, 0) <> coalesce(balance_nano_usd, 0)`,
  'posting-has-a-call': sql`
      select reference as subject, 'posting ' || postings.id || ' belongs to no call' as detail
      from postings
      where not exists (select 1 from calls where trace_id = reference)
        and not exists (select 1 from temp.verified_charges where trace_id = reference)
        and debit <> 'credit' and credit <> 'credit'`,
  'adjustment-is-posted-once': sql`
      select id as subject, ledger_account || ' is off by ' || sum(amount) as detail from (
        select id, 'account:' || account_id as ledger_account, amount_nano_usd as amount from adjustments
        union all
        select reference, credit, -amount_nano_usd from postings where debit = 'credit'
        union all
        select reference, debit, amount_nano_usd from postings where credit = 'credit') as moves
      group by id, ledger_account having sum(amount) <> 0`,
  'charge-is-posted-once': sql`
      select trace_id as subject, ledger_account || ' is off by ' || sum(amount) as detail from (
        select trace_id, 'account:' || account_id as ledger_account, charge_nano_usd as amount from ${everyCharge}
        union all
        select reference, debit, -amount_nano_usd from postings where credit = 'revenue') as charges
      group by trace_id, ledger_account having sum(amount) <> 0`,
  'costs-are-posted-once': sql`
      select trace_id as subject, ledger_account || ' is off by ' || sum(amount) as detail from (
        select trace_id, 'payable:channel:' || channel_id as ledger_account, cost_nano_usd as amount from ${everyCost}
        union all
        select reference, credit, -amount_nano_usd from postings where credit like 'payable:%') as costs
      group by trace_id, ledger_account having sum(amount) <> 0`,
  ...rulesOfSums,
  'longer-sums-agree-with-shorter': sql`
      with found as materialized (${spansOfSlots})
      select key_id as subject, span || ' of ' || start_ms || ' differs' as detail
      from ${differences([sql`usage_spans`, sql`found`], spanIdentity, spanSums)}
      where key_id not in (select key_id from usage_spans_due)`,
  'spending-agrees-with-sums': sql`
      with found as materialized (${sql.raw(spendingOfSlots)}), kept as (select * from spending where charge_nano_usd <> 0)
      select subject, 'spending since ' || start_ms || ' (' || width_ms || ' ms) differs' as detail
      from ${differences([sql`kept`, sql`found`], ['subject', 'width_ms', 'start_ms'], ['charge_nano_usd'])}`,
  'leases-belong-to-a-run': sql`
      select subject, measure || ', run ' || run as detail from leases where run not in (select id from runs)`,
  'leases-stay-within-limits': sql`
      select subject, measure || ': ' || leased || ' is leased of ' || ceiling as detail from (
        select subject, measure, sum(case when outstanding > 0 then outstanding else 0 end) as leased, max(ceiling) as ceiling
        from leases group by subject, measure) as sums
      where leased > 0 and leased > ceiling`,
  'open-calls-belong-to-a-run': sql`
      select trace_id as subject, status || ', run ' || run as detail from calls
      where run is not null and (status <> 'open' or run not in (select id from runs))`,
  'every-line-is-taken': sql`
      select 'run ' || run || ' at ' || place as subject, reason || ': ' || substr(line, 1, 200) as detail
      from set_aside`,
};

async function countRows(
  database: Kysely<Schema>,
): Promise<Pick<Verification['counts'], 'postings' | 'prices'>> {
  const { rows } = await sql<Record<'postings' | 'prices', bigint>>`
    select (select count(*) from postings) as postings, (select count(*) from prices) as prices`.execute(
    database,
  );
  return { postings: Number(rows[0]?.postings ?? 0), prices: Number(rows[0]?.prices ?? 0) };
}

const passageLines = 2_000;

/**
 * Reads all journals that are there, and holds what is fed of them against the store. That of a process which lives is read
 * to the end that it has now, or to where it cannot be read, since the process may be just writing there.
 */
export function verifyJournals(database: DatabaseSync, file: string): readonly Finding[] {
  const findings: Finding[] = [];
  const stored = database.prepare(`SELECT ${callColumns.join(', ')} FROM calls WHERE trace_id = ?`);
  const findArchived = archivedFinder(database);
  const find = (traceId: Cell) => stored.get(traceId) ?? findArchived(String(traceId));
  const setAside = database.prepare('SELECT 1 FROM set_aside WHERE line = ?');
  const isSetAside = (line: string) => setAside.get(line) !== undefined;
  for (const { id, fed } of knownRuns(database, file)) {
    const lock = acquireRun(file, id);
    const reader = new JournalReader(journalDirectory(file, id));
    const end = lock === null ? reader.end() : Number.POSITIVE_INFINITY;
    const extent = lock === null ? { fed: () => fedOf(database, id) } : { isDead: true };
    let place = reader.starts()[0] ?? fed ?? 0;
    while (findings.length < findingsMax) {
      const passage = reader.read(place, passageLines, extent);
      if (passage === null) break;
      if ('detail' in passage) {
        const { detail, offset } = passage;
        findings.push({
          rule: 'journals-can-be-read',
          subject: passage.file,
          detail: `byte ${offset}: ${detail}`,
        });
        break;
      }
      if (passage.end <= (fed ?? 0)) findings.push(...notInStore(passage, find, isSetAside));
      place = passage.end;
      if (place >= end) break;
    }
    reader.close();
    lock?.close();
  }
  return findings.slice(0, findingsMax);
}

function notInStore(
  { lines, columns }: Passage,
  find: (traceId: Cell) => unknown,
  isSetAside: (line: string) => boolean,
): readonly Finding[] {
  const findings: Finding[] = [];
  for (const line of lines) {
    if (isSetAside(line)) continue;
    const { cells, isOpen } = readLine(line, columns);
    // A row has the columns that were asked for, or there is none.
    const row = find(cells[0] ?? null) as Readonly<Record<string, Cell>> | undefined;
    const isSame = (column: string, at: number) => isSameCell(row?.[column] ?? null, cells[at] ?? null);
    if (row !== undefined && (isOpen || callColumns.every(isSame))) continue;
    const detail = row === undefined ? 'its line is fed, but it is not there' : 'its line is another entry';
    findings.push({ rule: 'journals-agree-with-calls', subject: String(cells[0]), detail });
  }
  return findings;
}
