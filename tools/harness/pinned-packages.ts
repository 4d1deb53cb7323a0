import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const installTimeoutMs = 600_000;

/** Packages of exact versions that a tool of this repository runs and that are not installed with the project. */
export interface PinnedPackages {
  /** A `package.json` that names them. */
  readonly manifestFile: string;
  /** A folder of their own, ignored by git. */
  readonly folder: string;
  /** Said once, before they are fetched. */
  readonly notice: string;
}

const installOptions = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-package-lock',
  '--loglevel=error',
];

/** Installs them unless they are. Throws with npm's words when it cannot. No install script is run. */
export function installPinned({ manifestFile, folder, notice }: PinnedPackages): void {
  const wanted = createHash('sha256')
    .update(`${process.platform} ${process.arch} ${readFileSync(manifestFile, 'utf8')}`)
    .digest('hex');
  const stamp = stampOf(folder);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.log(notice);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  copyFileSync(manifestFile, join(folder, 'package.json'));
  const run = spawnSync('npm', ['install', ...installOptions], {
    cwd: folder,
    encoding: 'utf8',
    timeout: installTimeoutMs,
  });
  if (run.status !== 0) throw new Error(`npm could not install what ${manifestFile} names:\n${run.stderr}`);
  writeFileSync(stamp, wanted);
}

/** The next run asks the registry again. */
export function forgetPinned({ folder }: PinnedPackages): void {
  rmSync(stampOf(folder));
}

/** Says what is installed. */
function stampOf(folder: string): string {
  return join(folder, '.installed');
}
