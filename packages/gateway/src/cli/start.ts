import { readFileSync } from 'node:fs';
import { processEnvironment } from '../config.ts';
import { runCommandLine } from './run.ts';

/** Runs the command line of this process and leaves its exit code with the process. */
export async function startCommandLine(): Promise<void> {
  exitWhenReaderLeaves();
  // What any command writes holds usage, or hashes of keys: it is its owner's alone.
  process.umask(0o077);
  const environment = processEnvironment();
  process.exitCode = await runCommandLine(process.argv.slice(2), {
    environment,
    directory: process.cwd(),
    stop: stopSignal(),
    version: packageVersion(),
    output: {
      color: process.stdout.isTTY && environment('NO_COLOR') === undefined,
      write: (text) => void process.stdout.write(text),
      writeError: (text) => void process.stderr.write(text),
    },
  });
}

/** Aborts at the first request to stop; a second is from someone who has waited long enough. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort();
    });
  }
  return stop.signal;
}

/** A reader that has seen enough, such as `head`, closes the pipe: that is an end, not an error. */
function exitWhenReaderLeaves(): void {
  process.stdout.on('error', (error) => {
    if ('code' in error && error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0';
}
