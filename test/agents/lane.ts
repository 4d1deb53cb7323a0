import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type SimulatedRequest, type Simulator, startSimulator } from '@headgate/simulator';
import { openTestGateway, type TestGateway } from '../support/gateway.ts';
import type { Agent } from './agent.ts';
import { programOf } from './installed-agents.ts';
import { type GroupResult, runInGroup } from './process-group.ts';
import { closeSite, openSite, type Site, siteEnvironment } from './site.ts';

/** An agent, and what the only channel of its model speaks. */
export interface Lane {
  readonly agent: Agent;
  readonly upstream: keyof typeof paths;
}

export interface LaneResult {
  /** What is wrong, in words; nothing when the agent did its work. */
  readonly problems: readonly string[];
  /** Calls of the model, as the upstream counted them. */
  readonly calls: number;
  readonly durationMs: number;
  /** The file that tells what happened, kept when something is wrong. */
  readonly transcript: string | null;
}

/** Twenty times what they take on two idle cores. */
const agentTimeoutMs = 60_000;

/** Lets the agent do its work through a gateway of its own, with the simulator as its model. */
export async function runLane(lane: Lane): Promise<LaneResult> {
  const site = openSite();
  await using opened = new AsyncDisposableStack();
  const simulator = opened.adopt(await startSimulator({ script: scriptOf(lane, site) }), (it) => it.close());
  const channels = [channelOf(lane, simulator)];
  const gateway = opened.use(await openTestGateway({ channels, reasoning: [lane.agent.model] }));
  const run = await runAgent(lane, site, gateway);
  const problems = new Set([
    ...problemsOfRun(lane, site, run),
    ...problemsOfModel(lane, site, simulator.requests),
    ...(await problemsOfLedger(gateway, simulator.requestCount)),
  ]);
  const transcript = problems.size === 0 ? null : writeTranscript(site, run, simulator.requests);
  if (transcript === null) closeSite(site);
  return { problems: [...problems], calls: simulator.requestCount, durationMs: run.durationMs, transcript };
}

/** Reasoning comes with every turn, so that its signatures make the way back, too. */
function scriptOf({ agent, upstream }: Lane, { task }: Site): string {
  return `reasoning=6,steps=${encodeURIComponent(JSON.stringify(agent.script(task, upstream)))}`;
}

/** Under the base URL, which ends in `/v1`. */
const paths = {
  'chat-completions': '/chat/completions',
  responses: '/responses',
  messages: '/messages',
  'generate-content': '/models/{model}:{action}',
} as const;

function channelOf({ agent, upstream }: Lane, { origin }: Simulator) {
  return {
    id: 'model',
    origin,
    models: { [agent.model]: 'sim-agent' },
    protocols: { [upstream]: paths[upstream] },
  };
}

async function runAgent({ agent }: Lane, site: Site, gateway: TestGateway): Promise<GroupResult> {
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

function problemsOfRun({ agent }: Lane, { task }: Site, run: GroupResult): readonly string[] {
  if (run.isTimedOut) return [`was not done after ${agentTimeoutMs / 1000} s`];
  if (run.code !== 0) return [`ended with code ${run.code}`];
  const said = agent.finalText(run.stdout);
  return [
    ...(said === task.farewell ? [] : [`said ${JSON.stringify(said)} in the end`]),
    ...(copied(task.copyFile) === task.copyText ? [] : ['did not write copy.txt as it was told']),
  ];
}

/** What the file holds without its line end, or null when there is none. */
function copied(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch {
    return null;
  }
}

/** How everything begins that the simulator seals; null where the protocol has nothing sealed. */
const seals = {
  'chat-completions': null,
  responses: 'gAAAAAsimulatedWHOLE',
  messages: 'c2ltdWxhdGVk',
  'generate-content': 'c2ltdWxhdGVk',
} as const;

/** The last call must tell the model what the tools found, and give it back what it has sealed. */
function problemsOfModel(
  { upstream }: Lane,
  { secret }: Site,
  requests: readonly SimulatedRequest[],
): readonly string[] {
  const last = textOf(requests.at(-1));
  const seal = seals[upstream];
  const isSealed = seal === null || last.includes(seal);
  return [
    ...(last.includes(secret) ? [] : ['did not tell the model what is in the note']),
    ...(isSealed ? [] : ['did not give the model back what it had sealed']),
    ...requests.flatMap(({ outcome }) =>
      outcome === 'answered' ? [] : [`a call of the model is ${outcome}`],
    ),
  ];
}

function textOf(request: SimulatedRequest | undefined): string {
  return Buffer.from(request?.body ?? '').toString();
}

/** Every call of the caller is one of the upstream, ended well and paid for. */
async function problemsOfLedger({ store }: TestGateway, calls: number): Promise<readonly string[]> {
  await store.ledger.flush();
  const entries = await Array.fromAsync(store.exportEntries({}));
  const bad = entries.filter(({ status, chargeNanoUsd }) => status !== 'complete' || chargeNanoUsd === 0n);
  return [
    ...(entries.length === calls ? [] : [`${calls} calls of the model have ${entries.length} entries`]),
    ...bad.map(({ status, unbilledReason }) => `a call is ${status} in the ledger: ${unbilledReason}`),
  ];
}

function writeTranscript(site: Site, run: GroupResult, requests: readonly SimulatedRequest[]): string {
  const file = join(site.root, 'transcript.txt');
  const parts = [
    `# exit code\n${run.code}`,
    `# standard output\n${run.stdout}`,
    `# standard error\n${run.stderr}`,
    ...requests.map((request) => `# to the model: ${request.method} ${request.target}\n${textOf(request)}`),
  ];
  writeFileSync(file, parts.join('\n\n'));
  return file;
}
