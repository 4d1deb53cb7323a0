import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { forgetPinned, installPinned, type PinnedPackages } from '../harness/pinned-packages.ts';
import type { Agent } from './agent.ts';
import { runInGroup } from './process-group.ts';
import { type Site, siteEnvironment } from './site.ts';

const manifestFile = fileURLToPath(new URL('package.json', import.meta.url));
const folder = fileURLToPath(new URL('../../.agents', import.meta.url));
const agents: PinnedPackages = {
  ...{ manifestFile, folder },
  notice: 'Installing the agents (once; about 900 MB) …',
};
const versionTimeoutMs = 60_000;

const manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

export function programOf(agent: Agent): string {
  return join(folder, 'node_modules', agent.package, agent.program);
}

/** Installs the pinned agents unless they are: the programs find the binary of their platform without an install script. */
export function installAgents(): void {
  installPinned(agents);
}

/**
 * The version an agent tells of itself. Throws when it does not run or is not the pinned one: npm takes a binary that
 * the registry lacks for this platform as optional, and says nothing.
 */
export async function checkVersion(agent: Agent, site: Site): Promise<string> {
  const pinned = manifest.parse(JSON.parse(readFileSync(manifestFile, 'utf8'))).dependencies[agent.package];
  const run = await runInGroup([programOf(agent), '--version'], {
    folder: site.folder,
    environment: siteEnvironment(site),
    timeoutMs: versionTimeoutMs,
  });
  if (pinned !== undefined && run.code === 0 && run.stdout.includes(pinned)) return pinned;
  // Whatever is missing, the next run asks the registry again.
  forgetPinned(agents);
  throw new Error(
    `${agent.package} ${pinned} does not run on ${process.platform}-${process.arch}; ` +
      `the registry may lack its binary for it:\n${run.stdout}${run.stderr}`,
  );
}
