import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Simulator, startSimulator } from '@headgate/simulator';
import { openTestGateway, type TestGateway } from '../../test/support/gateway.ts';
import type { Agent } from './agent.ts';
import { programOf } from './installed-agents.ts';
import {
  answersOf,
  type Model,
  problemsOfLedger,
  problemsOfModels,
  problemsOfRun,
  textOf,
} from './lane-problems.ts';
import { type GroupResult, runInGroup } from './process-group.ts';
import { closeSite, openSite, type Site, siteEnvironment } from './site.ts';
import { type Upstream, upstreamPaths } from './upstreams.ts';

/** An agent, and what the channel of its model speaks. */
export interface Lane {
  readonly agent: Agent;
  readonly upstream: Upstream;
  /** The protocol of the channel to which the conversation moves after its first answer; null when it stays. */
  readonly next: Upstream | null;
}

export interface LaneResult {
  /** The mistakes, in words; none when the agent did its work. */
  readonly problems: readonly string[];
  /** Calls of the model that were answered well. */
  readonly calls: number;
  readonly durationMs: number;
  /** The file that tells what happened, kept when something is wrong. */
  readonly transcript: string | null;
}

/** Ten times what the slowest one takes on two idle cores. */
const agentTimeoutMs = 60_000;

/** Lets the agent do its work through a gateway of its own, with simulators as its model. */
export async function runLane({ agent, upstream, next }: Lane): Promise<LaneResult> {
  const site = openSite();
  await using opened = new AsyncDisposableStack();
  const models: Model[] = [];
  for (const spoken of next === null ? [upstream] : [upstream, next]) {
    const simulator = await startSimulator({ script: scriptOf(agent, site, spoken) });
    models.push({ upstream: spoken, simulator: opened.adopt(simulator, (it) => it.close()) });
  }
  const channels = models.map((model, index) => channelOf(agent, model, index));
  const gateway = opened.use(await openTestGateway({ channels, reasoning: [agent.model] }));
  if (next !== null) for (const { simulator } of models.slice(0, 1)) void failAfterFirstAnswer(simulator);
  const run = await runAgent(agent, site, gateway);
  const calls = callsOf(models);
  const problems = new Set([
    ...problemsOfRun(agent, site, run),
    ...problemsOfModels(models, site),
    ...(await problemsOfLedger(gateway, calls)),
  ]);
  const transcript = problems.size === 0 ? null : writeTranscript(site, run, models);
  if (transcript === null) closeSite(site);
  return { problems: [...problems], calls, durationMs: run.durationMs, transcript };
}

/** Reasoning comes with every turn, so that its signatures make the way back, too. */
function scriptOf(agent: Agent, { task }: Site, upstream: Upstream): string {
  return `reasoning=6,steps=${encodeURIComponent(JSON.stringify(agent.script(task, upstream)))}`;
}

function channelOf(agent: Agent, { upstream, simulator }: Model, index: number) {
  return {
    id: `model-${index}`,
    origin: simulator.origin,
    models: { [agent.model]: 'sim-agent' },
    protocols: { [upstream]: upstreamPaths[upstream] },
  };
}

/** Never resolves when nobody calls. */
async function failAfterFirstAnswer(simulator: Simulator): Promise<void> {
  await simulator.until(({ outcome }) => outcome === 'answered');
  simulator.control.setScript('fault=503');
}

/** A model that was left has answered once, whatever it was asked after that. */
function callsOf(models: readonly Model[]): number {
  const counts = models.map((model) => answersOf(model).length);
  return counts.reduce(
    (sum, count, index) => sum + (index === models.length - 1 ? count : Math.min(count, 1)),
    0,
  );
}

async function runAgent(agent: Agent, site: Site, gateway: TestGateway): Promise<GroupResult> {
  const connection = { apiOrigin: gateway.apiOrigin, key: gateway.keys[agent.platform], model: agent.model };
  const launch = agent.launch(site.task, connection);
  for (const [path, text] of Object.entries(launch.homeFiles)) writeHomeFile(join(site.home, path), text);
  return runInGroup([programOf(agent), ...launch.options], {
    folder: site.folder,
    environment: { ...siteEnvironment(site), ...launch.environment },
    timeoutMs: agentTimeoutMs,
  });
}

function writeHomeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function writeTranscript(site: Site, run: GroupResult, models: readonly Model[]): string {
  const file = join(site.root, 'transcript.txt');
  const requests = models.flatMap(({ simulator }) => simulator.requests);
  const parts = [
    `# exit code\n${run.code}`,
    `# standard output\n${run.stdout}`,
    `# standard error\n${run.stderr}`,
    ...requests.map((request) => `# to the model: ${request.method} ${request.target}\n${textOf(request)}`),
  ];
  writeFileSync(file, parts.join('\n\n'));
  return file;
}
