// Installs the locked dependencies when they are missing or older than the lock file, so that
// `npm start` and `npm test` work in a fresh clone. It runs on the system's own Node (20 or later)
// before anything is installed, so it may use nothing but Node itself.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'node_modules', '.headgate-installed');
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');

const installed = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
if (!installed) {
  console.error('Headgate: installing dependencies (once; about a minute) …');
  const npm = process.env.npm_execpath;
  const [command, first] = npm ? [process.execPath, [npm]] : ['npm', []];
  // Not `npm ci`: it refuses a lock file that lacks the optional packages of other platforms. Nothing is written back.
  const run = spawnSync(
    command,
    [...first, 'install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      // Standard output belongs to the command that follows.
      stdio: ['ignore', 2, 2],
    },
  );
  if (run.status !== 0) {
    console.error('Headgate: `npm install` failed; see its messages above.');
    process.exit(run.status ?? 1);
  }
  writeFileSync(stamp, wanted);
}
