import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

const root = new URL('..', import.meta.url).pathname;

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      integrity: z.string().optional(),
      resolved: z.string().optional(),
      link: z.boolean().optional(),
      dev: z.boolean().optional(),
      optional: z.boolean().optional(),
      optionalDependencies: z.record(z.string(), z.string()).optional(),
    }),
  ),
});
type LockedPackages = z.infer<typeof lockFile>['packages'];

/** What a package finds under a name: the nearest one on the way up to the root, as Node looks for it. */
function found(packages: LockedPackages, path: string, name: string) {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const locked = packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`];
    if (locked !== undefined || folder === '') return locked;
  }
}

describe('the lock file', () => {
  const { packages } = lockFile.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  const installed = Object.entries(packages).filter(([path]) => path.includes('node_modules/'));

  // `npm ci` refuses a lock file that lacks one of them, on every platform.
  test('names the packages of every platform, each with its hash', () => {
    const asked = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).map((name) => ({ path, name })),
    );
    expect(asked.length).toBeGreaterThan(80);
    const missing = asked.filter(({ path, name }) => found(packages, path, name)?.integrity === undefined);
    expect(missing, 'choose versions whose platform packages are all published').toEqual([]);
  });

  test("has nothing optional that running needs but npm's Node, which a system with its own leaves out", () => {
    const names = Object.keys(packages['']?.optionalDependencies ?? {});
    const optional = installed.filter(([, { optional: is, dev }]) => is === true && dev !== true);
    expect(optional.map(([path]) => path)).toEqual(names.map((name) => `node_modules/${name}`).sort());
  });

  test('has a hash of everything that is installed, and no address', () => {
    const own = installed.filter(([, { link }]) => link === true);
    expect(own.map(([, { resolved }]) => resolved?.split('/')[0])).toEqual(own.map(() => 'packages'));
    const others = installed.filter(([, { link }]) => link !== true);
    expect(others.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
    expect(others.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });
});

interface Run {
  readonly status: number | null;
  readonly out: string;
  readonly error: string;
}

// npm gives its scripts to a shell that looks in this folder first.
test('the word that scripts begin with is one on Windows too, and hands on what follows', () => {
  expect(readFileSync(join(root, 'package.json'), 'utf8')).toContain('"exec node tools/run.mjs');
  expect(readFileSync(join(root, 'exec.cmd'), 'utf8').trimEnd().split('\n').at(-1)).toBe('@%*');
});

/** A clone with one package to run and one to test with, and an npm that writes down what it is asked for. */
interface Clone {
  readonly folder: string;
  run(...words: readonly string[]): Run;
  /** The same on a Node of one's choice. */
  runOn(node: string, ...words: readonly string[]): Run;
  /** Command lines that npm was given since the last look. */
  asked(): readonly string[];
}

const npm = `const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const words = process.argv.slice(2).join(' ');
appendFileSync('asked.txt', words + '\\n');
if (process.env.NPM_FAILS) process.exit(7);
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
for (const path of Object.keys(lock.packages))
  if (!path.includes('node_modules/') || (words.includes('--omit=dev') && lock.packages[path].dev)) delete lock.packages[path];
mkdirSync('node_modules/.bin', { recursive: true });
writeFileSync('node_modules/.package-lock.json', JSON.stringify(lock));`;

describe('a program of a fresh clone', () => {
  let clone: Clone;
  beforeEach(() => {
    clone = makeClone();
  });
  afterEach(() => rmSync(clone.folder, { recursive: true }));

  test('installs what running needs, once, whatever npm is configured to leave out', () => {
    expect(clone.run('program.mjs', 'a', '--b')).toMatchObject({ status: 0, out: 'ran a --b\n' });
    const [asked = '', ...more] = clone.asked();
    expect(more).toEqual([]);
    expect(asked).toContain('--omit=dev');
    expect(asked).toContain('--ignore-scripts');
    expect(clone.run('program.mjs')).toMatchObject({ status: 0, out: 'ran\n', error: '' });
    expect(clone.asked()).toEqual([]);
  });

  test("fetches npm's Node only where the system's is too old, also when that was once recent enough", () => {
    clone.run('program.mjs');
    expect(clone.asked().join()).toContain('--omit=optional');
    wantNode(clone.folder, '99.1.0');
    installNode(clone.folder, '[ "$1" = --version ] && echo v99.1.3 || echo "node $*"');
    expect(clone.run('program.mjs')).toMatchObject({ status: 0, out: 'node program.mjs\n' });
    expect(clone.asked().join()).toContain('--include=optional');
  });

  test("keeps npm's Node when it installs on it", () => {
    const node = join(clone.folder, 'node_modules/node-here/bin/node');
    mkdirSync(dirname(node), { recursive: true });
    copyFileSync(process.execPath, node);
    chmodSync(node, 0o755);
    expect(clone.runOn(node, 'program.mjs')).toMatchObject({ status: 0, out: 'ran\n' });
    expect(clone.asked().join()).toContain('--include=optional');
  });

  test('installs the rest for tests, and keeps it at the next start', () => {
    clone.run('program.mjs');
    clone.asked();
    clone.run('--all', 'program.mjs');
    expect(clone.asked().join()).toContain('--include=dev');
    clone.run('program.mjs');
    expect(clone.asked()).toEqual([]);
    lock(clone.folder, '2.0.0');
    clone.run('program.mjs');
    expect(clone.asked().join()).toContain('--include=dev');
  });

  test('does not run after an installation that failed, and tries again at the next start', () => {
    const failed = clone.run('NPM_FAILS', 'program.mjs');
    expect(failed).toMatchObject({ status: 1, out: '' });
    expect(failed.error).toMatch(/`npm install` failed/);
    expect(existsSync(join(clone.folder, 'node_modules/.package-lock.json'))).toBe(false);
    expect(clone.run('program.mjs')).toMatchObject({ status: 0, out: 'ran\n' });
    // What an upgrade that broke off has left of the packages is not what the list before it says.
    lock(clone.folder, '2.0.0');
    clone.run('NPM_FAILS', 'program.mjs');
    lock(clone.folder, '1.0.0');
    clone.asked();
    clone.run('program.mjs');
    expect(clone.asked()).toHaveLength(1);
  });

  test('runs on the Node that was installed when this one is too old, and ends as it ends', () => {
    wantNode(clone.folder, '99.1.0');
    installNode(clone.folder, '[ "$1" = --version ] && echo v99.1.3 || { echo "node $*"; exit 5; }');
    expect(clone.run('program.mjs', 'a')).toMatchObject({ status: 5, out: 'node program.mjs a\n' });
    // npm 10 leaves the program unlinked, and scripts of npm would go on with the system's.
    expect(existsSync(join(clone.folder, 'node_modules/.bin/node'))).toBe(true);
  });

  test('says in one line what to do when no Node that is recent enough runs here', () => {
    wantNode(clone.folder, '99.1.0');
    installNode(clone.folder, 'exit 127');
    const { status, error } = clone.run('program.mjs');
    expect(status).toBe(1);
    expect(error.trim().split('\n').at(-1)).toMatch(/no Node 99\.1\.0 .* Install Node 26 yourself/);
    expect(existsSync(join(clone.folder, 'node_modules/.bin/node'))).toBe(false);
    expect(existsSync(join(clone.folder, 'node_modules/.package-lock.json'))).toBe(false);
  });
});

function makeClone(): Clone {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-clone-'));
  mkdirSync(join(folder, 'tools'));
  for (const name of ['run.mjs', 'ensure-installed.mjs', 'ensure-console.mjs'])
    copyFileSync(join(root, 'tools', name), join(folder, 'tools', name));
  writeFileSync(join(folder, 'npm-cli.js'), npm);
  writeFileSync(join(folder, 'program.mjs'), 'console.log(["ran", ...process.argv.slice(2)].join(" "));');
  wantNode(folder, '20.0.0');
  lock(folder, '1.0.0');
  const runOn: Clone['runOn'] = (node, ...words) => {
    const fails = words[0] === 'NPM_FAILS';
    const { status, stdout, stderr } = spawnSync(node, ['tools/run.mjs', ...words.slice(fails ? 1 : 0)], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        NODE_ENV: 'production',
        npm_execpath: join(folder, 'npm-cli.js'),
        ...(fails ? { NPM_FAILS: '1' } : {}),
      },
    });
    return { status, out: stdout, error: stderr };
  };
  return {
    folder,
    runOn,
    run: (...words) => runOn(process.execPath, ...words),
    asked: () => {
      const log = join(folder, 'asked.txt');
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
      rmSync(log, { force: true });
      return lines;
    },
  };
}

function lock(folder: string, version: string): void {
  const packages = {
    '': {},
    'packages/own': {},
    'node_modules/own': { link: true },
    'node_modules/of-running': { version },
    'node_modules/vitest': { version, dev: true },
    'node_modules/of-another-platform': { version, optional: true },
  };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
}

function wantNode(folder: string, version: string): void {
  const manifest = {
    optionalDependencies: { 'node-elsewhere': version, 'node-here': version },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
}

/** A Node of npm's that does what the script says. */
function installNode(folder: string, script: string): void {
  const program = join(folder, 'node_modules/node-here/bin/node');
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
}
