import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Task } from './agent.ts';

/** A place of its own for one run of an agent: a home, a folder for temporary files and a repository to work in. */
export interface Site {
  readonly root: string;
  readonly home: string;
  readonly temporary: string;
  /** The repository. */
  readonly folder: string;
  /** The words of the note in the repository: only who read it knows. */
  readonly secret: string;
  readonly task: Task;
}

export function openSite(): Site {
  const root = mkdtempSync(join(tmpdir(), 'headgate-agents-'));
  const [home, temporary, folder] = ['home', 'tmp', 'work'].map((name) => join(root, name));
  if (home === undefined || temporary === undefined || folder === undefined) throw new Error('no folders');
  for (const path of [home, temporary, folder]) mkdirSync(path);
  const secret = unguessable('note');
  const site = { root, home, temporary, folder, secret, task: taskIn(folder) };
  writeFileSync(join(folder, 'note.txt'), `${secret}\n`);
  writeFileSync(join(folder, 'picture.png'), picture);
  git(site, ['init', '--quiet']);
  git(site, ['add', '.']);
  git(site, [
    '-c',
    'user.name=Tester',
    '-c',
    'user.email=tester@example.com',
    'commit',
    '--quiet',
    '-m',
    'A note',
  ]);
  return site;
}

export function closeSite({ root }: Site): void {
  rmSync(root, { recursive: true, force: true });
}

/** Eight by eight pixels of red. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC',
  'base64',
);

function taskIn(folder: string): Task {
  return {
    prompt: 'Read note.txt, look at picture.png, write copy.txt, and say what has changed.',
    folder,
    copyFile: join(folder, 'copy.txt'),
    copyText: unguessable('copy'),
    farewell: `The work is done: ${unguessable('farewell')}.`,
  };
}

function unguessable(name: string): string {
  return `${name}-${randomBytes(8).toString('hex')}`;
}

/** The discard port, on which nobody listens. */
const closedPort = 9;
const closedProxy = `http://127.0.0.1:${closedPort}`;
const loopback = '127.0.0.1,localhost';

/**
 * All that an agent sees of this process's surroundings: where programs are, its own folders, and no way off this
 * machine. Agents phone home; whatever they take for a proxy is closed.
 */
export function siteEnvironment({ home, temporary }: Site): Readonly<Record<string, string>> {
  return {
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    TMPDIR: temporary,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    DO_NOT_TRACK: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    ...bothCases({
      HTTP_PROXY: closedProxy,
      HTTPS_PROXY: closedProxy,
      ALL_PROXY: closedProxy,
      NO_PROXY: loopback,
    }),
    npm_config_proxy: closedProxy,
    npm_config_https_proxy: closedProxy,
    npm_config_registry: closedProxy,
    npm_config_update_notifier: 'false',
  };
}

/** Throws when the proxy that agents are given is not closed. */
export async function checkProxyIsClosed(): Promise<void> {
  const socket = connect(closedPort, '127.0.0.1');
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  socket.destroy();
  if (isOpen)
    throw new Error(`Something listens on port ${closedPort}, which has to be closed for this test.`);
}

function bothCases(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const lower = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...variables, ...Object.fromEntries(lower) };
}

function git(site: Site, words: readonly string[]): void {
  const run = spawnSync('git', words, { cwd: site.folder, env: siteEnvironment(site), encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`git ${words[0]}: ${run.error?.message ?? run.stderr}`);
}
