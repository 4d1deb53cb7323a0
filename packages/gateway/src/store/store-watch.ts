import { statfs } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { LedgerAlarm } from '../ports/store.ts';
import { type Anchor, findLoss } from './anchors.ts';

const lookIntervalMs = 250;
/** Nothing is acknowledged on an older look: the process may have been paused meanwhile. */
export const lookAgeMsMax = 500;
/** With less room than this a disk counts as full: SQLite and the journal need some to bring what they have begun to an end. */
export const freeBytesMin = 1_048_576n;

const roomLater = promisify(statfs);

export interface StoreWatchOptions {
  /** The database; the disk that it lies on is the journal's, too. */
  readonly file: string;
  readonly onAlarm: (alarm: LedgerAlarm) => void;
}

/**
 * Looks four times a second whether paths still lead to the files that are open, and whether the disk has room. A write to a file that
 * somebody has removed or replaced succeeds as any other does, so nothing else would tell.
 */
export class StoreWatch {
  readonly #options: StoreWatchOptions;
  readonly #anchors = new Map<string, Anchor>();
  /** Names a file that is lost; null again once all are back. A plain member, as every call reads it. */
  lost: Error | null = null;
  isFull = false;
  /** The moment of the last look, as `performance.now` tells it. */
  lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: StoreWatchOptions) {
    this.#options = options;
  }

  /** Keeps an eye on a file. One of the same name before it is forgotten. */
  keep(name: string, anchor: Anchor): void {
    this.#anchors.set(name, anchor);
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.look(), lookIntervalMs).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#anchors.clear();
  }

  /** Looks at once, or after the look that is under way, which may have seen how things stood before. */
  look(): Promise<void> {
    if (this.#looking !== null) {
      this.#next ??= this.#looking.then(() => {
        this.#next = null;
        return this.look();
      });
      return this.#next;
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const since = performance.now();
    const found = await findLoss([...this.#anchors.values()]);
    // A segment goes when it is fed, and another one has its place here by then.
    const isCurrent = found !== null && [...this.#anchors.values()].includes(found.anchor);
    this.#tellLost(isCurrent ? found.lost : null);
    this.#tellFull(await this.#roomBytes());
    this.lookedAt = since;
  }

  #tellLost(lost: string | null): void {
    const { onAlarm } = this.#options;
    if (lost === null && this.lost !== null)
      onAlarm({ kind: 'mended', traceId: null, detail: 'all files of the store are back' });
    if (lost !== null && this.lost === null) onAlarm({ kind: 'lost', traceId: null, detail: lost });
    if (lost !== this.lost?.message) this.lost = lost === null ? null : new LostStoreError(lost);
  }

  #tellFull(bytes: bigint | null): void {
    const { onAlarm, file } = this.#options;
    const isFull = bytes !== null && bytes < freeBytesMin;
    const detail = `${dirname(file)}: ${bytes} bytes are free`;
    if (isFull !== this.isFull) onAlarm({ kind: isFull ? 'full' : 'mended', traceId: null, detail });
    this.isFull = isFull;
  }

  /** Null where that cannot be told. */
  async #roomBytes(): Promise<bigint | null> {
    return roomLater(dirname(this.#options.file), { bigint: true }).then(
      ({ blocks, bfree, bavail, bsize }) =>
        blocks === 0n ? null : bsize * (process.getuid?.() === 0 ? bfree : bavail),
      () => null,
    );
  }
}

/** Passes, once the files are back. */
class LostStoreError extends Error {
  readonly code = 'STORE_LOST';
}
