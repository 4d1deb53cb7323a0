import type { DatabaseSync } from 'node:sqlite';
import { noTerms } from '@headgate/protocols';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { billableStatuses } from '../money/postings.ts';
import { type PricedPart, type PriceVersion, priceUsage } from '../money/price.ts';
import { type Finding, type LedgerRecord, StoreUnusable, type Verification } from '../ports/store.ts';
import { archivedFinder, archivedIn, archivesWhere, everyCall } from './archive/archived-calls.ts';
import { type Cell, callColumns, readRecord, usageColumns } from './columns.ts';
import { JournalReader, type Passage } from './journal/reader.ts';
import { isSameCell, readLine } from './lines.ts';
import { loadPrices } from './load-configuration.ts';
import { costOfCall, slotMs, spanMs, unknownCostsOfCall } from './reports.ts';
import type { Schema } from './schema.ts';
import { channelOfAttempt, costOfAttempt, wrongSpendSums } from './spend-slots.ts';
import { spendingOfSlots } from './sqlite/lease-tables.ts';
import { acquireRun, fedOf, journalDirectory, knownRuns } from './sqlite/runs.ts';

const findingsMax = 100;
const pageSize = 1_000;

const billable = sql.join(billableStatuses);

interface Breach {
  readonly subject: string | bigint;
  readonly detail: string | bigint;
}

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
  if (faults.join() === 'ok') return verifyLedger(kysely);
  const findings = faults.map((detail) => ({ rule: 'database-can-be-read', subject: file, detail }));
  return { findings, counts: { calls: 0, open: 0, billed: 0, postings: 0, prices: 0 } };
}

/** Checks every invariant of the ledger against one snapshot of it. Reads everything; meant for operators and tests. */
export function verifyLedger(database: Kysely<Schema>): Promise<Omit<Verification, 'asOfMs'>> {
  return database
    .transaction()
    .setAccessMode('read only')
    .execute(async (transaction) => {
      const findings: Finding[] = [...(await wrongArchives(transaction))];
      // Whatever is held against all calls would find those that are missing, one by one.
      if (findings.length > 0) return { findings, counts: await countRows(transaction, sql`calls`) };
      for (const [rule, breaches] of Object.entries(rules)) {
        const { rows } = await sql<Breach>`
          select * from (${breaches}) as breaches limit ${sql.lit(findingsMax)}`.execute(transaction);
        findings.push(...rows.map((row) => toFinding(rule, row)));
      }
      return {
        findings: [...findings, ...(await wrongCharges(transaction))],
        counts: await countRows(transaction, everyCall),
      };
    });
}

/** Every archive is there, is what was written, and holds what the store knows of it. */
async function wrongArchives(database: Kysely<Schema>): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const archive of await archivesWhere(database, sql`true`, sql`id`)) {
    const { id, ...known } = archive;
    try {
      const { rows } = await sql<
        typeof known
      >`select min(trace_id) as first_trace, max(trace_id) as last_trace,
        min(started_at_ms) as from_ms, max(started_at_ms) as to_ms from ${archivedIn(id)}`.execute(database);
      const found = rows[0];
      const isSame = Object.entries(known).every(
        ([name, value]) => found?.[name as keyof typeof known] === value,
      );
      if (!isSame)
        findings.push(archiveFinding(id, 'its calls are others than those that the store knows of'));
    } catch (error) {
      if (!(error instanceof StoreUnusable)) throw error;
      findings.push(archiveFinding(id, error.message));
    }
    if (findings.length >= findingsMax) break;
  }
  return findings;
}

function archiveFinding(id: bigint, detail: string): Finding {
  return { rule: 'archives-can-be-read', subject: `archive ${id}`, detail };
}

function toFinding(rule: string, row: Breach): Finding {
  return { rule, subject: String(row.subject), detail: String(row.detail) };
}

const folded = sql`
  select ledger_account, cast(sum(amount) as bigint) as amount from (
    select debit as ledger_account, -amount_nano_usd as amount from postings
    union all select credit, amount_nano_usd from postings) as movements
  group by ledger_account`;

const slotColumns = sql.join(
  ['key_id', 'slot_start_ms', 'model', 'account_id', 'group_id', 'calls', 'billed_calls']
    .concat(usageColumns, 'charge_nano_usd', 'cost_nano_usd', 'unknown_costs')
    .map((column) => sql.ref(column)),
);

const slotsOfCalls = sql`
  select key_id, started_at_ms - started_at_ms % ${sql.lit(slotMs)} as slot_start_ms, model_summed as model,
    account_id, group_id, count(*) as calls,
    sum(case when unbilled_reason is null then 1 else 0 end) as billed_calls,
    ${sql.join(usageColumns.map((column) => sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`))},
    cast(sum(charge_nano_usd) as bigint) as charge_nano_usd, cast(sum(${costOfCall}) as bigint) as cost_nano_usd,
    cast(sum(${unknownCostsOfCall}) as bigint) as unknown_costs
  from ${everyCall} where status <> 'open' group by 1, 2, 3, 4, 5`;

const spanSums = ['calls', 'billed_calls', ...usageColumns, 'charge_nano_usd'] as const;
const spanColumns = sql.join(
  ['key_id', 'span', 'start_ms', 'model', ...spanSums].map((column) => sql.ref(column)),
);

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
      from postings left join ${everyCall} on trace_id = reference
      where trace_id is null and debit <> 'credit' and credit <> 'credit'`,
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
        select trace_id, 'account:' || account_id as ledger_account, charge_nano_usd as amount from ${everyCall}
        union all
        select reference, debit, -amount_nano_usd from postings where credit = 'revenue') as charges
      group by trace_id, ledger_account having sum(amount) <> 0`,
  'costs-are-posted-once': sql`
      select trace_id as subject, ledger_account || ' is off by ' || sum(amount) as detail from (
        select trace_id, 'payable:channel:' || ${channelOfAttempt} as ledger_account, ${costOfAttempt} as amount
          from ${everyCall}, json_each(calls.attempts) as attempt
        union all
        select reference, credit, -amount_nano_usd from postings where credit like 'payable:%') as costs
      group by trace_id, ledger_account having sum(amount) <> 0`,
  'only-served-calls-are-charged': sql`
      select trace_id as subject, status || ', charge ' || charge_nano_usd as detail from ${everyCall}
      where charge_nano_usd < 0 or charge_nano_usd > 0
        and (unbilled_reason is not null or status not in (${billable}))`,
  'unbilled-calls-have-a-reason': sql`
      select trace_id as subject, status as detail from ${everyCall}
      where unbilled_reason is null and status not in ('open', ${billable})`,
  'sums-agree-with-calls': sql`
      with found as materialized (${slotsOfCalls})
      select key_id as subject, 'slot ' || slot_start_ms || ' of ' || model || ' differs' as detail from (
        select * from (select ${slotColumns} from usage_slots except select ${slotColumns} from found) as b
        union all
        select * from (select ${slotColumns} from found except select ${slotColumns} from usage_slots) as d
      ) as differences`,
  'longer-sums-agree-with-shorter': sql`
      select key_id as subject, span || ' of ' || start_ms || ' differs' as detail from (
        select * from (select ${spanColumns} from usage_spans except select ${spanColumns} from (${spansOfSlots}) as a) as b
        union all
        select * from (select ${spanColumns} from (${spansOfSlots}) as c except select ${spanColumns} from usage_spans) as d
      ) as differences where key_id not in (select key_id from usage_spans_due)`,
  'spend-agrees-with-calls': wrongSpendSums,
  'spending-agrees-with-sums': sql`
      select subject, 'spending since ' || start_ms || ' (' || width_ms || ' ms) differs' as detail from (
        select * from (select subject, width_ms, start_ms, charge_nano_usd from spending where charge_nano_usd <> 0 except select * from (${sql.raw(spendingOfSlots)}) as sums) as a
        union all
        select * from (select * from (${sql.raw(spendingOfSlots)}) as b except select subject, width_ms, start_ms, charge_nano_usd from spending where charge_nano_usd <> 0) as c
      ) as differences`,
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
  'routes-can-be-read': sql`
      select trace_id as subject, 'how it was routed is no record' as detail from ${everyCall}
      where route is not null and not json_valid(route)`,
};

/** Prices every billed call again, those that cost nothing too, from the version pinned at admission. */
async function wrongCharges(database: Kysely<Schema>): Promise<readonly Finding[]> {
  const prices = (await loadPrices(database)).filter(({ tiers }) => tiers.length > 0);
  const versions = new Map<string | null, PriceVersion>(
    prices.map((price) => [price.version, { ...price, id: price.version }]),
  );
  const findings: Finding[] = [];
  for await (const row of billedCalls(database)) {
    const call = readRecord(row);
    const detail = wrongCharge(call, versions);
    if (detail !== null) findings.push({ rule: 'charge-follows-its-price', subject: call.traceId, detail });
    if (findings.length >= findingsMax) break;
  }
  return findings;
}

type CallRow = Readonly<Record<string, unknown>>;

/** Archived calls come first, file by file. */
async function* billedCalls(database: Kysely<Schema>): AsyncGenerator<CallRow> {
  const isBilled = sql`status in (${billable}) and unbilled_reason is null`;
  for (const { id } of await archivesWhere(database, sql`true`, sql`id`)) {
    const { rows } = await sql<CallRow>`select * from ${archivedIn(id)} where ${isBilled}`.execute(database);
    yield* rows;
  }
  for (let last = ''; ; ) {
    const { rows } = await sql<CallRow>`select * from calls where trace_id > ${last} and ${isBilled}
      order by trace_id limit ${pageSize}`.execute(database);
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined) return;
    last = String(end['trace_id']);
  }
}

function wrongCharge(call: LedgerRecord, versions: ReadonlyMap<string | null, PriceVersion>): string | null {
  const version = versions.get(call.priceVersion);
  if (version === undefined) return `there is no price version ${call.priceVersion}`;
  const parts: PricedPart[] = [];
  for (const { priceVersion, usage } of call.parts ?? []) {
    const price = versions.get(priceVersion);
    if (price === undefined) return `there is no price version ${priceVersion}`;
    parts.push({ price, usage });
  }
  const priced = call.parts === null ? null : parts;
  const charge = priceUsage(call.usage, version, call.multiplierPpm, call.terms ?? noTerms, priced);
  return charge === call.chargeNanoUsd ? null : `charged ${call.chargeNanoUsd}, its price gives ${charge}`;
}

async function countRows(
  database: Kysely<Schema>,
  table: RawBuilder<unknown>,
): Promise<Verification['counts']> {
  const calls = await sql<Record<'calls' | 'open' | 'billed', bigint>>`
    select count(*) as calls, count(case when status = 'open' then 1 end) as open,
      count(case when status <> 'open' and unbilled_reason is null then 1 end) as billed
    from ${table}`.execute(database);
  const others = await sql<Record<'postings' | 'prices', bigint>>`
    select (select count(*) from postings) as postings, (select count(*) from prices) as prices`.execute(
    database,
  );
  const [first, second] = [calls.rows[0], others.rows[0]];
  return {
    calls: Number(first?.calls ?? 0),
    open: Number(first?.open ?? 0),
    billed: Number(first?.billed ?? 0),
    postings: Number(second?.postings ?? 0),
    prices: Number(second?.prices ?? 0),
  };
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
