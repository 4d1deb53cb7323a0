import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { declaredPlace } from './declared-place.ts';

const text = `# The channels of the house
settings: { demo: false }
channels:

  # east: { provider: gone }
  east.1:
    models:
      west: {}
  "west": { provider: openai }

groups:
  west: { platform: messages }
accounts: { inline: {} }
`;

test('the line that declares something is found, and only in its own section', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'headgate-place-'));
  const file = join(directory, 'headgate.yaml');
  writeFileSync(file, text);
  const lineOf = async (section: string, id: string) => (await declaredPlace(file, section, id)).line;
  expect(await lineOf('channels', 'east.1')).toBe(6);
  expect(await lineOf('channels', 'west')).toBe(9);
  expect(await lineOf('groups', 'west')).toBe(12);
  expect(await lineOf('channels', 'eastx1')).toBeNull();
  expect(await lineOf('channels', 'east')).toBeNull();
  expect(await lineOf('accounts', 'inline')).toBeNull();
  expect(await lineOf('keys', 'any')).toBeNull();
  expect(await declaredPlace(join(directory, 'gone.yaml'), 'channels', 'west')).toMatchObject({ line: null });
  rmSync(directory, { recursive: true });
});
