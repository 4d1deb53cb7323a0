import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type BudgetWindow,
  countedSlots,
  type LeaseAnswer,
  type LeaseAsk,
  type LeaseExchange,
  type LeaseGrant,
  type LeaseName,
  type LeaseReturn,
  type LeaseTerms,
  type LeaseWant,
  type MoneyTerms,
  type RateTerms,
  type RateUse,
  rateSlotMs,
} from '../../ports/leases.ts';
import { lineageOfKeys } from '../key-lineage.ts';
import { inTransaction } from './database.ts';
import { LimitNews } from './limit-news.ts';

/** A want that nobody repeats is of a process that has given up, or died. */
const wantLivesMs = 1_500;
/** Slots are kept for so many windows, as a clock that was put forward may be put back. */
const windowsKept = 3;
const dayMs = 86_400_000;
/** Slots of a day's rate, whose others are of a minute's. */
const ofDay = "measure LIKE 'requests-per-day%'";
/** Slots of owners who have gone quiet are looked for so often, and sooner while there are more of them than are taken away at a time. */
const [sweepMs, moreSweepMs] = [60_000, 1_000];
const sweptMax = 1_000;
/** An integer of the store ends there. */
const largest = 2n ** 62n;

/** The state of a limit before a grant. */
interface State {
  /** The true amount, which is below zero where more was spent than leased. */
  readonly own: bigint;
  /** The leases of all processes, none of them below zero. */
  readonly leased: bigint;
  /** Neither used nor leased. */
  readonly room: bigint;
  readonly spent: readonly bigint[];
  readonly balance: bigint | null;
  readonly slots: readonly number[];
}

/** The leases of all processes, as one of them exchanges its own. */
export class Leases {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #news: LimitNews;
  /** Asked when others hold something that this process waits for: they may be dead. */
  readonly #suspect: () => void;
  #sweptAtMs = Number.NEGATIVE_INFINITY;

  constructor(database: DatabaseSync, suspect: () => void) {
    this.#database = database;
    this.#statements = prepareStatements(database);
    this.#news = new LimitNews(database);
    this.#suspect = suspect;
  }

  exchange(run: bigint, exchange: LeaseExchange): LeaseAnswer {
    const { returns, uses, asks } = exchange;
    if (returns.length + uses.length + asks.length === 0)
      return { grants: [], wants: this.#wantedOf(run, exchange.nowMs), alerts: [] };
    // Leases need not outlive a loss of power: no process that has one does either.
    this.#database.exec('PRAGMA synchronous = NORMAL');
    try {
      return inTransaction(this.#database, () => this.#exchange(run, exchange));
    } finally {
      this.#database.exec('PRAGMA synchronous = FULL');
    }
  }

  #exchange(run: bigint, { number, nowMs, returns, uses, asks }: LeaseExchange): LeaseAnswer {
    const known = this.#statements.answered.get(run);
    const isRepeated = known !== undefined && Number(known['number']) >= number;
    const before = isRepeated ? (JSON.parse(String(known['grants'])) as readonly string[]) : null;
    if (before === null) {
      for (const back of returns) this.#giveBack(run, back);
      for (const use of uses) this.#use(run, use);
    }
    const others = Number(this.#statements.others.get(run)?.['others'] ?? 0);
    const grants = asks.map((ask, at) => {
      const granted = before?.[at];
      return granted === undefined
        ? this.#grant(run, ask, others, nowMs)
        : this.#repeat(run, ask, BigInt(granted), nowMs);
    });
    this.#sweep(nowMs);
    if (before === null)
      this.#statements.answer.run(run, number, JSON.stringify(grants.map(({ granted }) => String(granted))));
    const alerts = asks.flatMap(({ terms }, at) => {
      const grant = grants[at];
      return terms.kind === 'money' && grant !== undefined ? this.#news.of(terms, grant, nowMs) : [];
    });
    return { grants, wants: this.#wantedOf(run, nowMs), alerts };
  }

  #giveBack(run: bigint, { subject, measure, amount, want }: LeaseReturn): void {
    const { giveBack, forget, forgetWant } = this.#statements;
    giveBack.run(amount, BigInt(want ?? 0), subject, measure, run);
    forget.run(subject, measure, run);
    if (want !== null) forgetWant.run(subject, measure, subject, measure);
  }

  #use(run: bigint, { subject, measure, slotStartMs, amount }: RateUse): void {
    this.#statements.lease.run(subject, measure, run, -amount);
    this.#statements.use.run(subject, measure, slotStartMs, amount);
  }

  #grant(run: bigint, { terms, least, wish }: LeaseAsk, others: number, nowMs: number): LeaseGrant {
    const { subject, measure } = terms;
    const state = this.#stateOf(run, terms, nowMs);
    if (wish <= 0n) return { ...state, granted: 0n, verdict: 'granted' };
    const wants = this.#wantsBefore(run, terms, nowMs);
    const room = state.room - wants.reserved;
    // A lease that is overdrawn is filled up first, which takes nothing from the limit: its use counts already.
    const overdrawn = state.own < 0n ? -state.own : 0n;
    const reach = room > 0n ? room + overdrawn : 0n;
    if (least > reach)
      return { ...state, granted: 0n, verdict: this.#verdict(run, terms, least, state, nowMs) };
    const share = terms.kind === 'rate' && terms.windowMs !== null ? 0n : room / BigInt(others + 1);
    const wished = wants.isWanted || share < wish ? wish : share;
    const granted = least > wished ? least : wished < reach ? wished : reach;
    if (granted === 0n) return { ...state, granted, verdict: 'granted' };
    this.#statements.grant.run(subject, measure, run, granted, state.room + state.leased);
    this.#statements.endWant.run(subject, measure, run);
    const own = state.own + granted;
    return { ...state, granted, verdict: 'granted', own, room: state.room - above0(own) + above0(state.own) };
  }

  /** A process that finds too little wants it from the others, as long as they have not all said that there is nothing more to give. */
  #verdict(run: bigint, terms: LeaseTerms, least: bigint, state: State, nowMs: number): 'later' | 'refused' {
    const { subject, measure } = terms;
    const { endWant, want, wantOf, holders } = this.#statements;
    const found = holders.all(subject, measure, run);
    const leased = found.reduce((sum, { outstanding }) => sum + above0(BigInt(String(outstanding))), 0n);
    const overdrawn = above0(-state.own);
    if (least > largest || state.room + leased + overdrawn < least) {
      endWant.run(subject, measure, run);
      return 'refused';
    }
    this.#forgetOldWants(terms, nowMs);
    want.run(subject, measure, run, least, nowMs);
    const own = BigInt(Number(wantOf.get(subject, measure, run)?.['id'] ?? 0));
    const isSilent = found.some(
      ({ outstanding, answered }) => BigInt(String(outstanding)) > 0n && BigInt(String(answered)) < own,
    );
    if (isSilent || this.#wantsBefore(run, terms, nowMs).reserved > 0n) {
      this.#suspect();
      return 'later';
    }
    endWant.run(subject, measure, run);
    return 'refused';
  }

  /** The same answer again, to a process that has not heard it. */
  #repeat(run: bigint, { terms, least }: LeaseAsk, granted: bigint, nowMs: number): LeaseGrant {
    const state = this.#stateOf(run, terms, nowMs);
    return { ...state, granted, verdict: granted < least ? 'later' : 'granted' };
  }

  #stateOf(run: bigint, terms: LeaseTerms, nowMs: number): State {
    const { subject, measure } = terms;
    const row = this.#statements.sums.get(run, subject, measure);
    const leased = BigInt(String(row?.['leased'] ?? 0));
    const own = BigInt(String(row?.['own'] ?? 0));
    if (terms.kind === 'money') return { own, leased, ...this.#moneyOf(terms, leased) };
    const slots = terms.windowMs === null ? [] : this.#slotsOf(terms, terms.windowMs, nowMs);
    let used = 0;
    for (let at = 1; at < slots.length; at += 2) used += slots[at] ?? 0;
    return { own, leased, room: terms.amount - BigInt(used) - leased, spent: [], balance: null, slots };
  }

  #moneyOf({ subject, creditLimit, budgets }: MoneyTerms, leased: bigint): Omit<State, 'own' | 'leased'> {
    const spent = budgets.map((budget) => this.#spentOf(subject, budget));
    const row = creditLimit === null ? undefined : this.#statements.balance.get(subject);
    const balance = creditLimit === null ? null : BigInt(String(row?.['balance_nano_usd'] ?? 0));
    let room = balance === null ? largest : balance + (creditLimit ?? 0n);
    for (const [at, { amount }] of budgets.entries()) {
      const left = amount - (spent[at] ?? 0n);
      if (left < room) room = left;
    }
    return { room: room - leased, spent, balance, slots: [] };
  }

  /** Whole days of UTC have sums of their own, so a month is as quick as a day. */
  #spentOf(subject: string, { span, fromMs, toMs }: BudgetWindow): bigint {
    const sum = (statement: StatementSync, ...values: number[]) =>
      BigInt(String(statement.get(subject, ...values)?.['charge'] ?? 0));
    const { spentInAll, spentInSlots, spentInDays } = this.#statements;
    if (span === 'total') return sum(spentInAll);
    const firstDay = Math.ceil(fromMs / dayMs) * dayMs;
    const lastDay = Math.floor(toMs / dayMs) * dayMs;
    if (lastDay < firstDay) return sum(spentInSlots, fromMs, toMs);
    return (
      sum(spentInSlots, fromMs, firstDay) +
      sum(spentInDays, firstDay, lastDay) +
      sum(spentInSlots, lastDay, toMs)
    );
  }

  #slotsOf({ subject, measure }: RateTerms, windowMs: number, nowMs: number): readonly number[] {
    const { afterMs, lastMs } = countedSlots(windowMs, nowMs);
    const kept = windowsKept * windowMs;
    this.#statements.forgetSlots.run(subject, measure, nowMs - kept, nowMs + kept);
    return this.#statements.slots
      .all(subject, measure, afterMs, lastMs)
      .flatMap(({ start_ms: startMs, used }) => [Number(startMs), Number(used)]);
  }

  /** Takes away the slots of those whom nobody asks for any more; who is asked for has lost them before. */
  #sweep(nowMs: number): void {
    if (Math.abs(nowMs - this.#sweptAtMs) < sweepMs) return;
    const [days, minutes] = [windowsKept * dayMs, windowsKept * 60_000];
    const bounds = [nowMs - days, nowMs - minutes, nowMs + days, nowMs + minutes];
    const { changes } = this.#statements.sweepSlots.run(...bounds, sweptMax);
    this.#sweptAtMs = Number(changes) < sweptMax ? nowMs : nowMs - sweepMs + moreSweepMs;
  }

  /** Wants that came before this process's own: so much of the room is theirs. */
  #wantsBefore(run: bigint, { subject, measure }: LeaseName, nowMs: number) {
    const rows = this.#statements.wants.all(subject, measure, nowMs - wantLivesMs, nowMs + wantLivesMs);
    const own = rows.find((row) => row['run'] === run)?.['id'];
    const theirs = rows.filter((row) => row['run'] !== run);
    const earlier = theirs.filter(({ id }) => own === undefined || Number(id) < Number(own));
    const reserved = earlier.reduce((sum, { amount }) => sum + BigInt(String(amount)), 0n);
    return { reserved, isWanted: theirs.length > 0 };
  }

  #forgetOldWants({ subject, measure }: LeaseName, nowMs: number): void {
    this.#statements.forgetOldWants.run(subject, measure, nowMs - wantLivesMs, nowMs + wantLivesMs);
  }

  #wantedOf(run: bigint, nowMs: number): readonly LeaseWant[] {
    const rows = this.#statements.wanted.all(run, run, nowMs - wantLivesMs, nowMs + wantLivesMs);
    // Only exchanges have written the names.
    return rows.map(({ subject, measure, id }) => ({ subject, measure, want: Number(id) }) as LeaseWant);
  }
}

function above0(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

/**
 * Ends the leases of a run whose journal is fed: the rest of them goes back, but for what may have been used of rates, which counts as used now.
 */
export function endLeases(database: DatabaseSync, run: bigint, nowMs: number): void {
  const slot = (windowMs: number) => `${nowMs - (nowMs % rateSlotMs(windowMs))}`;
  database
    .prepare(
      `INSERT INTO rate_slots (subject, measure, start_ms, used)
       SELECT subject, measure, CASE WHEN ${ofDay} THEN ${slot(dayMs)} ELSE ${slot(60_000)} END, outstanding FROM leases
       WHERE run = ? AND outstanding > 0 AND measure <> 'money' AND measure NOT LIKE 'concurrent-calls%'
       ON CONFLICT DO UPDATE SET used = used + excluded.used`,
    )
    .run(run);
  for (const table of ['leases', 'lease_wants', 'lease_exchanges'])
    database.prepare(`DELETE FROM ${table} WHERE run = ?`).run(run);
}

function prepareStatements(database: DatabaseSync) {
  const one = 'subject = ? AND measure = ?';
  const isLive = '(run = 0 OR at_ms BETWEEN ? AND ?)';
  const spent = `WITH RECURSIVE line (subject) AS (SELECT ? ${lineageOfKeys})
    SELECT sum(charge_nano_usd) AS charge FROM spending WHERE subject IN (SELECT subject FROM line) AND width_ms =`;
  return {
    answered: database.prepare('SELECT number, grants FROM lease_exchanges WHERE run = ?'),
    answer: database.prepare('INSERT OR REPLACE INTO lease_exchanges (run, number, grants) VALUES (?, ?, ?)'),
    others: database.prepare('SELECT count(*) AS others FROM runs WHERE fed IS NOT NULL AND id <> ?'),
    giveBack: database.prepare(
      `UPDATE leases SET outstanding = outstanding - ?, answered = max(answered, ?) WHERE ${one} AND run = ?`,
    ),
    forget: database.prepare(`DELETE FROM leases WHERE ${one} AND run = ? AND outstanding = 0`),
    lease: database.prepare(
      `INSERT INTO leases (subject, measure, run, outstanding) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET outstanding = outstanding + excluded.outstanding`,
    ),
    // Who is granted more may have more to give back.
    grant: database.prepare(
      `INSERT INTO leases (subject, measure, run, outstanding, ceiling) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET outstanding = outstanding + excluded.outstanding, ceiling = excluded.ceiling, answered = 0`,
    ),
    use: database.prepare(
      `INSERT INTO rate_slots (subject, measure, start_ms, used) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET used = used + excluded.used`,
    ),
    sums: database.prepare(
      `SELECT sum(max(outstanding, 0)) AS leased, sum(CASE WHEN run = ? THEN outstanding ELSE 0 END) AS own
       FROM leases WHERE ${one}`,
    ),
    holders: database.prepare(`SELECT outstanding, answered FROM leases WHERE ${one} AND run <> ?`),
    balance: database.prepare('SELECT balance_nano_usd FROM balances WHERE ledger_account = ?'),
    spentInAll: database.prepare(`${spent} 0`),
    spentInDays: database.prepare(`${spent} ${dayMs} AND start_ms >= ? AND start_ms < ?`),
    spentInSlots: database.prepare(`${spent} 900000 AND start_ms >= ? AND start_ms < ?`),
    slots: database.prepare(
      `SELECT start_ms, used FROM rate_slots WHERE ${one} AND start_ms > ? AND start_ms <= ? ORDER BY start_ms`,
    ),
    forgetSlots: database.prepare(`DELETE FROM rate_slots WHERE ${one} AND (start_ms < ? OR start_ms > ?)`),
    sweepSlots: database.prepare(
      `DELETE FROM rate_slots WHERE (subject, measure, start_ms) IN
       (SELECT subject, measure, start_ms FROM rate_slots
        WHERE start_ms < CASE WHEN ${ofDay} THEN ? ELSE ? END OR start_ms > CASE WHEN ${ofDay} THEN ? ELSE ? END LIMIT ?)`,
    ),
    want: database.prepare(
      `INSERT INTO lease_wants (subject, measure, run, amount, at_ms) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET amount = excluded.amount, at_ms = excluded.at_ms`,
    ),
    wantOf: database.prepare(`SELECT id FROM lease_wants WHERE ${one} AND run = ?`),
    wants: database.prepare(
      `SELECT id, run, amount FROM lease_wants WHERE ${one} AND run <> 0 AND at_ms BETWEEN ? AND ? ORDER BY id`,
    ),
    endWant: database.prepare(`DELETE FROM lease_wants WHERE ${one} AND run = ?`),
    forgetOldWants: database.prepare(
      `DELETE FROM lease_wants WHERE ${one} AND run <> 0 AND at_ms NOT BETWEEN ? AND ?`,
    ),
    /** Who has given back what an operator took is asked no more. */
    forgetWant: database.prepare(
      `DELETE FROM lease_wants WHERE ${one} AND run = 0
       AND NOT EXISTS (SELECT 1 FROM leases WHERE ${one} AND answered < lease_wants.id)`,
    ),
    wanted: database.prepare(
      `SELECT lease_wants.subject, lease_wants.measure, max(id) AS id FROM lease_wants
       CROSS JOIN leases USING (subject, measure)
       WHERE leases.run = ? AND lease_wants.run <> ? AND leases.answered < id AND ${isLive.replaceAll('run', 'lease_wants.run')}
       GROUP BY 1, 2`,
    ),
  };
}
