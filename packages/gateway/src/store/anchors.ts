import { type BigIntStats, fstatSync, stat, statSync } from 'node:fs';
import { promisify } from 'node:util';

/** A file that is open, and the path that led to it. What is written goes to the file, whatever the path leads to later. */
export interface Anchor {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
  /** With less than this it has been emptied or cut short by somebody. */
  readonly bytesMin: bigint;
}

const statLater = promisify(stat);

/** The file that a path leads to now. Throws as node:fs does. */
export function anchorAt(path: string): Anchor {
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, device: dev, inode: ino, bytesMin: 0n };
}

/** The file that is open, whose size never changes. */
export function anchorOf(path: string, file: number): Anchor {
  const { dev, ino, size } = fstatSync(file, { bigint: true });
  return { path, device: dev, inode: ino, bytesMin: size };
}

/** The files of a store, as far as they are there: without its log and its index SQLite has opened another database. */
export function storeAnchors(file: string): readonly Anchor[] {
  const paths = [file, `${file}-wal`, `${file}-shm`];
  const anchors = paths
    .filter((path) => statSync(path, { throwIfNoEntry: false }) !== undefined)
    .map((path) => anchorAt(path));
  // `VACUUM` makes a database smaller, and others may empty its log in order; but a database always has a first page.
  return anchors.map((anchor) => (anchor.path === file ? { ...anchor, bytesMin: 1n } : anchor));
}

/** Says how a path has come loose from the file that is open; null when it has not. */
function looseness(anchor: Anchor, found: BigIntStats | undefined): string | null {
  if (found === undefined) return `${anchor.path} is gone`;
  if (found.dev !== anchor.device || found.ino !== anchor.inode)
    return `${anchor.path} is another file than the one that is open`;
  return found.size < anchor.bytesMin ? `${anchor.path} was cut short` : null;
}

/** Says which of them has come loose; for a thread that may wait for the disk. */
export function lossOf(anchors: readonly Anchor[]): string | null {
  for (const anchor of anchors) {
    const lost = looseness(anchor, findSync(anchor.path));
    if (lost !== null) return lost;
  }
  return null;
}

/** The same without waiting for the disk. */
export async function findLoss(anchors: readonly Anchor[]): Promise<{ anchor: Anchor; lost: string } | null> {
  for (const anchor of anchors) {
    const lost = looseness(anchor, await find(anchor.path));
    if (lost !== null) return { anchor, lost };
  }
  return null;
}

/** A path that cannot be followed leads nowhere, whatever keeps it from doing so. */
function findSync(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function find(path: string): Promise<BigIntStats | undefined> {
  return statLater(path, { bigint: true }).catch(() => undefined);
}
