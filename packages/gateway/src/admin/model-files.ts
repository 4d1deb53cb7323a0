import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ModelBook, type ModelFile } from '../catalogue/model-facts.ts';

const shipped = fileURLToPath(new URL('../../../../catalogue/models/', import.meta.url));

/** The folder of the newer files that an operator has taken in. */
export function modelDirectory(dataDir: string): string {
  return join(dataDir, 'models');
}

/** The files of models in force, by name: those that come with Headgate, and newer ones that an operator has taken in. */
export function modelFiles(dataDir: string | null): ReadonlyMap<string, ModelFile> {
  const files = readFiles(shipped);
  const own = dataDir === null ? [] : readFiles(modelDirectory(dataDir));
  for (const [name, file] of own) {
    const known = files.get(name);
    if (known === undefined || known.asOf < file.asOf) files.set(name, file);
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

function readFiles(directory: string): Map<string, ModelFile> {
  if (!existsSync(directory)) return new Map();
  const names = readdirSync(directory).filter((file) => file.endsWith('.json'));
  return new Map(
    names.sort().map((file) => {
      // Ours are held to their shape by a test, an operator's were checked when they were taken in.
      const read = JSON.parse(readFileSync(join(directory, file), 'utf8')) as ModelFile;
      return [file.slice(0, -'.json'.length), read];
    }),
  );
}
