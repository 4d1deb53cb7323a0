import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfigurationFile } from './configuration-file.ts';
import { configurationJsonSchema, providerJsonSchema, withSettingsTables } from './published-files.ts';
import { settingRows } from './settings-table.ts';

const root = new URL('../../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const page = read('docs/configuration.md');

describe('generated files are up to date (node tools/generate/schemas.ts)', () => {
  test('catalogue/config.schema.json', () => {
    expect(JSON.parse(read('catalogue/config.schema.json'))).toEqual(configurationJsonSchema());
  });

  test('catalogue/provider.schema.json', () => {
    expect(JSON.parse(read('catalogue/provider.schema.json'))).toEqual(providerJsonSchema());
  });

  test('the tables of docs/configuration.md', () => {
    expect(withSettingsTables(page)).toBe(page);
    for (const [, row] of settingRows()) expect(page).toContain(`\`${row.environment}\``);
  });

  test('a page without its markers is refused', () => {
    expect(() => withSettingsTables('# Configuration')).toThrow('markers');
  });
});

interface Published {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Published>>;
  readonly additionalProperties?: Published | boolean;
  readonly items?: Published;
  readonly anyOf?: readonly Published[];
  readonly oneOf?: readonly Published[];
}

/** Members that say nothing about themselves, by their path. Objects of settings are headings. */
function undescribed(schema: Published, path = ''): readonly string[] {
  const { properties = {}, additionalProperties: rest, items, anyOf = [], oneOf = [] } = schema;
  const members = Object.entries(properties).flatMap(([name, member]) => {
    const own = member.description === undefined && !/^\.settings$/.test(path) ? [`${path}.${name}`] : [];
    return [...own, ...undescribed(member, `${path}.${name}`)];
  });
  const below = [...anyOf, ...oneOf, ...(typeof rest === 'object' ? [rest] : []), ...(items ? [items] : [])];
  return [...members, ...below.flatMap((each) => undescribed(each, `${path}.*`))];
}

test('every member of the file says what it is', () => {
  expect(undescribed(configurationJsonSchema())).toEqual([]);
  expect(undescribed(providerJsonSchema())).toEqual([]);
});

test('the example of docs/configuration.md has the shape it explains', () => {
  const example = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  expect(readConfigurationFile(example, 'example.yaml')).toMatchObject({ ok: true });
  expect(Object.keys(parse(example) as object)).toEqual(
    Object.keys((configurationJsonSchema() as { properties: object }).properties)
      .filter((name) => name !== '$schema')
      .sort((a, b) => example.indexOf(`\n${a}:`) - example.indexOf(`\n${b}:`)),
  );
});
