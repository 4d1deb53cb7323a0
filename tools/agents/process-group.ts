import { spawn } from 'node:child_process';

/** Bytes that are kept of each of a process's two outputs. */
const outputCharactersMax = 4_000_000;

export interface GroupOptions {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface GroupResult {
  /** Null when it was killed. */
  readonly code: number | null;
  readonly isTimedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

/** Runs Node with these words in a process group of its own, of which nothing is left when this resolves. */
export async function runInGroup(words: readonly string[], options: GroupOptions): Promise<GroupResult> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, words, {
    cwd: options.folder,
    env: options.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    killGroup(child.pid);
  }, options.timeoutMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    // A process that it started may outlive it and hold its pipes, which close only then.
    child.once('exit', () => killGroup(child.pid));
    child.once('close', resolve);
  });
  clearTimeout(timer);
  return { code, isTimedOut, stdout: stdout(), stderr: stderr(), durationMs: performance.now() - startedAt };
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < outputCharactersMax) text += chunk;
  });
  return () => text;
}

/** The group has the number of the process that leads it. It may be gone already. */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH')) throw cause;
  }
}
