import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Agent } from './agent.ts';
import { runInGroup } from './process-group.ts';
import { type Site, siteEnvironment } from './site.ts';

const manifestFile = fileURLToPath(new URL('package.json', import.meta.url));
/** Ignored by git. */
const folder = fileURLToPath(new URL('../../.agents', import.meta.url));
/** Says what is installed. */
const stamp = join(folder, '.installed');

const installTimeoutMs = 600_000;
const versionTimeoutMs = 60_000;

const manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

export function programOf(agent: Agent): string {
  return join(folder, 'node_modules', agent.package, agent.program);
}

/**
 * Installs the pinned agents unless they are. Throws with npm's words when it cannot. No install script is run: the
 * programs find the binary of their platform without.
 */
export function installAgents(): void {
  const wanted = createHash('sha256')
    .update(`${process.platform} ${process.arch} ${readFileSync(manifestFile, 'utf8')}`)
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.log('Installing the agents (once; about 900 MB) …');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  copyFileSync(manifestFile, join(folder, 'package.json'));
  const run = spawnSync('npm', ['install', ...installOptions], {
    cwd: folder,
    encoding: 'utf8',
    timeout: installTimeoutMs,
  });
  if (run.status !== 0) throw new Error(`The agents could not be installed:\n${run.stderr}`);
  writeFileSync(stamp, wanted);
}

const installOptions = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-package-lock',
  '--loglevel=error',
];

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
  rmSync(stamp);
  throw new Error(
    `${agent.package} ${pinned} does not run on ${process.platform}-${process.arch}; ` +
      `the registry may lack its binary for it:\n${run.stdout}${run.stderr}`,
  );
}
