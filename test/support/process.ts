import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateKey } from '../../packages/gateway/src/admin/keys.ts';
import { runCommandLine } from '../../packages/gateway/src/cli/run.ts';
import { environmentOf } from '../../packages/gateway/src/config.ts';
import type { Platform } from '../../packages/protocols/src/index.ts';
import { configurationText, httpFlags, type TestGatewayOptions } from './gateway.ts';

/** The program as its files are. */
const programFiles = fileURLToPath(new URL('../../packages/gateway/src/cli.ts', import.meta.url));

/** The same in a few files, which start in half the time (`bundled-program.ts`). */
export function commandLine(): string {
  const bundled = process.env['HEADGATE_TEST_PROGRAM'] ?? 'files';
  return bundled === 'files' ? programFiles : bundled;
}

/** How a process ended: with an exit code, or by a signal. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface CommandResult extends ProcessEnd {
  readonly stdout: string;
  readonly stderr: string;
}

/** The content of HEADGATE_READY_FILE. */
export interface Ready {
  readonly apiOrigin: string;
  readonly consoleOrigin: string;
  readonly keys: Readonly<Partial<Record<Platform, string>>>;
  readonly models: Readonly<Partial<Record<Platform, string>>>;
  readonly setupToken: string | null;
}

/** All of this process's own environment that reaches a command: where programs are, and its threads' modules compiled. */
function surroundings(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}

/** The surroundings that a command runs in. */
export interface ProcessOptions {
  readonly dataDir: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** It leads a group of processes, which `killGroup` ends with all that it has started. */
  readonly leadsGroup?: boolean;
  /** All of its standard input; it has none if left out. */
  readonly input?: string;
  /** The files themselves are run, for what is asked of them by their names. */
  readonly runsFiles?: boolean;
}

function httpEnvironment(): Readonly<Record<string, string>> {
  const { http } = httpFlags();
  return http === undefined ? {} : { HEADGATE_HTTP: http };
}

/** A directory of its own for one test, removed at the end of its block. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'headgate-process-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A `headgate` command under way. Disposing of it kills what is left of it. */
export class HeadgateProcess {
  readonly ended: Promise<ProcessEnd>;
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;

  constructor(
    words: readonly string[],
    { dataDir, environment = {}, flags = [], input, leadsGroup = false, runsFiles = false }: ProcessOptions,
  ) {
    const program = runsFiles ? programFiles : commandLine();
    this.#child = spawn(process.execPath, [program, ...words, ...flags], {
      cwd: dataDir,
      detached: leadsGroup,
      env: {
        ...surroundings(),
        ...httpEnvironment(),
        HEADGATE_DATA_DIR: dataDir,
        // Tests count the calls that they make.
        HEADGATE_DEMO_HISTORY: 'false',
        ...environment,
      },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    this.#child.stdin?.end(input);
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    // All that it wrote has come once its pipes are closed, which is later than its exit.
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  /** Undefined where it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Ends it and all processes that it has started at the same moment, as a loss of power does. */
  killGroup(): void {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
  }

  /** Resolves when standard output has grown, or the process has ended. */
  async moved(): Promise<void> {
    await Promise.race([once(this.#child.stdout ?? this.#child, 'data'), this.ended]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}

/** Runs one command to its end. */
export async function runHeadgate(words: readonly string[], options: ProcessOptions): Promise<CommandResult> {
  await using command = new HeadgateProcess(words, options);
  const end = await command.ended;
  return { ...end, stdout: command.stdout, stderr: command.stderr };
}

/** Runs one command to its end in this process, which starts none: for what a test asks and is not about. */
export async function runCommand(
  words: readonly string[],
  { dataDir, environment = {}, input = '' }: ProcessOptions,
): Promise<CommandResult> {
  const written = { stdout: '', stderr: '' };
  const code = await runCommandLine(words, {
    environment: environmentOf({ HEADGATE_DATA_DIR: dataDir, ...environment }),
    directory: dataDir,
    stopping: () => AbortSignal.abort(),
    readSecret: () => Promise.resolve({ ok: true, value: input }),
    version: '0',
    output: {
      color: false,
      write: (text) => {
        written.stdout += text;
      },
      writeError: (text) => {
        written.stderr += text;
      },
    },
  });
  return { code, signal: null, ...written };
}

/** A gateway that runs as operators run it: a process of its own. */
export interface ServingProcess extends AsyncDisposable {
  readonly ready: Ready;
  readonly process: HeadgateProcess;
}

/** Starts `headgate serve` on free ports. Rejects with what it said when it ends before it listens. */
export async function serveHeadgate(options: ProcessOptions): Promise<ServingProcess> {
  const readyFile = join(options.dataDir, 'ready.json');
  rmSync(readyFile, { force: true });
  const environment = {
    HEADGATE_READY_FILE: readyFile,
    HEADGATE_API_PORT: '0',
    HEADGATE_CONSOLE_PORT: '0',
    ...options.environment,
  };
  const serving = new HeadgateProcess(['serve'], { ...options, environment });
  // The file is written before anything is printed.
  await serving.moved();
  if (!existsSync(readyFile)) {
    const { code } = await serving.ended;
    throw new Error(`headgate serve ended with ${code}: ${serving.stderr}`);
  }
  // Its shape is what the tests hold.
  const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as Ready;
  return { ready, process: serving, [Symbol.asyncDispose]: () => serving[Symbol.asyncDispose]() };
}

/** A data directory with a configuration file for real processes. */
export interface ConfiguredDirectory {
  readonly key: string;
  readonly options: ProcessOptions;
  /** Replaces the file at once, as careful editors do. */
  write(text: string): void;
}

/** Puts a `headgate.yaml` into a data directory, where its processes find it, and makes a key for its callers. */
export function configureDirectory(dataDir: string, configuration: TestGatewayOptions): ConfiguredDirectory {
  const file = join(dataDir, 'headgate.yaml');
  const key = generateKey();
  const write = (text: string): void => {
    writeFileSync(`${file}.draft`, text);
    renameSync(`${file}.draft`, file);
  };
  write(configurationText(configuration));
  const environment = {
    TEST_KEY_COMPLETIONS: key,
    TEST_KEY_MESSAGES: generateKey(),
    TEST_KEY_NATIVE: generateKey(),
  };
  return { key, options: { dataDir, environment }, write };
}
