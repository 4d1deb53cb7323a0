import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { formatKey, keyEntropyBytes } from '../../packages/gateway/src/catalogue/key.ts';
import { startPinned } from './pinned-process.ts';

const startTimeoutMs = 60_000;

export function newKey(): string {
  return formatKey(randomBytes(keyEntropyBytes));
}

export interface ConfiguredStart {
  /** The configuration file. */
  readonly yaml: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Null lets it run on any. */
  readonly core: number | null;
  /** Another checkout of the project; this one if left out. */
  readonly root?: string;
  readonly nodeOptions?: readonly string[];
}

/** A gateway in a process of its own. */
export interface RunningHeadgate {
  readonly port: number;
  readonly consolePort: number;
  readonly pid: number;
  readonly dataDir: string;
  /** All that it has printed. */
  readonly logFile: string;
  /** Ends the process as an operator would; what it wrote stays. */
  end(): Promise<void>;
  /** Ends it, if it runs yet, and removes its data. */
  stop(): Promise<void>;
}

interface ReadyFile {
  readonly apiOrigin: string;
  readonly consoleOrigin: string;
}

/** The gateway with this `headgate.yaml`, its data in a directory that goes when it stops. */
export async function startConfigured({
  yaml,
  environment,
  core,
  root = new URL('../..', import.meta.url).pathname,
  nodeOptions = [],
}: ConfiguredStart): Promise<RunningHeadgate> {
  const directory = await mkdtemp(join(tmpdir(), 'headgate-harness-'));
  const configuration = join(directory, 'headgate.yaml');
  const readyFile = join(directory, 'ready.json');
  const dataDir = join(directory, 'data');
  await writeFile(configuration, yaml);
  const logFile = join(directory, 'log');
  const log = openSync(logFile, 'w');
  const started = startPinned({
    core,
    command: [process.execPath, ...nodeOptions, join(root, 'packages/gateway/src/cli.ts'), 'serve'],
    environment: {
      HEADGATE_CONFIG: configuration,
      HEADGATE_DATA_DIR: dataDir,
      HEADGATE_READY_FILE: readyFile,
      ...environment,
    },
    logFile: log,
  });
  closeSync(log);
  const ports = await portsWhenReady(readyFile, started, logFile);
  return {
    ...ports,
    pid: started.pid,
    dataDir,
    logFile,
    end: () => started.stop(),
    async stop() {
      await started.stop();
      await rm(directory, { recursive: true });
    },
  };
}

async function portsWhenReady(
  readyFile: string,
  started: ReturnType<typeof startPinned>,
  log: string,
): Promise<Pick<RunningHeadgate, 'port' | 'consolePort'>> {
  const gone = once(started.child, 'exit').then(() => true);
  for (let waitedMs = 0; waitedMs < startTimeoutMs && !existsSync(readyFile); waitedMs += 50) {
    if (await Promise.race([gone, setTimeout(50, false)])) break;
  }
  if (!existsSync(readyFile)) throw new Error(`Headgate did not start:\n${await readFile(log, 'utf8')}`);
  const { apiOrigin, consoleOrigin } = JSON.parse(await readFile(readyFile, 'utf8')) as ReadyFile;
  return { port: Number(new URL(apiOrigin).port), consolePort: Number(new URL(consoleOrigin).port) };
}
