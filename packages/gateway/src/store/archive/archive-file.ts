import { createHash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { StoreUnusable } from '../../ports/store.ts';
import { type Cell, callColumns, usageColumns } from '../columns.ts';

/**
 * Archived calls lie in files of their own: Zstandard over lines of JSON, the first of which names the columns, and each other one is the
 * cells of a call. So `zstdcat` reads them, and a later version knows what an older one has written. A file never changes.
 */
interface Head {
  readonly format: 1;
  readonly columns: readonly string[];
}

/** A file as the store knows it. */
export interface ArchiveFile {
  readonly name: string;
  readonly calls: number;
  readonly sha256: string;
}

export interface WrittenFile extends ArchiveFile {
  readonly bytes: number;
}

const unfinished = '.unfinished';

/** The folder of a store's archive. */
export function archiveDirectory(storeFile: string): string {
  return join(dirname(storeFile), 'archive');
}

/** A call's cells as a line. An integer that JSON would round is written as text. */
export function archiveLine(cells: readonly Cell[]): string {
  const written = cells.map((cell) => {
    if (typeof cell !== 'bigint') return cell;
    const isSafe = cell <= BigInt(Number.MAX_SAFE_INTEGER) && cell >= BigInt(Number.MIN_SAFE_INTEGER);
    return isSafe ? Number(cell) : String(cell);
  });
  return JSON.stringify(written);
}

/**
 * Writes a file so that it is there whole or not at all, whenever the process or the machine ends: under another name, onto the disk, and
 * then renamed. What it says is read back from there before anyone relies on it.
 */
export function writeArchive(directory: string, name: string, lines: readonly string[]): WrittenFile {
  const head: Head = { format: 1, columns: callColumns };
  const bytes = zstdCompressSync([JSON.stringify(head), ...lines, ''].join('\n'));
  const sha256 = hashOf(bytes);
  const path = join(directory, name);
  try {
    putInPlace(path, bytes);
  } catch (error) {
    // A full disk, a folder that is none: the owner can mend it, and all calls are where they were.
    throw new StoreUnusable(`the archive ${path} cannot be written: ${String(error)}`);
  }
  const written = { name, calls: lines.length, sha256, bytes: bytes.length };
  if (readArchive(directory, written).join('\n') !== lines.join('\n'))
    throw new StoreUnusable(`${path} does not hold what was written to it`);
  return written;
}

function putInPlace(path: string, bytes: Uint8Array): void {
  const directory = dirname(path);
  if (mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined) syncDirectory(dirname(directory));
  const descriptor = openSync(path + unfinished, 'w', 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(path + unfinished, path);
  syncDirectory(directory);
}

/** A rename is on the disk when its folder is. */
function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Takes away what a process that died has begun to write. Nobody else may be writing. */
export function removeUnfinished(directory: string): void {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const name of readdirSync(directory))
    if (name.endsWith(unfinished)) rmSync(join(directory, name), { force: true });
}

/** The lines of a file, with the cells in the order of today's columns. Throws `StoreUnusable`, which names the file, when it is not what was written. */
export function readArchive(directory: string, { name, calls, sha256 }: ArchiveFile): readonly string[] {
  const path = join(directory, name);
  const bytes = contentOf(path);
  if (hashOf(bytes) !== sha256)
    throw new StoreUnusable(
      `the archive ${path} is not what was written: its SHA-256 is not ${sha256}; put it back from a backup`,
    );
  const [head = '', ...lines] = zstdDecompressSync(bytes).toString().trimEnd().split('\n');
  const { format, columns } = JSON.parse(head) as Head;
  if (format !== 1 || lines.length !== calls)
    throw new StoreUnusable(`the archive ${path} was written by a newer Headgate`);
  return columns.join() === callColumns.join() ? lines : lines.map((line) => rearranged(line, columns));
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = isMissing ? 'is missing' : `cannot be read: ${String(error)}`;
    throw new StoreUnusable(`the archive ${path} ${reason}; put it back from a backup`);
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const counted: ReadonlySet<string> = new Set(usageColumns);

/** A line of another version: columns that it did not know are null, or nothing where they count. */
function rearranged(line: string, columns: readonly string[]): string {
  // Only our own lines are there: the hash says so.
  const values = JSON.parse(line) as readonly Cell[];
  const cells = new Map(columns.map((column, at) => [column, values[at] ?? null]));
  return JSON.stringify(callColumns.map((column) => cells.get(column) ?? (counted.has(column) ? 0 : null)));
}
