import { brokenRule, postingsFor } from '../core/postings.ts';
import type { Clock } from '../ports/clock.ts';
import type { CallEntry, CallOpening, Ledger, Settlement } from '../ports/ledger.ts';
import type { Durability, LedgerAlarm } from '../ports/store.ts';
import { type Cell, encodeCall, encodeOpenCall } from './call-row.ts';
import type { Batch, BatchOutcome, SettleRow } from './settle-batch.ts';

/** The most entries of one commit. */
const batchMax = 256;
/** The most entries that may wait; beyond it settlements fail at once rather than eat the memory. */
const waitingMax = 20_000;
/** How long settlements may fail or be stuck before new calls are refused. */
const patienceMs = 2_000;
const probeIntervalMs = 1_000;
/** With `soon`: how long entries gather. Leaves room for the commit itself within 10 ms. */
const gatherMs = 5;

/** Where batches go. The next is taken only when the one before it has been answered. */
export interface BatchWriter {
  /** `take` is asked when the writer is free. Rejects when the writer is gone for good. */
  commit(take: () => Batch): Promise<BatchOutcome>;
  /** Whether the store can be written again after a failure. */
  probe(): Promise<boolean>;
}

export interface GroupCommitOptions {
  readonly writer: BatchWriter;
  readonly clock: Clock;
  readonly durability: Durability;
  readonly onAlarm: (alarm: LedgerAlarm) => void;
  /** Hears of every commit that became durable, for metrics. */
  readonly onCommit: (entries: number, durationMs: number) => void;
}

interface WaitingSettle {
  readonly traceId: string;
  readonly row: SettleRow;
  readonly resolve: (settlement: Settlement) => void;
}

/**
 * The ledger's front: gathers what is settled while a commit runs into the next commit. There is no timer: an idle
 * ledger commits at the end of the turn, a busy one as fast as its disk.
 */
export class GroupCommit implements Ledger {
  readonly #options: GroupCommitOptions;
  #opens: Cell[][] = [];
  #settles: WaitingSettle[] = [];
  #commit: Promise<void> | null = null;
  #scheduled = false;
  #commitSince: number | null = null;
  #failingSince: number | null = null;
  #stopped = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#settles.length;
  }

  open(opening: CallOpening): void {
    if (this.#stopped || this.#opens.length >= waitingMax) return;
    this.#opens.push(encodeOpenCall(opening));
    this.#schedule();
  }

  settle(entry: CallEntry): Promise<Settlement> {
    const obstacle = this.#obstacle(entry);
    if (obstacle !== null) {
      this.#alarm('unavailable', entry.traceId, obstacle);
      return Promise.resolve('unavailable');
    }
    const row = settleRow(entry);
    if (this.#options.durability === 'soon') {
      this.#enqueue({ traceId: entry.traceId, row, resolve: () => undefined });
      return Promise.resolve('settled');
    }
    return new Promise((resolve) => this.#enqueue({ traceId: entry.traceId, row, resolve }));
  }

  isWritable(): boolean {
    if (this.#stopped) return false;
    const since = this.#failingSince ?? this.#commitSince;
    return since === null || this.#options.clock.monotonic() - since < patienceMs;
  }

  async flush(): Promise<void> {
    while (this.#commit !== null || this.#settles.length + this.#opens.length > 0) {
      await (this.#commit ?? this.#startCommit());
    }
  }

  #obstacle(entry: CallEntry): string | null {
    if (this.#stopped) return 'the ledger has stopped';
    if (this.#settles.length >= waitingMax) return 'too many entries wait for the ledger';
    return brokenRule(entry);
  }

  #enqueue(settle: WaitingSettle): void {
    this.#settles.push(settle);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#commit !== null) return;
    this.#scheduled = true;
    const start = () => {
      this.#scheduled = false;
      if (this.#commit === null) void this.#startCommit();
    };
    if (this.#options.durability === 'soon') setTimeout(start, gatherMs);
    else setImmediate(start);
  }

  #startCommit(): Promise<void> {
    this.#commit = this.#commitNext().then(() => {
      this.#commit = null;
      if (this.#settles.length + this.#opens.length > 0) this.#schedule();
    });
    return this.#commit;
  }

  async #commitNext(): Promise<void> {
    const { clock, writer, onCommit } = this.#options;
    let taken: readonly WaitingSettle[] = [];
    const since = clock.monotonic();
    this.#commitSince = since;
    const take = (): Batch => {
      const opens = this.#opens.splice(0, batchMax);
      taken = this.#settles.splice(0, batchMax - opens.length);
      return { opens, settles: taken.map((waiting) => waiting.row) };
    };
    const outcome = await writer
      .commit(take)
      .catch((error: unknown): BatchOutcome => ({ kind: 'failed', stopped: true, detail: String(error) }));
    this.#commitSince = null;
    if (outcome.kind === 'committed') {
      onCommit(taken.length, clock.monotonic() - since);
      this.#succeed(taken, outcome.settlements, outcome.refusal);
    } else this.#fail(taken, outcome.stopped, outcome.detail);
  }

  #succeed(
    taken: readonly WaitingSettle[],
    settlements: readonly Settlement[],
    refusal: string | null,
  ): void {
    this.#failingSince = null;
    for (const [index, waiting] of taken.entries()) {
      const settlement = settlements[index] ?? 'unavailable';
      if (settlement === 'conflict')
        this.#alarm('conflict', waiting.traceId, 'another entry has this trace id');
      if (settlement === 'unavailable') this.#alarm('unavailable', waiting.traceId, refusal ?? 'not written');
      waiting.resolve(settlement);
    }
  }

  #fail(taken: readonly WaitingSettle[], stopped: boolean, detail: string): void {
    const lost = stopped ? [...taken, ...this.#settles.splice(0)] : taken;
    this.#alarm('unavailable', null, detail);
    for (const waiting of lost) waiting.resolve('unavailable');
    if (stopped) {
      this.#stopped = true;
      this.#opens = [];
    } else if (this.#failingSince === null) {
      this.#failingSince = this.#options.clock.monotonic();
      this.#probeLater();
    }
  }

  /** New calls are refused while the ledger fails, so nothing else would ever find out that it works again. */
  #probeLater(): void {
    const timer = setTimeout(() => {
      void this.#probe();
    }, probeIntervalMs);
    timer.unref();
  }

  async #probe(): Promise<void> {
    if (this.#failingSince === null || this.#stopped) return;
    const works = await this.#options.writer.probe().catch(() => false);
    if (works) this.#failingSince = null;
    else this.#probeLater();
  }

  #alarm(kind: LedgerAlarm['kind'], traceId: string | null, detail: string): void {
    this.#options.onAlarm({ kind, traceId, detail });
  }
}

function settleRow(entry: CallEntry): SettleRow {
  const row = encodeCall(entry);
  for (const { debit, credit, amountNanoUsd } of postingsFor(entry))
    row.push(debit, credit, amountNanoUsd, entry.traceId);
  return row;
}
