// `npm run fault-bench`: what a gateway's callers get while its preferred upstream fails, in every way there is.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  type RunningGateway,
  runningGateway,
  startBareProxies,
  startHeadgate,
  startLiteLlm,
  startPortkey,
} from './gateways.ts';
import { document, type Standing, table } from './report.ts';
import { type Figures, type Pace, playScene } from './run.ts';
import { scenes } from './scenes.ts';
import { startUpstreams, type Upstreams } from './upstreams.ts';

const { values: options } = parseArgs({
  options: {
    /** One that runs already. */
    gateway: { type: 'string' },
    key: { type: 'string', default: '' },
    'first-port': { type: 'string', default: '0' },
    /** Prints the models and upstreams that such a gateway must have, and ends. */
    ports: { type: 'boolean', default: false },
    /** Commands of others, wherever they were installed: `litellm`, and `node …/@portkey-ai/gateway/build/start-server.js`. */
    litellm: { type: 'string' },
    portkey: { type: 'string' },
    /** Ids of scenes, separated by commas. */
    only: { type: 'string' },
    /** A second of each fault, and no long recovery. */
    quick: { type: 'boolean', default: false },
    /** Writes docs/fault-benchmark.md. */
    write: { type: 'boolean', default: false },
  },
});

const pace: Pace = options.quick
  ? { callsPerSecond: 8, warmUpCalls: 2, faultMs: 1000, recoveryMsMax: 10_000 }
  : { callsPerSecond: 8, warmUpCalls: 5, faultMs: 4000, recoveryMsMax: 20_000 };

const chosen = scenes.filter(({ id }) => options.only?.split(',').includes(id) ?? true);

function printPorts(firstPort: number): void {
  for (const [place, { id }] of chosen.entries())
    console.log(
      `model ${id}: preferred http://127.0.0.1:${firstPort + 2 * place}/v1, behind it http://127.0.0.1:${firstPort + 2 * place + 1}/v1`,
    );
}

/** Scenes have nothing in common but the gateway. */
const scenesAtOnce = 3;

function byScene({ scene: a }: Figures, { scene: b }: Figures): number {
  return scenes.indexOf(a) - scenes.indexOf(b);
}

type Start = (upstreams: Upstreams) => Promise<RunningGateway>;

function starts(): readonly Start[] {
  const { gateway, key, litellm, portkey } = options;
  if (gateway !== undefined) return [() => Promise.resolve(runningGateway(gateway, key))];
  return [
    ({ tiers }) => startHeadgate(tiers, 'plain'),
    ({ tiers }) => startHeadgate(tiers, 'rescuing'),
    ...(litellm === undefined ? [] : [({ tiers }: Upstreams) => startLiteLlm(litellm, tiers)]),
    ...(portkey === undefined ? [] : [() => startPortkey(portkey)]),
    ({ tiers }) => startBareProxies(tiers),
  ];
}

/** Upstreams of its own for each, so that nobody's late requests are counted for another. */
async function standingOf(start: Start): Promise<Standing> {
  const upstreams = await startUpstreams(chosen, Number(options['first-port']));
  try {
    const gateway = await start(upstreams);
    try {
      const figures: Figures[] = [];
      const waiting = upstreams.tiers.values();
      const play = async () => {
        for (const tiers of waiting) {
          console.error(`fault bench: ${gateway.name}, ${tiers.scene.title} …`);
          figures.push(await playScene(gateway, tiers, pace));
        }
      };
      await Promise.all(Array.from({ length: scenesAtOnce }, play));
      return { gateway: gateway.name, figures: figures.toSorted(byScene) };
    } finally {
      await gateway.stop();
    }
  } finally {
    await upstreams.close();
  }
}

/** Each gateway with its version, as its package states it. */
function versions(): readonly string[] {
  const own = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  const { litellm, portkey } = options;
  return [
    `Headgate ${own}: nothing is said but each channel's priority`,
    'Headgate, rescuing: the same, with `rescue: continue` for its group and `timeouts.stall` 5 s',
    ...(litellm === undefined
      ? []
      : [
          `LiteLLM ${litellmVersion(litellm)}: two deployments by \`order\`, two retries, \`fallbacks\` and \`context_window_fallbacks\` to the second, \`stream_timeout\` 5 s`,
        ]),
    ...(portkey === undefined
      ? []
      : [
          `Portkey ${portkeyVersion(portkey)}: strategy \`fallback\`, a retry on 429 and 5xx, \`request_timeout\` 5 s; with \`@hono/node-server\` 1.14.1, as every stream fails with later ones (issue 1389 of its repository)`,
        ]),
    'a bare proxy on `node:http` and undici, to the preferred upstream alone: what there is without a gateway',
  ];
}

function litellmVersion(program: string): string {
  const told = execFileSync(program, ['--version'], { encoding: 'utf8' });
  return /\d+\.\d+\.\d+\S*/.exec(told)?.[0] ?? '';
}

function portkeyVersion(command: string): string {
  const program = command.split(' ').at(-1) ?? '';
  const { version } = JSON.parse(readFileSync(new URL('../package.json', `file://${program}`), 'utf8')) as {
    version: string;
  };
  return version;
}

async function main(): Promise<void> {
  if (options.ports) return printPorts(Number(options['first-port']));
  // All at once: what else the machine does is the same for each of them.
  const standings = await Promise.all(starts().map(standingOf));
  console.log(table(standings));
  const command = 'npm run fault-bench -- --litellm COMMAND --portkey START-SERVER --write';
  if (options.write)
    writeFileSync(
      new URL('../../docs/fault-benchmark.md', import.meta.url),
      document(standings, pace, command, versions()),
    );
}

await main();
