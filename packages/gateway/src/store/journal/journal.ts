import { close, constants, fdatasync, open, rename, rm, write } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { anchorOf } from '../anchors.ts';
import { lookAgeMsMax, type StoreWatch } from '../store-watch.ts';
import { frameOf, headBytes, headerLine, segmentName, writeHead } from './format.ts';

/** The disk as a journal uses it, so that a test can have a broken one. */
export interface Disk {
  readonly open: (path: string, flags: number) => Promise<number>;
  readonly write: (
    file: number,
    bytes: Buffer,
    from: number,
    length: number,
    position: number,
    done: (error: Error | null, written: number) => void,
  ) => void;
  /** Makes durable what was written. */
  readonly flush: (file: number) => Promise<void>;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly close: (file: number) => Promise<void>;
}

const openFile = promisify(open);

export const realDisk: Disk = {
  open: (path, flags) => openFile(path, flags, 0o600),
  write,
  flush: promisify(fdatasync),
  rename: promisify(rename),
  close: promisify(close),
};

export interface JournalOptions {
  /** The folder of the run, which is there and empty. */
  readonly directory: string;
  readonly columns: readonly string[];
  /** The size that segments grow to. */
  readonly segmentBytes: number;
  readonly disk?: Disk;
  /** Tells whether what was written can be found again. */
  readonly watch?: Watch;
  /** Hears that there will be no room behind the segment that is open. */
  readonly onShortage?: (error: Error) => void;
}

type Watch = Pick<StoreWatch, 'lost' | 'lookedAt' | 'look' | 'keep'>;

const unwatched: Watch = {
  lost: null,
  lookedAt: Number.POSITIVE_INFINITY,
  look: () => Promise.resolve(),
  keep: () => undefined,
};

/** A segment that is being written. */
interface Segment {
  /** Opened with O_DSYNC: one system call both writes and flushes. */
  readonly file: number;
  readonly size: number;
}

/** The first segment's size, if not the size of all is less. Each next one is twice as large, so an idle gateway takes little room. */
const firstSegmentBytes = 1024 * 1024;
const zeros = 256 * 1024;
const unnamed = 'next';

/**
 * The writing end of a run's journal. Segments are made of zeros ahead of time and flushed, so that a write changes neither the length of
 * a file nor where it lies, and the disk has one thing to do. Writes run on a thread of the runtime's pool, one at a time.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #disk: Disk;
  readonly #watch: Watch;
  #segment: Segment | null = null;
  #start = 0;
  #end = 0;
  #nextSize: number;
  #next: Promise<Segment> | null = null;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#disk = options.disk ?? realDisk;
    this.#watch = options.watch ?? unwatched;
    this.#nextSize = Math.min(firstSegmentBytes, options.segmentBytes);
  }

  /**
   * Makes a frame durable, whose first bytes are left for its head, and calls `done` with where the journal ends then, or with what
   * kept it from the disk. The next one only after that.
   */
  append(frame: Buffer, length: number, done: (error: Error | null, end: number) => void): void {
    const segment = this.#segment;
    if (segment !== null && this.#end + length <= this.#start + segment.size) {
      this.#write(segment, frame, length, done);
      return;
    }
    this.#turnOver(length).then(
      (opened) => this.#write(opened, frame, length, done),
      (error: unknown) => done(toError(error), this.#end),
    );
  }

  /** Rejects while there is no room to go on, or the disk takes no bytes. */
  async probe(): Promise<void> {
    if (this.#watch.lost !== null) throw this.#watch.lost;
    await this.#prepared();
    const [segment, at] = [this.#segment, this.#end - this.#start];
    if (segment === null || at + headBytes > segment.size) return;
    // Zeros where the next frame will be: there is nothing yet, and nothing there is what they say.
    await new Promise<void>((resolve, reject) =>
      this.#blank(segment, at, (error) => (error === null ? resolve() : reject(error))),
    );
  }

  async close(): Promise<void> {
    const open = [this.#segment, await this.#next?.catch(() => null)];
    this.#segment = null;
    this.#next = null;
    for (const segment of open) if (segment) await this.#disk.close(segment.file);
    rm(join(this.#options.directory, unnamed), () => undefined);
  }

  #write(
    segment: Segment,
    frame: Buffer,
    length: number,
    done: (error: Error | null, end: number) => void,
  ): void {
    const position = this.#end - this.#start;
    writeHead(frame, this.#end, length);
    const conclude = (fault: Error | null, isLookedAt = false): void => {
      const error = fault ?? this.#watch.lost;
      if (error !== null) {
        this.#blank(segment, position, () => done(error, this.#end));
        return;
      }
      if (!isLookedAt && performance.now() - this.#watch.lookedAt > lookAgeMsMax) {
        void this.#watch.look().then(() => conclude(null, true));
        return;
      }
      this.#end += length;
      // Early enough that the turn-over does not wait for it.
      if (this.#next === null && this.#end - this.#start > segment.size / 2)
        this.#prepared().catch((shortage: unknown) => this.#options.onShortage?.(toError(shortage)));
      done(null, this.#end);
    };
    this.#writeAll(segment, frame, 0, length, position, conclude);
  }

  /** A write may take less than it was given; the one after it says why. */
  #writeAll(
    segment: Segment,
    bytes: Buffer,
    from: number,
    length: number,
    position: number,
    done: (error: Error | null) => void,
  ): void {
    this.#disk.write(segment.file, bytes, from, length, position, (error, written) => {
      if (error !== null) done(error);
      else if (written === length) done(null);
      else if (written === 0) done(new Error('the disk takes no more bytes'));
      else this.#writeAll(segment, bytes, from + written, length - written, position + written, done);
    });
  }

  /** Whoever waited for this frame is told that it is lost, so it should not be found after all. It may not work either. */
  #blank(segment: Segment, position: number, done: (error: Error | null) => void): void {
    this.#disk.write(segment.file, Buffer.alloc(headBytes), 0, headBytes, position, done);
  }

  /** Goes on in a new segment, which has its name and its place in the folder for good before anything is written to it. */
  async #turnOver(length: number): Promise<Segment> {
    const { directory, columns } = this.#options;
    const header = frameOf([headerLine(columns)], this.#end);
    let segment = await this.#prepared();
    if (segment.size < header.length + length) {
      await this.#forgetNext(segment);
      this.#nextSize = header.length + length;
      segment = await this.#prepared();
    }
    await new Promise<void>((resolve, reject) =>
      this.#writeAll(segment, header, 0, header.length, 0, (error) =>
        error === null ? resolve() : reject(error),
      ),
    );
    const path = join(directory, segmentName(this.#end));
    try {
      await this.#disk.rename(join(directory, unnamed), path);
    } catch (error) {
      // Its folder is gone, or it is: another one is made when that is possible.
      await this.#forgetNext(segment);
      throw error;
    }
    await flushDirectory(this.#disk, directory);
    const before = this.#segment;
    this.#watch.keep('segment', anchorOf(path, segment.file));
    this.#next = null;
    this.#segment = segment;
    this.#start = this.#end;
    this.#end += header.length;
    if (before !== null) await this.#disk.close(before.file);
    return segment;
  }

  /** The next segment, once it is whole. One that could not be made is made again when it is asked for again. */
  #prepared(): Promise<Segment> {
    this.#next ??= this.#prepare(this.#nextSize).catch((error: unknown) => {
      this.#next = null;
      throw error;
    });
    return this.#next;
  }

  async #prepare(size: number): Promise<Segment> {
    const { segmentBytes, directory } = this.#options;
    // The folder may be another's that has its name now.
    if (this.#watch.lost !== null) throw this.#watch.lost;
    const path = join(directory, unnamed);
    const blank = await this.#disk.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC);
    try {
      const chunk = Buffer.alloc(Math.min(zeros, size));
      for (let at = 0; at < size; at += chunk.length) {
        await new Promise<void>((resolve, reject) =>
          this.#writeAll({ file: blank, size }, chunk, 0, Math.min(chunk.length, size - at), at, (error) =>
            error === null ? resolve() : reject(error),
          ),
        );
      }
      await this.#disk.flush(blank);
    } catch (error) {
      // The beginning of it takes room that others need more.
      rm(path, { force: true }, () => undefined);
      throw error;
    } finally {
      await this.#disk.close(blank);
    }
    const file = await this.#disk.open(path, constants.O_WRONLY | constants.O_DSYNC);
    this.#nextSize = Math.min(2 * size, Math.max(segmentBytes, size));
    return { file, size };
  }

  async #forgetNext(segment: Segment): Promise<void> {
    this.#next = null;
    await this.#disk.close(segment.file);
  }
}

/** A name in a folder is durable when the folder is. */
async function flushDirectory(disk: Disk, directory: string): Promise<void> {
  const file = await disk.open(directory, constants.O_RDONLY);
  try {
    await disk.flush(file);
  } finally {
    await disk.close(file);
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
