import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { generateKey } from '../packages/gateway/src/admin/keys.ts';
import { configurationJsonSchema } from '../packages/gateway/src/config/published-files.ts';
import { settingRows } from '../packages/gateway/src/config/settings-table.ts';
import { allMembers, withMemberTables } from '../tools/generate/config-members.ts';
import { runHeadgate, temporaryDirectory } from './support/process.ts';

const page = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8');
const file = readFileSync(new URL('../docs/headgate.example.yaml', import.meta.url), 'utf8');
const example: unknown = parse(file, { merge: true });
const schema = configurationJsonSchema();
const report = z.object({ diagnoses: z.array(z.object({ state: z.string(), detail: z.string() })) });

describe('docs/configuration.md', () => {
  test('is up to date (node tools/generate/schemas.ts)', () => {
    expect(withMemberTables(page, schema, example)).toBe(page);
  });

  test('has a row for every member of the file', () => {
    const names = allMembers(schema, example).map(({ path }) => path.replace(/^.*?\.ID\./, ''));
    expect(names.filter((name) => !page.includes(`\n| \`${name}\``))).toEqual([]);
    expect(names.length).toBeGreaterThan(70);
  });

  test('without its markers is refused', () => {
    expect(() => withMemberTables('# Configuration', schema, example)).toThrow('markers');
  });
});

describe('docs/headgate.example.yaml', () => {
  test('has every member and every setting', () => {
    const members = allMembers(schema, example).filter((member) => member.example === undefined);
    expect(members.map(({ path }) => path)).toEqual([]);
    const settings = settingRows().flatMap(([, { yaml }]) => (yaml === null ? [] : [yaml]));
    expect(settings.filter((path) => valueAt(example, path.split('.')) === undefined)).toEqual([]);
  });

  test('is a file that doctor finds nothing wrong with but the files and commands it names', async () => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, 'headgate.yaml'), file);
    const names = [...file.matchAll(/environment: (\w+)/g)].map(([, name = '']) => name);
    const isOurs = (name: string) => name.includes('HEADGATE') || name.startsWith('PARTNER');
    const environment: Record<string, string> = { HEADGATE_API_PORT: '0', HEADGATE_CONSOLE_PORT: '0' };
    for (const name of [...names, 'HOUSE_KEY'])
      environment[name] = isOurs(name) ? generateKey() : 'one-of-sixteen-characters';
    const doctor = await runHeadgate(['doctor', '--no-network', '--json'], {
      dataDir: directory.path,
      environment,
    });
    const { diagnoses } = report.parse(JSON.parse(doctor.stdout));
    // Doctor builds what the file will make, and the files and commands that it takes secrets from are nowhere here.
    const elsewhere = /\bthe (file|command) \S+ (is not there|failed|cannot be started)/;
    expect(diagnoses.filter(({ state, detail }) => state === 'bad' && !elsewhere.test(detail))).toEqual([]);
  });
});

function valueAt(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return valueAt(Object.entries(value).find(([name]) => name === step)?.[1], rest);
}
