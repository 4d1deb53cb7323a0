import { brokenRule } from '../../money/postings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CallEntry, CallOpening, Ledger, LedgerTrouble, Settlement } from '../../ports/ledger.ts';
import type { Durability, LedgerAlarm } from '../../ports/store.ts';
import type { Anchor } from '../anchors.ts';
import { lineColumns, unwritable, writeEntry, writeOpen } from '../columns.ts';
import type { StoreWatch } from '../store-watch.ts';
import { headBytes, lineHeadBytes, writeLine } from './format.ts';
import { type Disk, Journal } from './journal.ts';
import { Progress } from './progress.ts';

/** The most entries that may wait; beyond it settlements fail at once rather than eat the memory. */
const waitingMax = 20_000;
const gatheredBytesMax = 64 * 1024 * 1024;
const firstBytes = 64 * 1024;
/** A buffer that has grown beyond it is not kept. */
const keptBytesMax = 1024 * 1024;
/** How long a write may be stuck before new calls are refused. */
const patienceMs = 2_000;
const probeIntervalMs = 1_000;
/** How long lines gather that nobody waits for. With `soon` it leaves room for the write itself within 10 ms. */
const gatherMs = 5;
/** Turns that a write waits at the most. */
const turnsMax = 4;
/** How far the store may be behind before new calls are refused. */
const unfedBytesMax = 4 * 1024 * 1024 * 1024;

/** A run, as the store's writer has begun it. */
export interface BegunRun {
  readonly directory: string;
  readonly progress: SharedArrayBuffer;
  /** The files of the store, and the lock of the run. */
  readonly anchors: readonly Anchor[];
}

export interface JournalLedgerOptions {
  /** Makes this process a run; asked once there is something to write. */
  readonly begin: () => Promise<BegunRun>;
  /** True while there is someone who feeds the store. */
  readonly isFed: () => boolean;
  readonly watch: Pick<StoreWatch, 'lost' | 'isFull' | 'lookedAt' | 'keep' | 'look' | 'start' | 'stop'>;
  readonly clock: Clock;
  readonly durability: Durability;
  readonly segmentBytes: number;
  readonly disk?: Disk;
  readonly onAlarm: (alarm: LedgerAlarm) => void;
  /** Hears of every write that became durable, for metrics. */
  readonly onCommit: (entries: number, durationMs: number) => void;
}

type Done = (settlement: Settlement) => void;

/** The lines that will be the next frame, and who waits for them. */
interface Gathering {
  bytes: Buffer;
  end: number;
  readonly waiting: Done[];
}

/**
 * The ledger's front. What is settled while a write runs gathers into the next one, and there is no timer: an idle ledger
 * writes at the end of the turn, a busy one as fast as its disk. An entry is settled when its line is on disk; a feeder
 * carries it into the store behind.
 */
export class JournalLedger implements Ledger {
  readonly #options: JournalLedgerOptions;
  #journal: Journal | null = null;
  #beginning: Promise<Journal> | null = null;
  #progress: Progress | null = null;
  #gathering: Gathering = gather(null);
  #spare: Buffer | null = null;
  #isWriting = false;
  #isDue = false;
  /** Turns that the next write has waited for, and how many waited for it when the last of them ended. */
  #turns = 0;
  #waitingBefore = 0;
  #timer: NodeJS.Timeout | null = null;
  #writingSince: number | null = null;
  #isFailing = false;
  #hasStopped = false;
  #written: (() => void)[] = [];

  constructor(options: JournalLedgerOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#gathering.waiting.length;
  }

  open(opening: CallOpening): void {
    if (this.#hasStopped || this.#options.watch.lost !== null) return;
    if (this.#gathering.end > gatheredBytesMax) return;
    this.#gather(writeOpen(opening));
    this.#schedule(gatherMs);
  }

  settle(entry: CallEntry, done: Done): void {
    const obstacle = this.#obstacle(entry);
    if (obstacle !== null) {
      this.#alarm(entry.traceId, obstacle);
      done('unavailable');
      return;
    }
    this.#gather(writeEntry(entry));
    if (this.#options.durability === 'strict') {
      this.#gathering.waiting.push(done);
      this.#schedule(0);
    } else {
      this.#schedule(gatherMs);
      done('settled');
    }
  }

  isWritable(): boolean {
    const { watch, isFed, clock } = this.#options;
    if (watch.lost !== null || watch.isFull || this.#hasStopped || this.#isFailing) return false;
    if (this.#progress?.hasStopped || !isFed()) return false;
    if ((this.#progress?.unfed ?? 0) > unfedBytesMax) return false;
    const since = this.#writingSince;
    return since === null || clock.monotonic() - since < patienceMs;
  }

  get trouble(): LedgerTrouble | null {
    const { watch } = this.#options;
    if (watch.lost !== null || this.#progress?.isHeld) return 'store-lost';
    if (watch.isFull) return 'disk-full';
    return this.isWritable() ? null : 'store-not-writable';
  }

  /** Makes room in a journal before the first call, so that a store that cannot be written is known by then. Rejects when it cannot. */
  async prepare(): Promise<void> {
    // One write at a time: a probe writes where the next frame will be.
    while (this.#isWriting) await this.#nextWritten();
    this.#isWriting = true;
    try {
      const journal = this.#journal ?? (await this.#begin());
      await journal.probe();
      await this.#options.watch.look();
    } finally {
      this.#letGo([], 'settled');
    }
  }

  async flush(): Promise<void> {
    while (this.#isWriting || this.#gathering.end > headBytes) {
      const written = this.#nextWritten();
      if (!this.#isWriting) this.#write();
      await written;
    }
  }

  #nextWritten(): Promise<void> {
    return new Promise((resolve) => this.#written.push(resolve));
  }

  async close(): Promise<void> {
    await this.flush();
    this.#hasStopped = true;
    this.#options.watch.stop();
    await this.#journal?.close();
  }

  #obstacle(entry: CallEntry): string | null {
    if (this.#hasStopped) return 'the ledger has stopped';
    if (this.#options.watch.lost !== null) return this.#options.watch.lost.message;
    const { waiting, end } = this.#gathering;
    if (waiting.length >= waitingMax || end > gatheredBytesMax) return 'too many entries wait for the ledger';
    return brokenRule(entry) ?? unwritable(entry);
  }

  #gather(line: string): void {
    const gathering = this.#gathering;
    const room = gathering.end + lineHeadBytes + 3 * line.length;
    if (room > gathering.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * room);
      gathering.bytes.copy(larger, 0, 0, gathering.end);
      gathering.bytes = larger;
    }
    gathering.end = writeLine(gathering.bytes, gathering.end, line);
  }

  /** Writes at the end of the turn, or after a while what nobody waits for. */
  #schedule(delayMs: number): void {
    if (this.#isWriting || this.#isDue) return;
    if (delayMs > 0) {
      this.#timer ??= setTimeout(this.#write, delayMs);
    } else {
      this.#isDue = true;
      setImmediate(this.#endTurn);
    }
  }

  /** While turn after turn brings more lines, the loop has enough else to do, and they share a write. A lone caller waits for none. */
  readonly #endTurn = (): void => {
    const waiting = this.#gathering.waiting.length;
    const hasGrown = waiting > Math.max(1, this.#waitingBefore);
    if (hasGrown && this.#turns < turnsMax) {
      this.#turns++;
      this.#waitingBefore = waiting;
      setImmediate(this.#endTurn);
    } else this.#write();
  };

  readonly #write = (): void => {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    this.#isDue = false;
    [this.#turns, this.#waitingBefore] = [0, 0];
    if (this.#isWriting) return;
    const { bytes, end, waiting } = this.#gathering;
    const since = this.#options.clock.monotonic();
    this.#isWriting = true;
    this.#writingSince = since;
    this.#gathering = gather(this.#spare);
    this.#spare = null;
    const finish = (error: Error | null, durable: number) => {
      this.#writingSince = null;
      if (bytes.length <= keptBytesMax) this.#spare = bytes;
      if (error === null) this.#succeed(waiting, durable, this.#options.clock.monotonic() - since);
      else this.#fail(waiting, error);
    };
    if (this.#journal !== null) this.#journal.append(bytes, end, finish);
    else
      this.#begin().then(
        (journal) => journal.append(bytes, end, finish),
        (error: Error) => finish(error, 0),
      );
  };

  #begin(): Promise<Journal> {
    this.#beginning ??= this.#beginRun().finally(() => {
      this.#beginning = null;
    });
    return this.#beginning;
  }

  async #beginRun(): Promise<Journal> {
    const { begin, segmentBytes, disk, watch } = this.#options;
    const { directory, progress, anchors } = await begin();
    this.#progress = new Progress(progress);
    for (const anchor of anchors) watch.keep(anchor.path, anchor);
    watch.start();
    this.#journal = new Journal({
      directory,
      columns: lineColumns,
      segmentBytes,
      ...(disk && { disk }),
      watch,
      onShortage: (error) => this.#falter(error),
    });
    return this.#journal;
  }

  #succeed(waiting: readonly Done[], durable: number, durationMs: number): void {
    this.#progress?.advance(durable);
    this.#options.onCommit(waiting.length, durationMs);
    this.#letGo(waiting, 'settled');
  }

  #fail(waiting: readonly Done[], error: Error): void {
    const stops = this.#journal !== null && !isPassing(error);
    const lost = stops ? [...waiting, ...this.#gathering.waiting] : waiting;
    if (stops) {
      this.#stop();
      this.#alarm(null, error.message);
    } else this.#falter(error);
    this.#letGo(lost, 'unavailable');
  }

  /** New calls are refused from now on, until a probe has found that the disk takes bytes again. */
  #falter(error: Error): void {
    if (this.#isFailing || this.#hasStopped) return;
    this.#isFailing = true;
    this.#alarm(null, error.message);
    this.#probeLater();
  }

  /** After a failed flush nobody knows what is on the disk, so nothing more is written until a restart has looked. */
  #stop(): void {
    this.#hasStopped = true;
    this.#gathering = gather(null);
  }

  /** Lets go of the disk, for what has gathered. A caller that fails at the news must not keep it from the others. */
  #letGo(waiting: readonly Done[], settlement: Settlement): void {
    this.#isWriting = false;
    for (const done of waiting) {
      try {
        done(settlement);
      } catch (error) {
        this.#options.onAlarm({ kind: 'bug', traceId: null, detail: String(error) });
      }
    }
    if (this.#gathering.end > headBytes) this.#schedule(this.waiting > 0 ? 0 : gatherMs);
    for (const resolve of this.#written.splice(0)) resolve();
  }

  /** New calls are refused while the ledger fails, so nothing else would ever find out that it works again. */
  #probeLater(): void {
    setTimeout(() => void this.#probe(), probeIntervalMs).unref();
  }

  async #probe(): Promise<void> {
    if (this.#hasStopped) return;
    try {
      await this.prepare();
      this.#isFailing = false;
    } catch {
      this.#probeLater();
    }
  }

  #alarm(traceId: string | null, detail: string): void {
    this.#options.onAlarm({ kind: 'unavailable', traceId, detail });
  }
}

function gather(bytes: Buffer | null): Gathering {
  return { bytes: bytes ?? Buffer.allocUnsafeSlow(firstBytes), end: headBytes, waiting: [] };
}

/** Failures that left nothing behind, and may be over in a moment: no room, a file that may not grow, no file descriptor, a folder that is gone or may not be written. */
const passing: ReadonlySet<unknown> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EFBIG', 'EMFILE', 'ENFILE'],
  ...['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'STORE_LOST'],
]);

function isPassing(error: Error): boolean {
  return 'code' in error && passing.has(error.code);
}
