// `npm run test:agents`: real coding agents work through Headgate, on the simulator, in every protocol.
import type { Agent } from './agent.ts';
import { claudeCode } from './claude-code.ts';
import { codex, codexPatching, codexSignedIn } from './codex.ts';
import { geminiCli } from './gemini-cli.ts';
import { checkVersion, installAgents } from './installed-agents.ts';
import { type Lane, runLane } from './lane.ts';
import { checkProxyIsClosed, closeSite, openSite } from './site.ts';
import { upstreams } from './upstreams.ts';

const agents: readonly Agent[] = [claudeCode, codex, codexPatching, codexSignedIn, geminiCli];
/** Every protocol of a channel, and the way from an agent's own to each of the others and back. */
function lanesOf(agent: Agent): readonly Lane[] {
  const others = upstreams.filter((upstream) => upstream !== agent.surface);
  return [
    ...upstreams.map((upstream) => ({ agent, upstream, next: null })),
    ...others.map((other) => ({ agent, upstream: agent.surface, next: other })),
    ...others.map((other) => ({ agent, upstream: other, next: agent.surface })),
  ];
}

/** Words of the command line choose lanes: those whose name holds all of them. */
function chosenLanes(words: readonly string[]): readonly Lane[] {
  return agents.flatMap(lanesOf).filter((lane) => words.every((word) => nameOf(lane).includes(word)));
}

function nameOf({ agent, upstream, next }: Lane): string {
  return `${agent.id} → ${upstream}${next === null ? '' : `, then ${next}`}`;
}

async function checkVersions(lanes: readonly Lane[]): Promise<void> {
  const site = openSite();
  const inUse = new Map(lanes.map(({ agent }) => [agent.package, agent]));
  for (const agent of inUse.values()) console.log(`${agent.package} ${await checkVersion(agent, site)}`);
  closeSite(site);
}

async function report(lane: Lane): Promise<boolean> {
  const { problems, calls, durationMs, transcript } = await runLane(lane);
  const isOk = problems.length === 0;
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  console.log(
    `${isOk ? 'ok    ' : 'FAILED'} ${nameOf(lane).padEnd(52)} ${seconds.padStart(7)} ${calls} calls`,
  );
  for (const problem of problems) console.log(`         ${problem}`);
  if (transcript !== null) console.log(`         ${transcript}`);
  return isOk;
}

/** Throws when the agents cannot be had. */
async function runAll(words: readonly string[]): Promise<void> {
  const lanes = chosenLanes(words);
  if (lanes.length === 0) throw new Error('No agent and protocol has such a name.');
  await checkProxyIsClosed();
  installAgents();
  await checkVersions(lanes);
  const results: boolean[] = [];
  for (const lane of lanes) results.push(await report(lane));
  const failed = results.filter((isOk) => !isOk).length;
  console.log(failed === 0 ? `All ${lanes.length} did their work.` : `${failed} of ${lanes.length} failed.`);
  if (failed > 0) process.exitCode = 1;
}

try {
  await runAll(process.argv.slice(2));
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 1;
}
