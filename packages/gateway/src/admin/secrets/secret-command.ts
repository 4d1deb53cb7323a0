import { type ChildProcess, spawn } from 'node:child_process';
import { fail, type Result } from '@headgate/protocols';
import type { SecretProgram } from '../../catalogue/secret-source.ts';
import type { Environment } from '../../config.ts';
import { readSecretText, secretBytesMax } from './secret-text.ts';

/** A command that has not ended by then is killed, with all that it started. */
const runMsMax = 10_000;
/** Between two runs, whatever asks for the second. */
const restMs = 10_000;
/** After a failure, and twice as long after each further one. */
const [retryMsMin, retryMsMax] = [10_000, 600_000];

/** Programs need these to be found and to find what is theirs; none of them holds a secret. */
const usualVariables = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'],
  ...[
    'XDG_CONFIG_HOME',
    'XDG_CACHE_HOME',
    'XDG_DATA_HOME',
    'XDG_RUNTIME_DIR',
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
  ],
  ...['SYSTEMROOT', 'COMSPEC', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'TEMP', 'TMP'],
];

/** The gateway's own environment has the pepper and other channels' credentials: a program is given no more than was said. */
function variablesOf(
  { variables = [] }: Pick<SecretProgram, 'variables'>,
  environment: Environment,
): Readonly<Record<string, string>> {
  const names = [...new Set([...usualVariables, ...variables])];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Lets few commands run at once, the others one after the other. */
export class Turnstile {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  async pass<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

/** A secret that a program prints. A run that fails leaves the secret of the one before it. */
export class SecretCommand {
  reading: Result<string, string> = fail('has not been run');
  /** Why the last run gave no secret; null where it gave one. */
  failure: string | null = null;
  readonly #words: readonly string[];
  readonly #refreshMs: number;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #turnstile: Turnstile;
  #running: Promise<void> | null = null;
  #endedAtMs = Number.NEGATIVE_INFINITY;
  #dueAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #child: ChildProcess | null = null;
  #isClosed = false;

  constructor(program: Omit<SecretProgram, 'kind'>, environment: Environment, turnstile: Turnstile) {
    this.#words = program.words;
    this.#refreshMs = program.refreshMs ?? Number.POSITIVE_INFINITY;
    this.#variables = variablesOf(program, environment);
    this.#turnstile = turnstile;
  }

  /** Runs it when it is time, and not while it runs. Resolves when no run is under way. */
  async runIfDue(now: () => number): Promise<void> {
    if (this.#running === null && now() >= this.#dueAtMs && !this.#isClosed) {
      this.#running = this.#run(now).finally(() => {
        this.#running = null;
      });
    }
    await this.#running;
  }

  /** An upstream has refused the secret: there may be another one by now. */
  refused(nowMs: number): void {
    this.#dueAtMs = Math.min(this.#dueAtMs, Math.max(nowMs, this.#endedAtMs + restMs));
  }

  close(): void {
    this.#isClosed = true;
    if (this.#running !== null) kill(this.#child);
  }

  async #run(now: () => number): Promise<void> {
    const result = await this.#turnstile.pass(() => this.#output()).catch(cannotStart);
    this.#endedAtMs = now();
    this.failure = result.ok ? null : result.error;
    const isNews = JSON.stringify(result) !== JSON.stringify(this.reading);
    if (isNews && (result.ok || !this.reading.ok)) this.reading = result;
    this.#failures = result.ok ? 0 : this.#failures + 1;
    const retryMs = Math.min(retryMsMax, retryMsMin * 2 ** (this.#failures - 1));
    this.#dueAtMs = this.#endedAtMs + (result.ok ? this.#refreshMs : retryMs);
  }

  /** Its standard error is not read: programs that fail like to say there what they were given. */
  async #output(): Promise<Result<string, string>> {
    // It may have waited for its turn until now.
    if (this.#isClosed) return fail('is not used any more');
    const [program = '', ...args] = this.#words;
    const { promise, resolve } = Promise.withResolvers<Result<string, string>>();
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: this.#variables,
      detached: hasGroups,
    });
    this.#child = child;
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (result: Result<string, string>): void => {
      clearTimeout(timer);
      resolve(result);
    };
    const giveUp = (reason: string): void => {
      kill(child);
      finish(fail(reason));
    };
    const timer = setTimeout(() => giveUp(`has not ended within ${runMsMax / 1000} s`), runMsMax);
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > secretBytesMax) giveUp('prints more than 64 KiB');
      else chunks.push(chunk);
    });
    child.on('error', (error) => finish(cannotStart(error)));
    child.on('exit', (code, signal) => {
      if (code !== 0) giveUp(code === null ? `was ended by ${signal}` : `failed with exit code ${code}`);
    });
    // The pipe ends when all that was printed has been read.
    child.on('close', () => {
      this.#child = null;
      finish(readPrinted(Buffer.concat(chunks)));
    });
    return promise;
  }
}

function readPrinted(bytes: Buffer): Result<string, string> {
  const read = readSecretText(bytes.toString('utf8'));
  return read.ok ? read : fail(`prints what ${read.error}`);
}

/** Elsewhere a process has no group of its own that could be ended whole. */
const hasGroups = process.platform !== 'win32';

function kill(child: ChildProcess | null): void {
  if (child?.pid === undefined) return;
  try {
    if (hasGroups) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It has ended, and all that it started.
  }
}

function cannotStart(error: unknown): Result<string, string> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return fail(`cannot be started (${code})`);
}
