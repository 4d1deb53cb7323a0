import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claudeCode } from '../tools/agents/claude-code.ts';
import { codex } from '../tools/agents/codex.ts';
import { geminiCli } from '../tools/agents/gemini-cli.ts';
import { runCommand, type ServingProcess, serveHeadgate, temporaryDirectory } from './support/process.ts';

const page = readFileSync(new URL('../docs/callers.md', import.meta.url), 'utf8');
const root = fileURLToPath(new URL('..', import.meta.url));

interface Snippet {
  readonly language: string;
  readonly code: string;
  readonly heading: string;
  readonly line: number;
}

/** Blocks of code, each with the heading that it stands under. */
const snippets: readonly Snippet[] = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map((block) => {
  const [, language = '', code = ''] = block;
  const before = page.slice(0, block.index);
  const heading = /^## (.*)$/m.exec(before.slice(before.lastIndexOf('\n## ') + 1))?.[1] ?? '';
  return { language, code, heading, line: before.split('\n').length };
});

/** Those of one language that go to a gateway. Agents have tests of their own. */
const calls = (language: string): readonly Snippet[] =>
  snippets.filter((snippet) => snippet.language === language && snippet.heading !== 'Coding agents');

const folder = temporaryDirectory();
// Beside the packages that snippets import.
mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
const scripts = mkdtempSync(join(root, 'node_modules/.cache/headgate-snippets-'));
let serving: ServingProcess;

beforeAll(async () => {
  // Last on the path: it serves where the system has none.
  writeFileSync(join(scripts, 'curl'), standIn, { mode: 0o755 });
  serving = await serveHeadgate({ dataDir: folder.path });
});
afterAll(async () => {
  await serving[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
  rmSync(scripts, { recursive: true });
});

/** What a snippet finds in its environment: the key is of the platform that its heading names. */
function environmentFor({ heading }: Snippet): Readonly<Record<string, string>> {
  const { apiOrigin, keys } = serving.ready;
  const platform = (['messages', 'native'] as const).find((name) => heading.toLowerCase().startsWith(name));
  return { GATEWAY: apiOrigin, KEY: keys[platform ?? 'completions'] ?? '' };
}

test('has calls by curl and by Node for every platform', () => {
  expect(calls('sh').length).toBeGreaterThanOrEqual(6);
  expect(calls('js').map(({ heading }) => heading.split(':')[0])).toEqual([
    'Completions',
    'Messages',
    'Native',
  ]);
  expect(calls('py')).toHaveLength(3);
});

test.concurrent.each(calls('js'))('line $line: $heading, in Node', async (snippet) => {
  const script = join(scripts, `${snippet.line}.mjs`);
  writeFileSync(script, snippet.code);
  const env = { PATH: process.env['PATH'], ...environmentFor(snippet) };
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  expect(stdout).toMatch(/simulated/i);
});

/** Stands in for curl where there is none, with the few options that the page uses. */
const standIn = `#!${process.execPath}
const [headers, words] = [new Headers(), process.argv.slice(2)];
let [url, body, shown, hides] = ['', undefined, null, false];
for (let at = 0; at < words.length; at++) {
  if (words[at] === '-H') headers.append(...words[++at].split(/: (.*)/s, 2));
  else if (words[at] === '-d') body = words[++at];
  else if (words[at] === '-w') shown = /%header{(.*)}/.exec(words[++at])[1];
  else if (words[at] === '-o') hides = words[++at] === '/dev/null';
  else if (!words[at].startsWith('-')) url = words[at];
}
const answer = await fetch(url, { method: body === undefined ? 'GET' : 'POST', headers, body });
const text = await answer.text();
process.stdout.write((hides ? '' : text) + (shown === null ? '' : answer.headers.get(shown)));
`;

test.concurrent.each(calls('sh'))('line $line: $heading, by curl', async (snippet) => {
  const env = { PATH: [process.env['PATH'], scripts].join(delimiter), ...environmentFor(snippet) };
  const { stdout } = await promisify(execFile)('sh', ['-euc', snippet.code], { env });
  expect(stdout).toMatch(/simulated|"object":"usage"/i);
  expect(stdout).not.toContain('"error":{');
});

test("README's look at a route is in the words of the command", async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, key = '', block = ''] =
    /\$ headgate route explain --key (\S+) .*\n([\s\S]*?)```/.exec(readme) ?? [];
  const { stdout: keys } = await runCommand(['keys', 'list'], { dataDir: folder.path });
  const own = /demo-completions-\w+/.exec(keys)?.[0] ?? '';
  const asked = ['route', 'explain', '--key', own, '--model', 'demo-fast'];
  const { stdout } = await runCommand(asked, { dataDir: folder.path });
  const told = stdout.split('\n').map((line) => line.trim());
  const constant = block
    .replaceAll(key, own)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !/^\d|^goes to|^As a gateway|^$/.test(line));
  expect(constant.filter((line) => !told.includes(line))).toEqual([]);
  expect(constant.length).toBeGreaterThanOrEqual(4);
});

test('sets up agents as those that are tested are set up', () => {
  const site = { apiOrigin: 'https://api.example.com', key: 'KEY', model: 'MODEL' };
  const task = { prompt: '', folder: '', copyFile: '', copyText: '', farewell: '' };
  const agents = page.slice(page.indexOf('## Coding agents'), page.indexOf('## Headers you may send'));
  const quiet = /RETRIES|DISABLE|TRUST/;
  for (const agent of [claudeCode, geminiCli]) {
    const { environment } = agent.launch(task, site);
    for (const name of Object.keys(environment)) if (!quiet.test(name)) expect(agents).toContain(`${name}=`);
  }
  const [toml = ''] = snippets.filter(({ language }) => language === 'toml').map(({ code }) => code);
  const written = Object.values(codex.launch(task, site).homeFiles).join('\n');
  const lines = toml.split('\n').filter((line) => line !== '' && !line.startsWith('env_key'));
  expect(lines.filter((line) => !written.includes(line))).toEqual([]);
  expect(lines.length).toBeGreaterThan(4);
});
