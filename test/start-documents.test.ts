import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runHeadgate, temporaryDirectory } from './support/process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const documents = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md'], { cwd: root });

test("the README's configuration is one that doctor finds nothing wrong with", async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const example = /```yaml\n(.*?)```/s.exec(readme)?.[1] ?? '';
  using directory = temporaryDirectory();
  writeFileSync(join(directory.path, 'headgate.yaml'), example);
  const key = await runHeadgate(['keys', 'generate'], { dataDir: directory.path });
  const environment = {
    OPENAI_API_KEY: 'one',
    OPENROUTER_API_KEY: 'another',
    TEAM_KEY: key.stdout.trim(),
    HEADGATE_API_PORT: '0',
    HEADGATE_CONSOLE_PORT: '0',
  };
  const doctor = await runHeadgate(['doctor', '--json'], { dataDir: directory.path, environment });
  expect(doctor.stdout).not.toContain('"state":"bad"');
  expect(doctor.code).toBe(0);
});

test.each(documents)('%s leads only to files that exist', (document) => {
  const text = readFileSync(join(root, document), 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => target);
  const missing = links.filter((target) => !existsSync(join(root, dirname(document), target)));
  expect(missing).toEqual([]);
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
