import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ModelFile } from '../catalogue/model-facts.ts';
import { openCatalogueFiles } from './catalogue-files.ts';
import { modelFiles } from './model-files.ts';
import { refreshModels } from './refresh-models.ts';

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'headgate-models-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const known = modelFiles(null).get('moonshot');
if (known === undefined) throw new Error('the catalogue has lost a file');
const { 'kimi-k3': k3, 'kimi-k2.6': _, ...others } = known.models;
if (k3 === undefined) throw new Error('the file has lost a model');
const newer: ModelFile = {
  ...known,
  asOf: '2030-01-01',
  models: {
    ...others,
    'kimi-k3': { ...k3, contextWindow: 5_000_000 },
    'kimi-k9': { name: 'K9', reasoning: { mode: 'none' } },
  },
};

const nowMs = Date.parse('2030-01-01');
const real = { isTrial: false, nowMs };
const trial = { isTrial: true, nowMs };

function bytes(json: unknown): Buffer {
  return Buffer.from(JSON.stringify(json));
}

/** A package as `npm pack` writes it, with these files. */
function packageOf(files: Readonly<Record<string, Buffer>>): Buffer {
  const pieces = Object.entries(files).flatMap(([name, content]) => {
    const head = Buffer.alloc(512);
    head.write(name, 0);
    head.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
    head.write('0', 156);
    return [head, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...pieces, Buffer.alloc(1024)]));
}

test('a newer file is taken in whole, reported, and in force from then on, after a restart too', () => {
  const catalogue = openCatalogueFiles(dataDir);
  const before = catalogue.models();
  expect(catalogue.models()).toBe(before);
  const refreshed = refreshModels(dataDir, 'some/where/moonshot.json', bytes(newer), real);
  expect(refreshed).toEqual({
    ok: true,
    value: [
      {
        file: 'moonshot',
        asOf: '2030-01-01',
        isNewer: true,
        added: ['kimi-k9'],
        removed: ['kimi-k2.6'],
        changed: { 'kimi-k3': ['contextWindow'] },
      },
    ],
  });
  for (const book of [catalogue.models(), openCatalogueFiles(dataDir).models()]) {
    expect(book).not.toBe(before);
    expect(book.find('moonshot', 'kimi-k3').contextWindow).toBe(5_000_000);
    expect(book.find('moonshot', 'kimi-k9').name).toBe('K9');
  }
  expect(readdirSync(join(dataDir, 'models'))).toEqual(['moonshot.json']);
});

test('a package brings all the files of models that it has, and nothing else', () => {
  const content = packageOf({
    'package/package.json': bytes({ name: 'x' }),
    'package/catalogue/models/moonshot.json': bytes(newer),
    'package/catalogue/models/zai.json': bytes(modelFiles(null).get('zai')),
    'package/catalogue/prices/zai.json': bytes({}),
  });
  const refreshed = refreshModels(dataDir, 'headgate.tgz', content, real);
  expect(refreshed.ok && refreshed.value.map(({ file, isNewer }) => [file, isNewer])).toEqual([
    ['moonshot', true],
    ['zai', false],
  ]);
  expect(readdirSync(join(dataDir, 'models'))).toEqual(['moonshot.json']);
});

test.each([
  [
    'that is no JSON',
    'moonshot.json',
    Buffer.from('{"asOf"'),
    /moonshot\.json is not a file of models: it is not JSON/,
  ],
  ['with a damaged record', 'moonshot.json', bytes({ ...newer, models: { x: { name: '' } } }), /models\.x/],
  ['named after another provider', 'openai.json', bytes(newer), /must be named after it/],
  ['that is no package', 'x.tgz', Buffer.from('x'), /cannot be unpacked/],
  [
    'cut short',
    'x.tgz',
    gzipSync(Buffer.from(`${'a'.repeat(124)}00000007777\0${'b'.repeat(600)}`)),
    /cut short/,
  ],
  [
    'whose second entry leads back to the first',
    'x.tgz',
    gzipSync(
      Buffer.concat([
        Buffer.from(`a${'\0'.repeat(123)}00000000000\0`.padEnd(512, '\0')),
        Buffer.from(`b${'\0'.repeat(123)}-0000001000\0`.padEnd(1024, '\0')),
      ]),
    ),
    /damaged/,
  ],
  ['without any', 'x.tgz', packageOf({ 'package/a.json': bytes({}) }), /no files of models/],
  [
    'with one good and one bad',
    'x.tgz',
    packageOf({ 'p/catalogue/models/moonshot.json': bytes(newer), 'p/catalogue/models/zai.json': bytes({}) }),
    /zai\.json/,
  ],
])('a file %s is refused, and nothing is changed', (_, path, content, reason) => {
  const refreshed = refreshModels(dataDir, path, content, real);
  expect(refreshed.ok ? '' : refreshed.error).toMatch(reason);
  expect(readdirSync(dataDir)).toEqual([]);
});

test('a trial changes nothing, an older file neither, and a newer catalogue wins over what was taken in', () => {
  expect(refreshModels(dataDir, 'moonshot.json', bytes(newer), trial).ok).toBe(true);
  expect(refreshModels(dataDir, 'moonshot.json', bytes({ ...newer, asOf: '2020-01-01' }), real).ok).toBe(
    true,
  );
  expect(readdirSync(dataDir)).toEqual([]);
  refreshModels(dataDir, 'moonshot.json', bytes(newer), real);
  const path = join(dataDir, 'models', 'moonshot.json');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(newer);
  expect(modelFiles(dataDir).get('moonshot')?.asOf).toBe('2030-01-01');
});

test.each([
  ['cut short', '{"asOf":"2040'],
  ['of another version', JSON.stringify({ ...newer, models: { 'kimi-k3': { ...k3, tomorrow: true } } })],
])('a file taken in that is %s is left out, and what comes with Headgate holds', (_, text) => {
  mkdirSync(join(dataDir, 'models'));
  writeFileSync(join(dataDir, 'models', 'moonshot.json'), text);
  const book = openCatalogueFiles(dataDir).models();
  expect(book.find('moonshot', 'kimi-k3').contextWindow).toBe(k3.contextWindow);
  expect(refreshModels(dataDir, 'moonshot.json', bytes(newer), real).ok).toBe(true);
  expect(modelFiles(dataDir).get('moonshot')?.asOf).toBe('2030-01-01');
});

test('a file of a day to come would shut out every later one, and is refused', () => {
  const later = (asOf: string) => refreshModels(dataDir, 'moonshot.json', bytes({ ...newer, asOf }), real);
  expect(later('9999-12-31')).toEqual({
    ok: false,
    error:
      'moonshot says it is of 9999-12-31, which is yet to come: nothing newer would be taken in until then',
  });
  expect(later('2030-01-03').ok).toBe(false);
  expect(readdirSync(dataDir)).toEqual([]);
  // East of us it may be tomorrow already.
  expect(later('2030-01-02').ok).toBe(true);
});
