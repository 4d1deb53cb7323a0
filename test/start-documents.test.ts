import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { generateKey } from '../packages/gateway/src/admin/keys.ts';
import { runCommand, temporaryDirectory } from './support/process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const documents = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md'], { cwd: root });

const [readme = ''] = configurationsOf('README.md');
const recipes = configurationsOf('docs/recipes.md');

// Recipes say what is added to the README's file.
test.each([readme, ...recipes])('doctor finds nothing wrong with the configuration %#', async (text) => {
  using directory = temporaryDirectory();
  const mounted = text.replaceAll('/run/secrets', directory.path);
  for (const [file] of mounted.matchAll(new RegExp(`${directory.path}/\\w+`, 'g')))
    writeFileSync(file, 'one');
  writeFileSync(join(directory.path, 'headgate.yaml'), stringify(together(readme, mounted)));
  const environment: Record<string, string> = { HEADGATE_API_PORT: '0', HEADGATE_CONSOLE_PORT: '0' };
  for (const [, name = ''] of `${readme}${text}`.matchAll(/environment: (\w+)/g))
    environment[name] = /TEAM|RESEARCH/.test(name) ? generateKey() : 'one';
  for (const name of ['OPENAI', 'OPENROUTER', 'DEEPSEEK']) environment[`${name}_API_KEY`] = 'one';
  // Its credentials are made up.
  const words = ['doctor', '--no-network', '--json'];
  const doctor = await runCommand(words, { dataDir: directory.path, environment });
  expect(doctor.stdout).not.toContain('"state":"bad"');
  expect(doctor.stderr).toBe('');
  expect(doctor.code).toBe(0);
});

function configurationsOf(document: string): readonly string[] {
  const text = readFileSync(join(root, document), 'utf8');
  return [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, block = '']) => block);
}

/** One configuration with the sections of another added. */
function together(one: string, other: string): object {
  const [sections, added] = [one, other].map((text) =>
    z.record(z.string(), z.looseObject({})).parse(parse(text)),
  );
  return Object.fromEntries(
    Object.keys({ ...sections, ...added }).map((name) => [name, { ...sections?.[name], ...added?.[name] }]),
  );
}

test.each(documents)('%s leads only to files that exist', (document) => {
  const text = readFileSync(join(root, document), 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => target);
  const missing = links.filter((target) => !existsSync(join(root, dirname(document), target)));
  expect(missing).toEqual([]);
});

test('the catalogue holds what the CHANGELOG promises', () => {
  const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const told = (words: RegExp) => Number(words.exec(changes)?.[1]?.replace(',', ''));
  const entries = (folder: string) =>
    globSync(`catalogue/${folder}/*.json`, { cwd: root }).flatMap((file) => {
      const { models } = z
        .object({ models: z.looseObject({}) })
        .parse(JSON.parse(readFileSync(join(root, file), 'utf8')));
      return Object.keys(models);
    }).length;
  expect(globSync('catalogue/providers/*.json', { cwd: root }).length).toBeGreaterThan(
    told(/More than (\d+) providers/),
  );
  expect(entries('models') / told(/is known of some ([\d,]+)/)).toBeCloseTo(1, 1);
  expect(entries('prices') / told(/prices of some ([\d,]+)/)).toBeCloseTo(1, 1);
});

test('every line of the threat model names a test that exists', () => {
  const model = readFileSync(join(root, 'docs/threat-model.md'), 'utf8');
  const rows = model.split('\n').filter((line) => /^\| (?!What|---)/.test(line));
  const wrong = rows.filter((row) => {
    const [, file = '', name = ''] = /\| `([\w./-]+)`: "(.+)" \|$/.exec(row) ?? [];
    return (
      !existsSync(join(root, file)) || file === '' || !readFileSync(join(root, file), 'utf8').includes(name)
    );
  });
  expect(wrong).toEqual([]);
  expect(rows.length).toBeGreaterThan(20);
});

test('the map of the code names only what is there, and fits 200 lines', () => {
  const map = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const paths = [...map.matchAll(/`((?:packages|catalogue|test|tools)\/[\w./-]*)`/g)].map(
    ([, path = '']) => path,
  );
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(paths.length).toBeGreaterThan(5);
  expect(map.split('\n').length).toBeLessThanOrEqual(200);
});
