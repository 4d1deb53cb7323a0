import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { settingRows } from '../packages/gateway/src/config/settings-table.ts';
import { alerts, metricFamilies } from '../tools/generate/metrics-docs.ts';
import { runCommand } from './support/process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const documents = globSync(['*.md', 'docs/*.md', 'docs/protocols/*.md', 'packages/*/README.md'], {
  cwd: root,
});
const pages = documents.map((path) => ({ path, text: read(path) }));

/** The code that headers come from. */
const sources = globSync('packages/{gateway,protocols}/src/**/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('.test.ts'))
  .map(read)
  .join('\n');

/** What stands in code, in a line or in blocks: each span or line by itself. */
function codeOf(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^ *```\w*\n([\s\S]*?)^ *```/gm)].flatMap(([, block = '']) =>
    block.split('\n'),
  );
  const spans = text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`([^`\n]+)`/g);
  return [...blocks, ...[...spans].map(([, span = '']) => span)];
}

const matches = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([whole, found]) => found ?? whole);

/** Commands by name, with the flags that each takes. */
let commands: ReadonlyMap<string, readonly string[]>;
const settings = settingRows().map(([, row]) => row);

beforeAll(async () => {
  const help = async (...words: string[]) =>
    (await runCommand([...words, '--help'], { dataDir: root })).stdout;
  const overview = await help();
  const names = matches(overview, /^ {2}([a-z]+(?: [a-z-]+)*)(?= |$)/gm).filter((name) => !/^\d/.test(name));
  commands = new Map(
    await Promise.all(
      names.map(
        async (name) => [name, matches(await help(...name.split(' ')), /--([a-z][a-z-]+)/g)] as const,
      ),
    ),
  );
});

describe.each(pages)('$path', ({ path, text }) => {
  const code = codeOf(text);

  test('leads to headings that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
    const missing = links.filter(([, target = '', anchor = '']) => {
      const page = target === '' ? path : join(dirname(path), target);
      return !existsSync(join(root, page)) || !anchorsOf(read(page)).includes(anchor);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  test('names commands that exist, with flags that they take', () => {
    expect(code.flatMap(wrongCommands)).toEqual([]);
  });

  test('names variables, settings and scripts that exist', () => {
    const variables = settings.map(({ environment }) => environment);
    const wrong = matches(text, /\bHEADGATE_[A-Z_]+\b/g).filter(
      (name) => !variables.includes(name) && !ofTests.test(name),
    );
    const yaml = settings.flatMap((row) => (row.yaml === null ? [] : [row.yaml]));
    const members = code.flatMap((line) => matches(line, /^(settings(?:\.\w+)+)$/g));
    const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts);
    const run = code.flatMap((line) => matches(line, /\bnpm run (?:--silent )?([a-z:-]+)/g));
    expect([
      ...wrong,
      ...members.filter(
        (member) => !yaml.some((known) => known === member || known.startsWith(`${member}.`)),
      ),
      ...run.filter((script) => !scripts.includes(script)),
    ]).toEqual([]);
  });

  test('names headers and alerts that exist', () => {
    const headers = matches(text, /\bx-headgate-[a-z]+(?:-[a-z]+)*/g);
    const kinds = [...matches(text, /kind="([a-z-]+)"/g), ...matches(text, /\balert `([a-z-]+)`/g)];
    expect([
      ...headers.filter((header) => !sources.includes(`'${header}`) && !sources.includes(` ${header}`)),
      ...kinds.filter((kind) => !(kind in alerts)),
    ]).toEqual([]);
  });

  test('names metrics that exist', async () => {
    const families = await metricFamilies();
    const names = new Set(
      families.flatMap(({ name, type }) =>
        type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
    const named = matches(
      text,
      /\b(?:headgate|process|nodejs)_[a-z0-9_]+(?:_total|_seconds|_bytes|_entries|_bucket|_sum|_count|_flight|_fds)\b/g,
    );
    expect(named.filter((name) => !names.has(name))).toEqual([]);
  });
});

/** Variables of our own tests, which CONTRIBUTING tells of. */
const ofTests = /^HEADGATE_(TEST|CRASH|FUZZ)_\w+$/;

function anchorsOf(markdown: string): readonly string[] {
  return matches(markdown, /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Commands in a line of code that are not there, and flags that its command does not take. */
function wrongCommands(line: string): readonly string[] {
  const alone = /^--(?:no-)?([a-z][a-z-]+)/.exec(line)?.[1];
  if (alone !== undefined) return isKnownFlag(alone) ? [] : [line];
  const words =
    /(?:^|[ (])headgate ((?:-- )?[a-z].*)/.exec(line)?.[1]?.replace(/^-- /, '').split(/\s+/) ?? [];
  if (words.length === 0 || words[0] === 'help') return [];
  const [first = '', second = ''] = words;
  const name = commands.has(`${first} ${second}`) ? `${first} ${second}` : first;
  const flags =
    commands.get(name) ?? commands.get([...commands.keys()].find((one) => one.startsWith(`${first} `)) ?? '');
  const isFamily = !commands.has(name) && flags !== undefined && !/^[a-z]+$/.test(second);
  if (flags === undefined || !(commands.has(name) || isFamily)) return [line];
  const asked = words.flatMap((word) => matches(word, /^\[?--(?:no-)?([a-z][a-z-]+)/g));
  return asked.every(
    // Some have a name that begins so, and turn off what no flag turns on.
    (flag) =>
      flags.includes(flag) ||
      flags.includes(`no-${flag}`) ||
      flag === 'help' ||
      settings.some((row) => row.flag === flag),
  )
    ? []
    : [line];
}

function isKnownFlag(flag: string): boolean {
  return (
    settings.some((row) => row.flag === flag) ||
    [...commands.values()].some((flags) => flags.includes(flag) || flags.includes(`no-${flag}`)) ||
    ofNpmScripts.includes(flag)
  );
}

/** Flags of the benchmark and of the simulator. */
const ofNpmScripts = [
  ...['quick', 'against', 'only', 'script', 'fixed'],
  ...['requests', 'seed', 'gateway', 'key', 'first-port', 'ports', 'litellm', 'portkey', 'write'],
];

test('a command, a flag, a metric and a heading that do not exist are noticed', () => {
  expect(wrongCommands('headgate keys lift')).toHaveLength(1);
  expect(wrongCommands('headgate keys list --loud')).toHaveLength(1);
  expect(wrongCommands('npm run --silent headgate keyz list')).toHaveLength(1);
  expect(wrongCommands('--loud')).toHaveLength(1);
  expect(wrongCommands('headgate keys list --json')).toEqual([]);
  expect(anchorsOf('## What to look at?')).toEqual(['what-to-look-at']);
  expect(codeOf('a `b c`\n```sh\nd\n```\n')).toEqual(['d', '', 'b c']);
});
