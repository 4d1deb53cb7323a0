import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { noUsage } from '@headgate/protocols';
import type { OwnerLimits, RateLimit } from '../catalogue/limits.ts';
import { nanoUsd } from '../money/money.ts';
import type { Demand, Hold, HoldRefusal, HoldResult, Taken } from '../ports/holds.ts';
import type { LeaseAnswer, LeaseExchange } from '../ports/leases.ts';
import { StoreUnavailable } from '../ports/store.ts';
import { lineColumns, writeEntry } from '../store/columns.ts';
import { epochMs, sampleEntry, traceId } from '../store/contract/samples.ts';
import { Books } from '../store/sqlite/books.ts';
import { openDatabase } from '../store/sqlite/database.ts';
import { Leases } from '../store/sqlite/leases.ts';
import { migrate } from '../store/sqlite/migrations.ts';
import { Limits } from './limits.ts';

export function ownerOf(id: string, changes: Partial<OwnerLimits> = {}): OwnerLimits {
  return {
    ...{ owner: 'key', id, creditLimitNanoUsd: null, budgets: [], timeZone: 'UTC', alertAtPpm: 800_000 },
    rates: [],
    isShown: true,
    ...changes,
  };
}

export function accountOf(id: string, creditLimit: bigint, changes: Partial<OwnerLimits> = {}): OwnerLimits {
  return ownerOf(id, { owner: 'account', creditLimitNanoUsd: nanoUsd(creditLimit), ...changes });
}

export function rate(kind: RateLimit['kind'], amount: number, model: string | null = null): RateLimit {
  return { kind, amount, model };
}

export function demand(charge: bigint, changes: Partial<Demand> = {}): Demand {
  return { model: 'alpha', chargeNanoUsd: nanoUsd(charge), tokens: 0, images: 0, ...changes };
}

export function taken(charge: bigint, tokens = 0, images = 0): Taken {
  return { chargeNanoUsd: nanoUsd(charge), tokens, images };
}

/** Several processes on one store in memory, whose clock and whose faults belong to the test. */
export class LeaseSite {
  readonly database: DatabaseSync;
  readonly books: Books;
  readonly clock = { now: () => this.nowMs, monotonic: () => this.passedMs };
  nowMs = epochMs;
  passedMs = 0;
  entries = 0;
  /** A model asks the same few things after every one of its steps. */
  readonly #statements = new Map<string, StatementSync>();

  constructor() {
    this.database = openDatabase(':memory:');
    migrate(this.database);
    this.books = new Books(this.database);
  }

  start(): SiteProcess {
    return new SiteProcess(this);
  }

  pass(ms: number): void {
    this.nowMs += ms;
    this.passedMs += ms;
  }

  /** The operator grants so much, or takes it back where it is below zero. */
  credit(account: string, amount: bigint): void {
    const [debit, credit] = amount > 0n ? ['credit', `account:${account}`] : [`account:${account}`, 'credit'];
    this.database
      .prepare('INSERT INTO postings (debit, credit, amount_nano_usd, reference) VALUES (?, ?, ?, ?)')
      .run(debit, credit, amount > 0n ? amount : -amount, 'adjustment');
    const add = this.database.prepare(
      `INSERT INTO balances (ledger_account, balance_nano_usd) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET balance_nano_usd = balance_nano_usd + excluded.balance_nano_usd`,
    );
    add.run(`account:${account}`, amount);
    add.run('credit', -amount);
  }

  number(query: string, ...values: (string | number | bigint)[]): bigint {
    let statement = this.#statements.get(query);
    if (statement === undefined) {
      statement = this.database.prepare(query);
      this.#statements.set(query, statement);
    }
    return BigInt(String(Object.values(statement.get(...values) ?? {})[0] ?? 0));
  }

  close(): void {
    this.database.close();
  }
}

/** One process: an engine with a store that fails when it is told to, and the journal of its calls. */
export class SiteProcess {
  readonly limits: Limits;
  readonly alerts: unknown[] = [];
  readonly run: bigint;
  readonly exchanges: LeaseExchange[] = [];
  /** `refuse`: nothing is done · `lose`: it is done, and its answer is lost · `hang`: no answer comes. */
  fault: 'refuse' | 'lose' | 'hang' | null = null;
  /** A turn follows at once where no test counts them. */
  nextTurn: (work: () => void) => void = (work) => work();
  readonly #site: LeaseSite;
  readonly #leases: Leases;
  #lines: string[] = [];
  #fed = 0;

  constructor(site: LeaseSite) {
    this.#site = site;
    const insert = site.database.prepare(
      'INSERT INTO runs (started_at_ms, fed, fed_at_ms) VALUES (?, 0, ?) RETURNING id',
    );
    this.run = BigInt(String(insert.get(site.nowMs, site.nowMs)?.['id']));
    this.#leases = new Leases(site.database, () => undefined);
    this.limits = new Limits({
      store: { exchange: (exchange) => this.#exchange(exchange) },
      clock: site.clock,
      observer: {
        alert: (kind, detail) => void this.alerts.push([kind, detail]),
        alertOver: (kind, detail) => void this.alerts.push([`${kind} is over`, detail]),
      },
      nextTurn: (work) => this.nextTurn(work),
    });
  }

  async #exchange(exchange: LeaseExchange): Promise<LeaseAnswer> {
    if (this.fault === 'hang') return new Promise(() => undefined);
    if (this.fault === 'refuse') throw new StoreUnavailable('made by a test');
    this.exchanges.push(exchange);
    const answer = this.#leases.exchange(this.run, exchange);
    if (this.fault === 'lose') throw new StoreUnavailable('made by a test');
    return answer;
  }

  /** Asks for a hold, and waits as long as it takes, with its ticks and those of others. */
  async take(
    owners: readonly OwnerLimits[],
    asked: Demand,
    others: readonly SiteProcess[] = [],
  ): Promise<HoldResult> {
    const results: HoldResult[] = [];
    this.limits.take(owners, asked, (result) => void results.push(result));
    for (let turn = 0; turn < 100 && results.length === 0; turn++) {
      await turns();
      if (results.length > 0) break;
      this.#site.pass(25);
      for (const process of [...others, this]) process.limits.tick();
    }
    const [result] = results;
    if (result === undefined) throw new Error('nobody was called back');
    return result;
  }

  /** Within the turn, or null. */
  takeNow(owners: readonly OwnerLimits[], asked: Demand): HoldResult | null {
    const results: HoldResult[] = [];
    const leave = this.limits.take(owners, asked, (result) => void results.push(result));
    leave?.();
    return results[0] ?? null;
  }

  /** Ends a call: its line is in the journal, and what it held is free again. */
  settle(
    hold: Hold,
    owners: { readonly account: string; readonly group: string; readonly key: string },
    used: Taken,
    startedAtMs = this.#site.nowMs,
  ): void {
    const { account, group, key } = owners;
    const entry = sampleEntry({
      ...{
        accountId: account,
        groupId: group,
        keyId: key,
        startedAtMs,
        usage: noUsage,
        attempts: [],
        route: null,
      },
      ...{ traceId: traceId(++this.#site.entries), chargeNanoUsd: used.chargeNanoUsd, leased: hold.leased },
    });
    this.#lines.push(writeEntry(entry));
    hold.settle(used);
  }

  feed(): void {
    if (this.#lines.length === 0) return;
    const end = this.#fed + this.#lines.length;
    const passage = { lines: this.#lines, columns: lineColumns, segment: 0, end };
    this.#site.books.take(passage, { run: this.run, from: this.#fed, fedAtMs: null }, false);
    this.#fed = end;
    this.#lines = [];
  }

  /** From now on nothing that it does reaches the store; its journal stays. */
  kill(): void {
    this.fault = 'hang';
  }

  /** It is gone; its journal is fed, and what it left is ended. */
  die(): void {
    this.feed();
    this.#site.books.retire(this.run, this.#site.nowMs);
  }

  async stop(): Promise<void> {
    await this.limits.close();
    this.feed();
    this.#site.books.end(this.run, this.#site.nowMs);
  }
}

/** Lets everything run that waits for nothing but a turn. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

export function holdOf(result: HoldResult | null): Hold {
  if (result?.ok !== true) throw new Error(`no hold: ${describe(result)}`);
  return result.value;
}

export function refusalOf(result: HoldResult | null): HoldRefusal {
  if (result === null || result.ok) throw new Error('it was not refused');
  return result.error;
}

function describe(result: HoldResult | null): string {
  return result === null || result.ok
    ? 'it waits'
    : JSON.stringify(result.error, (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
}
