// Loaded into a gateway by a test, where no disk of its own is to be had: while a file is there, the disk is full. SQLite is not told.
import { constants, existsSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';

type Done = (error: Error | null, value?: unknown) => void;

/** The members of `node:fs` that are replaced, as the gateway calls them. */
interface FileSystem {
  open(path: string, flags: number | string, mode: number, done: Done): void;
  statfs(path: string, options: object, done: Done): void;
}

const flag = process.env['PRETEND_FULL_DISK'] ?? '';
// The module itself, whose members may be replaced.
const fs = createRequire(import.meta.url)('node:fs') as FileSystem;
const real: FileSystem = { open: fs.open, statfs: fs.statfs };

fs.statfs = (path, options, done) =>
  real.statfs(path, options, (error, found) =>
    done(error, existsSync(flag) ? Object.assign({}, found, { bfree: 0n, bavail: 0n }) : found),
  );

fs.open = (path, flags, mode, done) => {
  const isNew = typeof flags === 'number' && (flags & constants.O_CREAT) !== 0;
  if (isNew && existsSync(flag))
    process.nextTick(done, Object.assign(new Error(`ENOSPC: ${path}`), { code: 'ENOSPC' }));
  else real.open(path, flags, mode, done);
};

syncBuiltinESMExports();
