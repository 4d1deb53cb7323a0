import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { formatKey, keyEntropyBytes } from '../packages/gateway/src/core/key.ts';
import { modelName } from './fixed-answer.ts';
import { serverCore, startPinned } from './pinned-process.ts';
import type { ServerUnderTest } from './server-under-test.ts';

export type Durability = 'strict' | 'soon';

const startTimeoutMs = 20_000;

/** Headgate as an operator runs it, with everything on: keys, routing, metering, ledger on disk, metrics, call log. */
export async function startHeadgate(upstreamPort: number, durability: Durability): Promise<ServerUnderTest> {
  const key = newKey();
  const configuration = headgateConfiguration(upstreamPort, durability);
  const gateway = await startConfigured(configuration, { HEADGATE_BENCH_KEY: key });
  return { name: durability === 'strict' ? 'headgate' : 'headgate-soon', key, ...gateway };
}

export function newKey(): string {
  return formatKey(randomBytes(keyEntropyBytes));
}

export interface RunningHeadgate {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** The gateway with this `headgate.yaml`, its data in a directory that goes when it stops. */
export async function startConfigured(
  yaml: string,
  environment: Readonly<Record<string, string>>,
): Promise<RunningHeadgate> {
  const directory = await mkdtemp(join(tmpdir(), 'headgate-bench-'));
  const configuration = join(directory, 'headgate.yaml');
  const readyFile = join(directory, 'ready.json');
  await writeFile(configuration, yaml);
  const log = openSync(join(directory, 'log'), 'w');
  const started = startPinned({
    core: serverCore,
    command: [process.execPath, new URL('../packages/gateway/src/cli.ts', import.meta.url).pathname, 'serve'],
    environment: {
      HEADGATE_CONFIG: configuration,
      HEADGATE_DATA_DIR: join(directory, 'data'),
      HEADGATE_READY_FILE: readyFile,
      ...environment,
    },
    logFile: log,
  });
  closeSync(log);
  const port = await portWhenReady(readyFile, started, join(directory, 'log'));
  return {
    port,
    pid: started.pid,
    async stop() {
      await started.stop();
      await rm(directory, { recursive: true });
    },
  };
}

function headgateConfiguration(upstreamPort: number, durability: Durability): string {
  return `
settings:
  api: { port: 0 }
  console: { port: 0 }
  ledger: { durability: ${durability} }
  log: { format: json }
providers:
  bench:
    name: Fixed upstream
    baseUrl: http://127.0.0.1:${upstreamPort}/v1
    protocols: { chat-completions: /chat/completions }
    credential: { scheme: none }
models:
  ${modelName}: {}
prices:
  ${modelName}: { input: "1.25", cacheRead: "0.125", output: "10" }
channels:
  bench: { provider: bench, allowPrivate: true, models: [${modelName}] }
groups:
  bench: { platform: completions }
keys:
  bench: { group: bench, secret: { environment: HEADGATE_BENCH_KEY } }
`;
}

async function portWhenReady(
  readyFile: string,
  started: ReturnType<typeof startPinned>,
  log: string,
): Promise<number> {
  const gone = once(started.child, 'exit').then(() => true);
  for (let waitedMs = 0; waitedMs < startTimeoutMs && !existsSync(readyFile); waitedMs += 50) {
    if (await Promise.race([gone, setTimeout(50, false)])) break;
  }
  if (!existsSync(readyFile)) throw new Error(`Headgate did not start:\n${await readFile(log, 'utf8')}`);
  const { apiOrigin } = JSON.parse(await readFile(readyFile, 'utf8')) as { apiOrigin: string };
  return Number(new URL(apiOrigin).port);
}
