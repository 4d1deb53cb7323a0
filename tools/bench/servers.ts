import { createInterface } from 'node:readline';
import type { Checkout } from '../harness/checkout.ts';
import { newKey, startConfigured } from '../harness/headgate-process.ts';
import { serverCore, startPinned } from '../harness/pinned-process.ts';
import { modelName } from './fixed-answer.ts';
import type { MemoryProbe } from './memory-probe-reader.ts';
import { hasNginx, startNginx } from './nginx.ts';

/** One of the servers that are compared, running. */
export interface ServerUnderTest {
  readonly name: ServerName;
  readonly port: number;
  /** Sent as a bearer token. */
  readonly key: string;
  /** Process to account for, with its children; null for the upstream itself, which is no server under test. */
  readonly pid: number | null;
  stop(): Promise<void>;
}

export const serverNames = ['nginx', 'bare-proxy', 'headgate', 'headgate-soon'] as const;

/** `direct` is the upstream without anything in between, which latencies are compared with; `against` is another version of Headgate. */
export type ServerName = 'direct' | (typeof serverNames)[number] | 'against' | 'against-soon';

export interface ServerChoice {
  readonly names: readonly (typeof serverNames)[number][];
  readonly upstreamPort: number;
  /** Another version of the project, run beside every Headgate of the names. */
  readonly checkout: Checkout | null;
}

/** Starts those of the names that this machine and these options have. The upstream itself comes first. */
export async function startServers({
  names,
  upstreamPort,
  checkout,
}: ServerChoice): Promise<ServerUnderTest[]> {
  const servers: ServerUnderTest[] = [
    { name: 'direct', port: upstreamPort, key: 'unused', pid: null, stop: () => Promise.resolve() },
  ];
  const start: Record<ServerName, () => Promise<ServerUnderTest>> = {
    direct: () => Promise.reject(new Error('The upstream runs already.')),
    nginx: () => startNginx(upstreamPort),
    'bare-proxy': () => startBareProxy({ upstreamPort }),
    headgate: () => startHeadgate({ name: 'headgate', upstreamPort }),
    'headgate-soon': () => startHeadgate({ name: 'headgate-soon', upstreamPort }),
    against: () => startHeadgate({ name: 'against', upstreamPort, checkout }),
    'against-soon': () => startHeadgate({ name: 'against-soon', upstreamPort, checkout }),
  };
  for (const name of names) {
    if (name === 'nginx' && !hasNginx()) continue;
    servers.push(await start[name]());
    if (checkout !== null && name === 'headgate') servers.push(await start.against());
    if (checkout !== null && name === 'headgate-soon') servers.push(await start['against-soon']());
  }
  return servers;
}

interface ProxyChoice {
  readonly upstreamPort: number;
  readonly probe?: MemoryProbe;
}

interface HeadgateChoice extends ProxyChoice {
  readonly name: ServerName;
  readonly checkout?: Checkout | null;
  readonly nodeOptions?: readonly string[];
}

/** Headgate as an operator runs it, with everything on: keys, routing, metering, ledger on disk, metrics, call log. */
export async function startHeadgate({
  name,
  upstreamPort,
  checkout,
  probe,
  nodeOptions = [],
}: HeadgateChoice): Promise<ServerUnderTest> {
  const key = newKey();
  const gateway = await startConfigured({
    yaml: headgateConfiguration(upstreamPort, name.endsWith('soon') ? 'soon' : 'strict'),
    environment: { HEADGATE_BENCH_KEY: key, ...probe?.environment },
    core: serverCore,
    nodeOptions: [...nodeOptions, ...(probe?.nodeOptions ?? [])],
    ...(checkout ? { root: checkout.root } : {}),
  });
  return { name, key, ...gateway };
}

function headgateConfiguration(upstreamPort: number, durability: 'strict' | 'soon'): string {
  return `${singleModelConfiguration(upstreamPort, durability)}
keys:
  bench: { group: bench, secret: { environment: HEADGATE_BENCH_KEY } }
`;
}

/** One model on one channel, and nobody who may call it yet. */
export function singleModelConfiguration(
  upstreamPort: number,
  durability: 'strict' | 'soon' = 'strict',
): string {
  return `${configurationHead(upstreamPort, durability)}
models:
  ${modelName}: {}
prices:
  ${modelName}: { input: "1.25", cacheRead: "0.125", output: "10" }
channels:
  bench: { provider: bench, allowPrivate: true, models: [${modelName}] }
groups:
  bench: { platform: completions }`;
}

/** Settings and the provider that every gateway of the benchmark has. */
export function configurationHead(upstreamPort: number, durability: 'strict' | 'soon' = 'strict'): string {
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
`;
}

export async function startBareProxy({ upstreamPort, probe }: ProxyChoice): Promise<ServerUnderTest> {
  const script = new URL('./bare-proxy.ts', import.meta.url).pathname;
  const started = startPinned({
    core: serverCore,
    command: [process.execPath, ...(probe?.nodeOptions ?? []), script, `http://127.0.0.1:${upstreamPort}`],
    environment: probe?.environment ?? {},
  });
  if (started.child.stdout === null) throw new Error('The bare proxy must have a standard output.');
  for await (const line of createInterface(started.child.stdout)) {
    const { port }: { port: number } = JSON.parse(line) as { port: number };
    return { name: 'bare-proxy', port, key: 'unused', pid: started.pid, stop: started.stop };
  }
  throw new Error('The bare proxy ended before it listened.');
}
