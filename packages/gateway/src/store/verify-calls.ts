import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { noTerms } from '@headgate/protocols';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { billableStatuses } from '../money/postings.ts';
import { type PricedPart, type PriceVersion, priceUsage } from '../money/price.ts';
import { type Finding, StoreUnusable, type Verification } from '../ports/store.ts';
import { type Archive, archivedLines, archivesWhere, integerColumns } from './archive/archived-calls.ts';
import { type Cell, callColumns, pricingColumns, readPricing, usageColumns } from './columns.ts';
import { loadPrices } from './load-configuration.ts';
import { costOfCall, slotMs, unknownCostsOfCall } from './reports.ts';
import type { Schema } from './schema.ts';
import { channelOfAttempt, costOfAttempt, namesOfSpend, spendOfCalls } from './spend-slots.ts';
import { summedModel } from './sqlite/migrations.ts';

/** That many findings of a rule are told. */
export const findingsMax = 100;
const pageSize = 1_000;

const billable = sql.join(billableStatuses);

export interface Breach {
  readonly subject: string | bigint;
  readonly detail: string | bigint;
}

const identity = ['key_id', 'slot_start_ms', 'model', 'account_id', 'group_id'];
const slotSums = [
  ...['calls', 'billed_calls', ...usageColumns],
  ...['charge_nano_usd', 'cost_nano_usd', 'unknown_costs'],
];

const typed = callColumns.map((column) => (integerColumns.has(column) ? `${column} INTEGER` : column));

/**
 * Verification keeps these while it runs: the calls of one archive at a time, of archived calls no more than postings are held
 * against, and the sums that all calls give.
 */
const workTables = `
CREATE TEMP TABLE verified_file (${typed.join(', ')}, run INTEGER, model_summed GENERATED ALWAYS AS (${summedModel}));
CREATE TEMP TABLE verified_charges (trace_id TEXT, account_id TEXT, charge_nano_usd INTEGER);
CREATE INDEX temp.verified_charges_by_trace ON verified_charges (trace_id);
CREATE TEMP TABLE verified_costs (trace_id TEXT, channel_id TEXT, cost_nano_usd INTEGER);
CREATE TEMP TABLE verified_slots (${[...identity, ...slotSums].join(', ')}, PRIMARY KEY (${identity.join(', ')})) WITHOUT ROWID;
CREATE TEMP TABLE verified_spend (${namesOfSpend.all.join(', ')}, PRIMARY KEY (${namesOfSpend.identity.join(', ')})) WITHOUT ROWID;
`;

const tableNames = ['file', 'charges', 'costs', 'slots', 'spend'].map((name) => `verified_${name}`);

const chargesOf = (calls: RawBuilder<unknown>) =>
  sql`select trace_id, account_id, charge_nano_usd from ${calls}`;
const costsOf = (calls: RawBuilder<unknown>) => sql`
  select trace_id, ${channelOfAttempt} as channel_id, ${costOfAttempt} as cost_nano_usd
  from ${calls}, json_each(calls.attempts) as attempt`;

const stored = sql`calls`;
const ofFile = sql`temp.verified_file as calls`;

/** Every call, with what is posted of it. */
export const everyCharge = sql`(${chargesOf(stored)} union all select * from temp.verified_charges)`;
export const everyCost = sql`(${costsOf(stored)} union all select * from temp.verified_costs)`;

const slotsOf = (calls: RawBuilder<unknown>) => sql`
  select key_id, started_at_ms - started_at_ms % ${sql.lit(slotMs)} as slot_start_ms, model_summed as model,
    account_id, group_id, count(*) as calls,
    sum(case when unbilled_reason is null then 1 else 0 end) as billed_calls,
    ${sql.join(usageColumns.map((column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`))},
    sum(charge_nano_usd) as charge_nano_usd, sum(${costOfCall}) as cost_nano_usd,
    sum(${unknownCostsOfCall}) as unknown_costs
  from ${calls} where status <> 'open' group by 1, 2, 3, 4, 5`;

/** A query for the calls that break a rule by themselves. */
const rulesOfCalls: Readonly<Record<string, (calls: RawBuilder<unknown>) => RawBuilder<unknown>>> = {
  'only-served-calls-are-charged': (calls) => sql`
      select trace_id as subject, status || ', charge ' || charge_nano_usd as detail from ${calls}
      where charge_nano_usd < 0 or charge_nano_usd > 0
        and (unbilled_reason is not null or status not in (${billable}))`,
  'unbilled-calls-have-a-reason': (calls) => sql`
      select trace_id as subject, status as detail from ${calls}
      where unbilled_reason is null and status not in ('open', ${billable})`,
  'routes-can-be-read': (calls) => sql`
      select trace_id as subject, 'how it was routed is no record' as detail from ${calls}
      where route is not null and not json_valid(route)`,
};

/** Adds rows of sums to those that are there. */
function adding(table: string, keys: readonly string[], sums: readonly string[], rows: RawBuilder<unknown>) {
  const changes = sums.map((name) => sql`${sql.ref(name)} = ${sql.ref(name)} + excluded.${sql.ref(name)}`);
  const names = sql.join([...keys, ...sums].map((name) => sql.ref(name)));
  return sql`insert into temp.${sql.ref(table)} (${names}) select ${names} from (${rows}) where true
    on conflict do update set ${sql.join(changes)}`;
}

/**
 * Rows of sums that are other than those of all calls, or are in one of both only. They are sorted together and not looked up: a look-up by
 * columns of several tables costs as much as all rows where SQLite finds no index.
 */
export function differences(
  [table, found]: readonly [RawBuilder<unknown>, RawBuilder<unknown>],
  keys: readonly string[],
  sums: readonly string[],
): RawBuilder<unknown> {
  const names = sql.join(keys.map((name) => sql.ref(name)));
  const kept = sql.join(sums.map((name) => sql.ref(name)));
  const taken = sql.join(sums.map((name) => sql`-${sql.ref(name)}`));
  const differ = ['here', ...sums].map((name) => sql`sum(${sql.ref(name)}) <> 0`);
  return sql`(select ${names} from (
      select ${names}, ${kept}, 1 as here from ${table} union all select ${names}, ${taken}, -1 from ${found}) as both
    group by ${names} having ${sql.join(differ, sql` or `)})`;
}

const wrongSlots = sql`
  select key_id as subject, 'slot ' || slot_start_ms || ' of ' || model || ' differs' as detail
  from ${differences([sql`usage_slots`, sql`temp.verified_slots`], identity, slotSums)}`;

const wrongSpend = sql`
  select key_id as subject, 'slot ' || slot_start_ms || ' of ' || kind || ' ' || name || ' differs' as detail
  from ${differences([sql`spend_slots`, sql`temp.verified_spend`], namesOfSpend.identity, namesOfSpend.sums)}
  where kind <> 'channel' or key_id not in (select key_id from spend_slots_due)`;

/** Rules that hold sums and postings against all calls, once those are read. */
export const rulesOfSums = { 'sums-agree-with-calls': wrongSlots, 'spend-agrees-with-calls': wrongSpend };

type Counts = Pick<Verification['counts'], 'calls' | 'open' | 'billed'>;

/** Reads every call once, file by file and then those that are stored, and gathers what rules about all of them need. */
export class CallVerification {
  readonly findings = new Map<string, Finding[]>();
  readonly #database: DatabaseSync;
  readonly #kysely: Kysely<Schema>;
  readonly #counts: Record<keyof Counts, number> = { calls: 0, open: 0, billed: 0 };
  #versions: ReadonlyMap<string | null, PriceVersion> = new Map();

  constructor(database: DatabaseSync, kysely: Kysely<Schema>) {
    this.#database = database;
    this.#kysely = kysely;
    database.exec(workTables);
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** True when all could be read: whatever is held against all calls would find those that are missing, one by one. */
  async read(): Promise<boolean> {
    const prices = (await loadPrices(this.#kysely)).filter(({ tiers }) => tiers.length > 0);
    this.#versions = new Map(prices.map((price) => [price.version, { ...price, id: price.version }]));
    await this.#take(stored);
    const insert = this.#database.prepare(
      `INSERT INTO verified_file (${callColumns.join(', ')}) VALUES (${callColumns.map(() => '?').join(', ')})`,
    );
    for (const archive of await archivesWhere(this.#kysely, sql`true`, sql`id`)) {
      const problem = this.#load(insert, archive);
      if (problem === null) await this.#take(ofFile);
      else this.#find('archives-can-be-read', { subject: `archive ${archive.id}`, detail: problem });
    }
    this.#database.exec('DELETE FROM verified_file');
    return !this.findings.has('archives-can-be-read');
  }

  close(): void {
    this.#database.exec(tableNames.map((name) => `DROP TABLE IF EXISTS temp.${name};`).join('\n'));
  }

  /** Null, or why the calls of a file are not those that the store knows of. */
  #load(insert: StatementSync, { id, ...known }: Archive): string | null {
    this.#database.exec('DELETE FROM verified_file');
    try {
      for (const cells of archivedLines(this.#database, id)) insert.run(...cells);
    } catch (error) {
      if (!(error instanceof StoreUnusable)) throw error;
      return error.message;
    }
    const found = this.#database
      .prepare(`SELECT min(trace_id) AS first_trace, max(trace_id) AS last_trace, min(started_at_ms) AS from_ms,
        max(started_at_ms) AS to_ms FROM verified_file`)
      .get();
    const isSame = Object.entries(known).every(([name, value]) => found?.[name] === value);
    return isSame ? null : 'its calls are others than those that the store knows of';
  }

  async #take(calls: RawBuilder<unknown>): Promise<void> {
    await this.#count(calls);
    for (const [rule, breaches] of Object.entries(rulesOfCalls)) {
      const { rows } =
        await sql<Breach>`select * from (${breaches(calls)}) as breaches limit ${sql.lit(findingsMax)}`.execute(
          this.#kysely,
        );
      for (const row of rows) this.#find(rule, row);
    }
    await adding('verified_slots', identity, slotSums, slotsOf(calls)).execute(this.#kysely);
    await adding('verified_spend', namesOfSpend.identity, namesOfSpend.sums, spendOfCalls(calls)).execute(
      this.#kysely,
    );
    if (calls === ofFile) await this.#keepMoves();
    await this.#checkCharges(calls);
  }

  async #keepMoves(): Promise<void> {
    await sql`insert into temp.verified_charges ${chargesOf(ofFile)}`.execute(this.#kysely);
    await sql`insert into temp.verified_costs ${costsOf(ofFile)}`.execute(this.#kysely);
  }

  async #count(calls: RawBuilder<unknown>): Promise<void> {
    const { rows } = await sql<Record<keyof Counts, bigint>>`
      select count(*) as calls, count(case when status = 'open' then 1 end) as open,
        count(case when status <> 'open' and unbilled_reason is null then 1 end) as billed from ${calls}`.execute(
      this.#kysely,
    );
    for (const name of ['calls', 'open', 'billed'] as const)
      this.#counts[name] += Number(rows[0]?.[name] ?? 0);
  }

  /** Prices every billed call again, those that cost nothing too, from the version pinned at admission. */
  async #checkCharges(calls: RawBuilder<unknown>): Promise<void> {
    const columns = sql.raw(pricingColumns.join(', '));
    for (let last = 0n; ; ) {
      const { rows } = await sql<
        Readonly<Record<string, Cell>>
      >`select calls.rowid as place, ${columns} from ${calls}
        where calls.rowid > ${last} and status in (${billable}) and unbilled_reason is null
        order by calls.rowid limit ${pageSize}`.execute(this.#kysely);
      for (const row of rows) {
        const detail = wrongCharge(row, this.#versions);
        if (detail !== null)
          this.#find('charge-follows-its-price', { subject: String(row['trace_id']), detail });
      }
      const end = rows.at(-1);
      if (end === undefined) return;
      last = BigInt(end['place'] ?? 0);
    }
  }

  #find(rule: string, { subject, detail }: Breach): void {
    const known = this.findings.get(rule) ?? [];
    if (known.length < findingsMax) known.push({ rule, subject: String(subject), detail: String(detail) });
    this.findings.set(rule, known);
  }
}

function wrongCharge(
  row: Readonly<Record<string, Cell>>,
  versions: ReadonlyMap<string | null, PriceVersion>,
): string | null {
  const call = readPricing(row);
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
