import { readFileSync } from 'node:fs';
import { runCommandLine } from './cli/run.ts';
import { processEnvironment } from './config.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The first asks for an orderly end; a second is from someone who has waited long enough.
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
  });
}

// A reader that has seen enough, such as `head`, closes the pipe: that is an end, not an error.
process.stdout.on('error', (error) => {
  if ('code' in error && error.code === 'EPIPE') process.exit(0);
  throw error;
});

const environment = processEnvironment();

process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment,
  directory: process.cwd(),
  stop: stop.signal,
  version: packageVersion(),
  output: {
    color: process.stdout.isTTY && environment('NO_COLOR') === undefined,
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
  },
});

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0';
}
