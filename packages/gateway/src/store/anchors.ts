import { type BigIntStats, fstatSync, stat, statSync } from 'node:fs';
import { promisify } from 'node:util';

/** A file that is open, and the path that led to it. What is written goes to the file, whatever the path leads to later. */
export interface Anchor {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

const statLater = promisify(stat);

/** The file that a path leads to now, or the one that is open. Throws as node:fs does. */
export function anchorAt(path: string, file?: number): Anchor {
  const { dev, ino } =
    file === undefined ? statSync(path, { bigint: true }) : fstatSync(file, { bigint: true });
  return { path, device: dev, inode: ino };
}

/** The files of a store, as far as they are there: without its log and its index SQLite has opened another database. */
export function storeAnchors(file: string): readonly Anchor[] {
  const paths = [file, `${file}-wal`, `${file}-shm`];
  return paths
    .filter((path) => statSync(path, { throwIfNoEntry: false }) !== undefined)
    .map((path) => anchorAt(path));
}

/** Says how a path has come loose from the file that is open; null when it has not. */
function looseness(anchor: Anchor, found: BigIntStats | undefined): string | null {
  if (found === undefined) return `${anchor.path} is gone`;
  const isSame = found.dev === anchor.device && found.ino === anchor.inode;
  return isSame ? null : `${anchor.path} is another file than the one that is open`;
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
