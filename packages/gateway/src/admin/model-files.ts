import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ModelBook, type ModelFile, parseModelFile } from '../catalogue/model-facts.ts';

const shipped = fileURLToPath(new URL('../../../../catalogue/models/', import.meta.url));

/** The folder of the newer files that an operator has taken in. */
export function modelDirectory(dataDir: string): string {
  return join(dataDir, 'models');
}

/** The files of models in force, by name: those that come with Headgate, and newer ones that an operator has taken in. */
export function modelFiles(dataDir: string | null): ReadonlyMap<string, ModelFile> {
  const files = new Map([...readFiles(shipped)].map(([name, text]) => [name, readShipped(text)]));
  const own = dataDir === null ? [] : readFiles(modelDirectory(dataDir));
  for (const [name, text] of own) {
    const file = readOwn(text);
    const known = files.get(name);
    if (file !== null && (known === undefined || known.asOf < file.asOf)) files.set(name, file);
  }
  return files;
}

/** The book of all models: read when it is first asked for, and again when newer files have been taken in. */
export function modelBooks(dataDir: string | null): () => ModelBook {
  let book: ModelBook | null = null;
  let readOf: number | null = null;
  return () => {
    const own = dataDir === null ? undefined : statSync(modelDirectory(dataDir), { throwIfNoEntry: false });
    const changedAt = own?.mtimeMs ?? 0;
    if (book === null || changedAt !== readOf) book = new ModelBook([...modelFiles(dataDir).values()]);
    readOf = changedAt;
    return book;
  };
}

function readFiles(directory: string): readonly (readonly [string, string])[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory).filter((file) => file.endsWith('.json'));
  return names
    .sort()
    .map((file) => [file.slice(0, -'.json'.length), readFileSync(join(directory, file), 'utf8')]);
}

/** Ours are held to their shape by a test. */
function readShipped(text: string): ModelFile {
  return JSON.parse(text) as ModelFile;
}

/** Checked when it was taken in, but by the version of that day, and a disk may fail: a gateway starts without it. */
function readOwn(text: string): ModelFile | null {
  try {
    const read = parseModelFile(JSON.parse(text));
    return read.ok ? read.value : null;
  } catch {
    return null;
  }
}
