import { brokenRule } from '../../money/postings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CallEntry, CallOpening, Ledger, Settlement } from '../../ports/ledger.ts';
import type { Durability, LedgerAlarm } from '../../ports/store.ts';
import { lineColumns, unwritable, writeEntry, writeOpen } from '../columns.ts';
import { headBytes, lineHeadBytes, writeLine } from './format.ts';
import { type Disk, Journal } from './journal.ts';
import { Progress } from './progress.ts';

/** The most entries that may wait; beyond it settlements fail at once rather than eat the memory. */
const waitingMax = 20_000;
const gatheredBytesMax = 64 * 1024 * 1024;
const firstBytes = 64 * 1024;
/** A buffer that has grown beyond it is not kept. */
const keptBytesMax = 1024 * 1024;
/** How long settlements may fail or be stuck before new calls are refused. */
const patienceMs = 2_000;
const probeIntervalMs = 1_000;
/** How long lines gather that nobody waits for. With `soon` it leaves room for the write itself within 10 ms. */
const gatherMs = 5;
/** How far the store may be behind before new calls are refused. */
const unfedBytesMax = 4 * 1024 * 1024 * 1024;

/** A run, as the store's writer has begun it. */
export interface BegunRun {
  readonly directory: string;
  readonly progress: SharedArrayBuffer;
}

export interface JournalLedgerOptions {
  /** Makes this process a run; asked once there is something to write. */
  readonly begin: () => Promise<BegunRun>;
  /** True while there is someone who feeds the store. */
  readonly isFed: () => boolean;
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
  #timer: NodeJS.Timeout | null = null;
  #writingSince: number | null = null;
  #failingSince: number | null = null;
  #hasStopped = false;
  #written: (() => void)[] = [];

  constructor(options: JournalLedgerOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#gathering.waiting.length;
  }

  open(opening: CallOpening): void {
    if (this.#hasStopped || this.#gathering.end > gatheredBytesMax) return;
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
    if (this.#hasStopped || this.#progress?.hasStopped || !this.#options.isFed()) return false;
    if ((this.#progress?.unfed ?? 0) > unfedBytesMax) return false;
    const since = this.#failingSince ?? this.#writingSince;
    return since === null || this.#options.clock.monotonic() - since < patienceMs;
  }

  async flush(): Promise<void> {
    while (this.#isWriting || this.#gathering.end > headBytes) {
      const written = new Promise<void>((resolve) => this.#written.push(resolve));
      if (!this.#isWriting) this.#write();
      await written;
    }
  }

  async close(): Promise<void> {
    await this.flush();
    this.#hasStopped = true;
    await this.#journal?.close();
  }

  #obstacle(entry: CallEntry): string | null {
    if (this.#hasStopped) return 'the ledger has stopped';
    if (this.waiting >= waitingMax || this.#gathering.end > gatheredBytesMax)
      return 'too many entries wait for the ledger';
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
      setImmediate(this.#write);
    }
  }

  readonly #write = (): void => {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    this.#isDue = false;
    if (this.#isWriting) return;
    const { bytes, end, waiting } = this.#gathering;
    const since = this.#options.clock.monotonic();
    this.#isWriting = true;
    this.#writingSince = since;
    this.#gathering = gather(this.#spare);
    this.#spare = null;
    const finish = (error: Error | null, durable: number) => {
      this.#isWriting = false;
      this.#writingSince = null;
      if (bytes.length <= keptBytesMax) this.#spare = bytes;
      if (error === null) this.#succeed(waiting, durable, this.#options.clock.monotonic() - since);
      else this.#fail(waiting, error);
      if (this.#gathering.end > headBytes) this.#schedule(this.waiting > 0 ? 0 : gatherMs);
      for (const resolve of this.#written.splice(0)) resolve();
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
    const { begin, segmentBytes, disk } = this.#options;
    const { directory, progress } = await begin();
    this.#progress = new Progress(progress);
    this.#journal = new Journal({ directory, columns: lineColumns, segmentBytes, ...(disk && { disk }) });
    return this.#journal;
  }

  #succeed(waiting: readonly Done[], durable: number, durationMs: number): void {
    this.#failingSince = null;
    this.#progress?.advance(durable);
    this.#options.onCommit(waiting.length, durationMs);
    this.#tell(waiting, 'settled');
  }

  #fail(waiting: readonly Done[], error: Error): void {
    const stops = this.#journal !== null && !isPassing(error);
    const lost = stops ? [...waiting, ...this.#gathering.waiting] : waiting;
    if (stops) this.#stop();
    else if (this.#failingSince === null) {
      this.#failingSince = this.#options.clock.monotonic();
      this.#probeLater();
    }
    this.#alarm(null, error.message);
    this.#tell(lost, 'unavailable');
  }

  /** After a failed flush nobody knows what is on the disk, so nothing more is written until a restart has looked. */
  #stop(): void {
    this.#hasStopped = true;
    this.#gathering = gather(null);
  }

  /** A caller that fails at the news must not keep it from the others. */
  #tell(waiting: readonly Done[], settlement: Settlement): void {
    for (const done of waiting) {
      try {
        done(settlement);
      } catch (error) {
        this.#options.onAlarm({ kind: 'bug', traceId: null, detail: String(error) });
      }
    }
  }

  /** New calls are refused while the ledger fails, so nothing else would ever find out that it works again. */
  #probeLater(): void {
    setTimeout(() => void this.#probe(), probeIntervalMs).unref();
  }

  async #probe(): Promise<void> {
    if (this.#failingSince === null || this.#hasStopped) return;
    try {
      const journal = this.#journal ?? (await this.#begin());
      await journal.probe();
      this.#failingSince = null;
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

/** No room and no file descriptor are failures that left nothing behind, and may be over in a moment. */
const passing: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

function isPassing(error: Error): boolean {
  return 'code' in error && passing.has(error.code);
}
