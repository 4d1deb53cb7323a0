import type { DatabaseSync } from 'node:sqlite';
import type { Damage, LedgerAlarm } from '../ports/store.ts';
import type { Progress } from './journal/progress.ts';
import { failureOf } from './sqlite/database.ts';
import { LogLength } from './sqlite/log-length.ts';

/** The store that is fed, and who hears of its troubles. */
interface Store {
  readonly database: DatabaseSync;
  readonly file: string;
  readonly onAlarm: (alarm: LedgerAlarm) => void;
}

/** The obstacles of a feeder: each is told of once, and to the process whose journal waits. */
export class FeederTrouble {
  /** The store is not fed just now. */
  isFailing = false;
  /** The last failure. */
  cause = new Error('the store does not take what the journal holds');
  readonly #onAlarm: (alarm: LedgerAlarm) => void;
  readonly #log: LogLength;
  readonly #progress: () => Progress | null;
  readonly #damaged = new Set<bigint>();
  #isMissing = false;
  #hasStopped = false;

  constructor(store: Store, progress: () => Progress | null) {
    this.#onAlarm = store.onAlarm;
    this.#log = new LogLength(store.database, store.file);
    this.#progress = progress;
  }

  get hasStopped(): boolean {
    return this.#hasStopped;
  }

  isDamaged(run: bigint): boolean {
    return this.#damaged.has(run);
  }

  /** False once it has stopped, and where the log of the store was cut short in place: nobody knows what is lost of it. */
  mayFeed(): boolean {
    if (this.#hasStopped) return false;
    try {
      if (!this.#log.isShort()) return true;
      this.fail(new StrangeStoreError('the log of the database was cut short while it was open'));
    } catch (error) {
      this.fail(error);
    }
    return false;
  }

  fail(error: unknown): void {
    this.cause = error instanceof Error ? error : new Error(String(error));
    const detail = this.cause.message;
    const isFatal = error instanceof StrangeStoreError || failureOf(error) === 'fatal';
    if (!this.isFailing || (isFatal && !this.#hasStopped))
      this.#tell('unavailable', `the store is not fed: ${detail}`);
    this.isFailing = true;
    if (isFatal) this.#stop();
  }

  /** A segment of this process's own journal is not where it should be, and may come back; null when all of it is there. */
  miss(damage: Damage | null): void {
    this.#progress()?.hold(damage !== null);
    if (damage !== null && !this.#isMissing) this.#tell('lost', `${damage.file}: ${damage.detail}`);
    this.#isMissing = damage !== null;
  }

  report(run: bigint, { file, offset, detail }: Damage, isOwn: boolean): void {
    if (this.#damaged.has(run)) return;
    this.#damaged.add(run);
    if (isOwn) this.#stop();
    this.#tell('unavailable', `a journal is damaged: ${file}, byte ${offset}: ${detail}`);
  }

  /** For good: new calls are refused from now on, and what is durable is fed by the next start. */
  #stop(): void {
    this.#hasStopped = true;
    this.#progress()?.stop();
  }

  #tell(kind: LedgerAlarm['kind'], detail: string): void {
    this.#onAlarm({ kind, traceId: null, detail });
  }
}

/** The database is not the one that was fed until now, although it is the same file. */
export class StrangeStoreError extends Error {
  constructor(
    what = 'the database was overwritten while it was open: it has less of this journal than it was given',
  ) {
    super(what);
  }
}
