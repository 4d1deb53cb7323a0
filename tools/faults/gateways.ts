import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { newKey, startConfigured } from '../harness/headgate-process.ts';
import { startPinned } from '../harness/pinned-process.ts';
import type { Route } from './caller.ts';
import type { Tiers } from './upstreams.ts';

/** A gateway under test, with every scene's model configured on it. */
export interface RunningGateway {
  readonly name: string;
  routeOf(tiers: Tiers): Route;
  stop(): Promise<void>;
}

/** One is set up by its tiers alone, the other one continues streams that break off or fall silent after their first words. */
export type HeadgateKind = 'plain' | 'rescuing';

export async function startHeadgate(all: readonly Tiers[], kind: HeadgateKind): Promise<RunningGateway> {
  const key = newKey();
  const channels = all.flatMap(({ scene, preferred, spare }) => [
    { id: `${scene.id}.preferred`, model: scene.id, origin: preferred.origin, priority: 0 },
    { id: `${scene.id}.spare`, model: scene.id, origin: spare.origin, priority: 1 },
  ]);
  const price = { input: '1', output: '2' };
  const rescues = kind === 'rescuing';
  const gateway = await startConfigured({
    core: null,
    environment: { HEADGATE_FAULTS_KEY: key },
    yaml: JSON.stringify({
      settings: {
        ...{ api: { port: 0 }, console: { port: 0 }, log: { level: 'warn', calls: false } },
        ...(rescues ? { timeouts: { stall: '5s' } } : {}),
      },
      providers: Object.fromEntries(
        channels.map(({ id, origin }) => [
          id,
          {
            name: id,
            baseUrl: `${origin}/v1`,
            protocols: { 'chat-completions': '/chat/completions' },
            credential: { scheme: 'none' },
          },
        ]),
      ),
      models: Object.fromEntries(all.map(({ scene }) => [scene.id, { reasoning: false }])),
      prices: Object.fromEntries(all.map(({ scene }) => [scene.id, price])),
      channels: Object.fromEntries(
        channels.map(({ id, model, priority }) => [
          id,
          { provider: id, allowPrivate: true, priority, models: { [model]: { cost: price } } },
        ]),
      ),
      groups: { team: { platform: 'completions', ...(rescues ? { routing: { rescue: 'continue' } } : {}) } },
      keys: { bench: { group: 'team', secret: { environment: 'HEADGATE_FAULTS_KEY' } } },
    }),
  });
  const origin = `http://127.0.0.1:${gateway.port}`;
  return {
    name: rescues ? 'Headgate, rescuing' : 'Headgate',
    routeOf: ({ scene }) => ({ origin, headers: bearer(key), model: scene.id, stream: scene.stream }),
    stop: () => gateway.stop(),
  };
}

/** What there is without a gateway: a proxy for each preferred upstream, and nothing behind it. */
export async function startBareProxies(all: readonly Tiers[]): Promise<RunningGateway> {
  const program = new URL('../bench/bare-proxy.ts', import.meta.url).pathname;
  const proxies = await Promise.all(
    all.map(async ({ scene, preferred }) => {
      const started = startPinned({ core: null, command: [process.execPath, program, preferred.origin] });
      const [line] = (await once(started.child.stdout ?? started.child, 'data')) as [Buffer];
      const port = /\d+/.exec(line.toString())?.[0] ?? '';
      return { id: scene.id, origin: `http://127.0.0.1:${port}`, started };
    }),
  );
  return {
    name: 'a bare proxy',
    routeOf: ({ scene }) => ({
      origin: proxies.find(({ id }) => id === scene.id)?.origin ?? '',
      headers: {},
      model: scene.id,
      stream: scene.stream,
    }),
    stop: async () => void (await Promise.all(proxies.map(({ started }) => started.stop()))),
  };
}

/**
 * LiteLLM's proxy: both upstreams are deployments of one model, by their `order`; two retries, which leave out what has failed, a
 * first byte within five seconds, and a fallback for prompts that are too long. `program`: the command of its package.
 */
export async function startLiteLlm(program: string, all: readonly Tiers[]): Promise<RunningGateway> {
  const key = 'sk-fault-bench';
  const deployment = (name: string, origin: string, order: number) => ({
    model_name: name,
    litellm_params: {
      ...{ model: 'openai/m', api_base: `${origin}/v1`, api_key: 'none' },
      ...{ order, stream_timeout: 5, timeout: 30 },
    },
  });
  const fallbacks = all.map(({ scene: { id } }) => ({ [id]: [`${id}-spare`] }));
  const config = {
    model_list: all.flatMap(({ scene: { id }, preferred, spare }) => [
      deployment(id, preferred.origin, 1),
      deployment(id, spare.origin, 2),
      deployment(`${id}-spare`, spare.origin, 1),
    ]),
    router_settings: { num_retries: 2, fallbacks, context_window_fallbacks: fallbacks },
    litellm_settings: { telemetry: false },
    general_settings: { master_key: key },
  };
  const port = await freePort();
  const command = (file: string) => [
    program,
    '--config',
    file,
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
  ];
  const started = await startServer('LiteLLM', port, '/health/liveliness', command, JSON.stringify(config));
  return {
    name: 'LiteLLM',
    routeOf: ({ scene }) => ({
      origin: started.origin,
      headers: bearer(key),
      model: scene.id,
      stream: scene.stream,
    }),
    stop: started.stop,
  };
}

/**
 * Portkey's gateway: a configuration with each call, a fallback from the first target to the second for every status that is no
 * success, each retried once, an answer's head within five seconds. `command`: its `start-server.js`, behind the
 * Node that it runs on.
 */
export async function startPortkey(command: string): Promise<RunningGateway> {
  const port = await freePort();
  const words = [...command.split(' '), '--headless', `--port=${port}`];
  // All that it must know comes with each call.
  const started = await startServer('Portkey', port, '/', () => words, '');
  const target = (origin: string) => ({
    provider: 'openai',
    api_key: 'none',
    custom_host: `${origin}/v1`,
    request_timeout: 5000,
    retry: { attempts: 1, on_status_codes: [429, 500, 502, 503, 504] },
  });
  return {
    name: 'Portkey',
    routeOf: ({ scene, preferred, spare }) => ({
      origin: started.origin,
      headers: {
        'x-portkey-config': JSON.stringify({
          strategy: { mode: 'fallback' },
          targets: [target(preferred.origin), target(spare.origin)],
        }),
      },
      model: scene.id,
      stream: scene.stream,
    }),
    stop: started.stop,
  };
}

/** One that runs already: its models are the scenes' ids, and its upstreams on the ports that `--ports` prints. */
export function runningGateway(origin: string, key: string): RunningGateway {
  return {
    name: origin,
    routeOf: ({ scene }) => ({ origin, headers: bearer(key), model: scene.id, stream: scene.stream }),
    stop: () => Promise.resolve(),
  };
}

function bearer(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const startTimeoutMs = 120_000;

/** A program of somebody else's, its configuration in a file, once it answers. */
async function startServer(
  name: string,
  port: number,
  path: string,
  commandFor: (file: string) => readonly string[],
  config: string,
): Promise<{ readonly origin: string; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'headgate-faults-'));
  const file = join(directory, 'config.yaml');
  await writeFile(file, config);
  const log = openSync(join(directory, 'log'), 'w');
  const started = startPinned({ core: null, command: commandFor(file), logFile: log });
  closeSync(log);
  const origin = `http://127.0.0.1:${port}`;
  const until = performance.now() + startTimeoutMs;
  while (!(await answers(`${origin}${path}`))) {
    if (performance.now() > until || started.child.exitCode !== null)
      throw new Error(`${name} did not start; its log is in ${directory}`);
    await setTimeout(500);
  }
  return {
    origin,
    async stop() {
      await started.stop();
      await rm(directory, { recursive: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}
