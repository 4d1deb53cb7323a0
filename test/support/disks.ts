import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk in memory, at a folder that is there. */
export class SmallDisk implements Disposable {
  readonly path: string;
  readonly #filling: string;

  constructor(path: string, sizeMb: number) {
    this.path = path;
    this.#filling = join(path, 'filling');
    run('mount', '-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0700`, 'tmpfs', path);
  }

  /** Takes all room there is. */
  fill(): void {
    const { blocks, bsize } = statfsSync(this.path);
    try {
      writeFileSync(this.#filling, Buffer.alloc(blocks * bsize));
    } catch {
      // There is no more: whoever else writes has had some of it meanwhile.
    }
  }

  empty(): void {
    rmSync(this.#filling, { force: true });
  }

  allowReadingOnly(): void {
    run('mount', '-o', 'remount,ro', this.path);
  }

  [Symbol.dispose](): void {
    run('umount', '--lazy', this.path);
  }
}

function run(program: string, ...words: readonly string[]): void {
  execFileSync(program, words, { stdio: 'pipe' });
}

function canMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), 'headgate-disk-'));
  try {
    new SmallDisk(path, 1)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(path);
  }
}

/** True where the system lets us have disks of our own: as root, outside of a narrow container. */
export const disksAreOurs = canMount();
