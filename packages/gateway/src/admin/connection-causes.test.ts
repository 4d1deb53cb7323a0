import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectionCauses } from './connection-causes.ts';

const readText = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

test('docs/administration.md has every cause, with its remedy', () => {
  const rows = Object.entries(connectionCauses).map(
    ([cause, { words, fix }]) => `| \`${cause}\` | ${words} | ${fix} |`,
  );
  expect(readText('docs/administration.md')).toContain(rows.join('\n'));
});

test('the console has the words of every cause', () => {
  const texts = readText('packages/console/src/pages/channels/cause-texts.ts');
  for (const { words, fix } of Object.values(connectionCauses))
    for (const text of [words, fix])
      expect(texts).toContain(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
});
