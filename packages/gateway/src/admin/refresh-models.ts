import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { fail, type Result, succeed } from '@headgate/protocols';
import { type ModelFile, parseModelFile } from '../catalogue/model-facts.ts';
import { modelDirectory, modelFiles } from './model-files.ts';
import { makeDataDirectory } from './owner-files.ts';

/** The package with all of them unpacks to a few megabytes; more than this is no package of models. */
const unpackedBytesMax = 256 * 1024 * 1024;

/** The effect of taking in a file of models; one that is not newer has none. */
export interface ModelFileChange {
  readonly file: string;
  readonly asOf: string;
  /** True when it is taken in: it is newer than the one in force. */
  readonly isNewer: boolean;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The fields that changed, by model. */
  readonly changed: Readonly<Record<string, readonly string[]>>;
}

export interface RefreshOptions {
  /** Says what would change, and changes nothing. */
  readonly isTrial: boolean;
  readonly nowMs: number;
}

const dayMs = 86_400_000;

/**
 * Takes in files of models, from one file or from a package that has them in `catalogue/models`. All of them are checked before
 * one is written, each takes the place of the last one whole, and a running gateway follows within a second. The error names the file.
 */
export function refreshModels(
  dataDir: string,
  path: string,
  content: Buffer,
  { isTrial, nowMs }: RefreshOptions,
): Result<readonly ModelFileChange[], string> {
  const read = readNewFiles(path, content);
  if (!read.ok) return read;
  const tomorrow = new Date(nowMs + dayMs).toISOString().slice(0, 10);
  for (const [file, { asOf }] of read.value)
    if (asOf > tomorrow)
      return fail(
        `${file} says it is of ${asOf}, which is yet to come: nothing newer would be taken in until then`,
      );
  const known = modelFiles(dataDir);
  const changes = [...read.value].map(([name, file]) => changeOf(name, known.get(name), file));
  const taken = changes.filter(({ isNewer }) => isNewer && !isTrial);
  if (taken.length > 0) {
    makeDataDirectory(dataDir);
    mkdirSync(modelDirectory(dataDir), { recursive: true });
  }
  for (const { file } of taken) writeWhole(modelDirectory(dataDir), file, read.value.get(file));
  return succeed(changes);
}

function readNewFiles(path: string, content: Buffer): Result<ReadonlyMap<string, ModelFile>, string> {
  const isPackage = /\.(tgz|tar\.gz)$/.test(path);
  const texts = isPackage ? readPackage(content) : succeed(new Map([[basename(path), content]]));
  if (!texts.ok) return fail(`${path} ${texts.error}`);
  const files = new Map<string, ModelFile>();
  for (const [file, text] of texts.value) {
    const name = file.replace(/\.json$/, '');
    const parsed = parseJson(text);
    const read = parsed.ok ? parseModelFile(parsed.value) : parsed;
    if (!read.ok) return fail(`${file} is not a file of models: ${read.error}`);
    if (read.value.providers[0] !== name)
      return fail(`${file} has the models of ${read.value.providers[0]}, so it must be named after it`);
    files.set(name, read.value);
  }
  return files.size === 0 ? fail(`${path} has no files of models in catalogue/models`) : succeed(files);
}

function parseJson(text: Buffer): Result<unknown, string> {
  try {
    return succeed(JSON.parse(text.toString('utf8')));
  } catch {
    return fail('it is not JSON');
  }
}

/** The files of models in a package, by their names. */
function readPackage(content: Buffer): Result<ReadonlyMap<string, Buffer>, string> {
  let tar: Buffer;
  try {
    tar = gunzipSync(content, { maxOutputLength: unpackedBytesMax });
  } catch {
    return fail('cannot be unpacked');
  }
  const files = new Map<string, Buffer>();
  // A tar is a row of files, each behind a head of 512 bytes and filled up to a multiple of them.
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const size = Number.parseInt(tarText(tar, at + 124, 12), 8);
    if (!(size >= 0) || at + 512 + size > tar.length) return fail('is cut short or damaged');
    const [, file] = /(?:^|\/)catalogue\/models\/([\w.-]+\.json)$/.exec(tarText(tar, at, 100)) ?? [];
    if (file !== undefined) files.set(file, tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return succeed(files);
}

function tarText(tar: Buffer, at: number, length: number): string {
  return (
    tar
      .toString('latin1', at, at + length)
      .split('\0')[0]
      ?.trim() ?? ''
  );
}

function changeOf(file: string, old: ModelFile | undefined, next: ModelFile): ModelFileChange {
  const before = old?.models ?? {};
  const changed = Object.entries(next.models).flatMap(([id, model]) => {
    const fields = Object.hasOwn(before, id) ? changedFields({ ...before[id] }, { ...model }) : [];
    return fields.length === 0 ? [] : [[id, fields] as const];
  });
  return {
    file,
    asOf: next.asOf,
    isNewer: old === undefined || old.asOf < next.asOf,
    added: Object.keys(next.models).filter((id) => !Object.hasOwn(before, id)),
    removed: Object.keys(before).filter((id) => !Object.hasOwn(next.models, id)),
    changed: Object.fromEntries(changed),
  };
}

function changedFields(
  { sources: _, ...old }: Readonly<Record<string, unknown>>,
  { sources: __, ...next }: Readonly<Record<string, unknown>>,
): readonly string[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])];
  return names.filter((name) => JSON.stringify(old[name]) !== JSON.stringify(next[name]));
}

/** A reader sees the old file or the new one, and its folder changes last: that is when the gateway looks. */
function writeWhole(directory: string, name: string, file: ModelFile | undefined): void {
  const draft = join(directory, `.${name}.draft`);
  try {
    writeFileSync(draft, JSON.stringify(file), { flush: true });
    renameSync(draft, join(directory, `${name}.json`));
  } finally {
    rmSync(draft, { force: true });
  }
}
