import { type FileHandle, open, stat } from 'node:fs/promises';
import { fail, type Result, succeed } from '@headgate/protocols';
import { secretBytesMax } from './secret-text.ts';

/**
 * A file that is gone or empty keeps its last text for so long: some that write secrets take the old one away before they
 * put the new one in its place.
 */
const graceMs = 5_000;

/**
 * The text of a small file that others write: in place, renamed over, or behind a link that moves, as the mounts of
 * containers do. Looking beats listening: change events miss renames and network mounts.
 */
export class WatchedText {
  readonly path: string;
  /** The text, or why there is none. */
  reading: Result<string, string> = fail('has not been read');
  /** Others than its owner and group can read it. */
  isExposed = false;
  #seen: string | null = null;
  #isSettled = false;
  #lostAtMs: number | null = null;
  #opening: Promise<void> | null = null;

  constructor(path: string) {
    this.path = path;
  }

  /** Reads it, if that has not been done yet. */
  openOnce(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<void> {
    this.#seen = await fingerprint(this.path);
    this.#isSettled = true;
    this.reading = await this.#read();
  }

  /**
   * Looks whether it has changed, and reads it once it has stopped changing since the look before, so that a file half written is
   * not read. True when the reading is another one.
   */
  async look(nowMs: number): Promise<boolean> {
    const now = await fingerprint(this.path);
    if (now !== this.#seen) {
      this.#seen = now;
      this.#isSettled = false;
      return false;
    }
    const isLost = this.#lostAtMs !== null;
    if (this.#isSettled && !isLost) return false;
    this.#isSettled = true;
    return this.#take(await this.#read(), nowMs);
  }

  #take(next: Result<string, string>, nowMs: number): boolean {
    if (!next.ok && this.reading.ok) {
      this.#lostAtMs ??= nowMs;
      if (nowMs - this.#lostAtMs < graceMs) return false;
    }
    this.#lostAtMs = null;
    const isSame = JSON.stringify(next) === JSON.stringify(this.reading);
    this.reading = next;
    return !isSame;
  }

  async #read(): Promise<Result<string, string>> {
    try {
      // A pipe would be waited for, perhaps for ever.
      if (!(await stat(this.path)).isFile()) return fail('is no file');
      await using file = await open(this.path, 'r');
      const { mode } = await file.stat();
      this.isExposed = (mode & 0o007) !== 0;
      return await textOf(file);
    } catch (error) {
      return fail(wordsOn(error));
    }
  }
}

async function textOf(file: FileHandle): Promise<Result<string, string>> {
  const buffer = Buffer.alloc(secretBytesMax + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (length > secretBytesMax) return fail('is larger than 64 KiB');
    if (bytesRead === 0) break;
  }
  return length === 0 ? fail('is empty') : succeed(buffer.toString('utf8', 0, length));
}

/** All that changes when a file does, or when a link leads to another one; null when there is none. */
async function fingerprint(path: string): Promise<string | null> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch {
    return null;
  }
}

function wordsOn(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'is not there';
    case 'EACCES':
    case 'EPERM':
      return 'may not be read by this process';
    default:
      return `cannot be read (${code})`;
  }
}
