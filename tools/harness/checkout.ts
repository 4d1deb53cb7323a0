import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const here = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');

/** An older version of the project beside this one, able to run. */
export interface Checkout {
  readonly root: string;
  remove(): void;
}

/** Checks a commit out into a directory of its own, with this checkout's dependencies where it wants the same. */
export async function checkOut(commit: string): Promise<Checkout> {
  const root = join(await mkdtemp(join(tmpdir(), 'headgate-bench-against-')), 'headgate');
  git('worktree', 'add', '--quiet', '--detach', root, commit);
  const remove = () => {
    git('worktree', 'remove', '--force', root);
    rmSync(join(root, '..'), { recursive: true, force: true });
  };
  try {
    if (sameFile(root, 'package-lock.json')) linkDependencies(root);
    else install(root);
  } catch (error) {
    remove();
    throw error;
  }
  return { root, remove };
}

/** Packages of the project itself must be those of the checkout. */
function linkDependencies(root: string): void {
  mkdirSync(join(root, 'node_modules/@headgate'), { recursive: true });
  for (const name of readdirSync(join(here, 'node_modules'))) {
    if (name !== '@headgate' && !name.startsWith('.'))
      symlinkSync(join(here, 'node_modules', name), join(root, 'node_modules', name));
  }
  for (const name of readdirSync(join(root, 'packages'))) {
    symlinkSync(join(root, 'packages', name), join(root, 'node_modules/@headgate', name));
    const own = join('packages', name, 'node_modules');
    if (existsSync(join(here, own))) symlinkSync(join(here, own), join(root, own));
  }
}

function install(root: string): void {
  const options = ['--no-save', '--no-audit', '--no-fund', '--prefer-offline'];
  execFileSync('npm', ['install', ...options], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}

function sameFile(root: string, name: string): boolean {
  return readFileSync(join(root, name), 'utf8') === readFileSync(join(here, name), 'utf8');
}

function git(...words: readonly string[]): void {
  execFileSync('git', ['-C', here, ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
}
