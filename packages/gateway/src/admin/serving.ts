import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, type Result } from '@headgate/protocols';
import { z } from 'zod';

/** A process that took the place of another one. */
export interface Restarted {
  readonly processId: number;
}

/** Puts a new process in the place of this one. Fails, and changes nothing, when that one does not come to serve. */
export type Restart = () => Promise<Result<Restarted, string>>;

/** A gateway within another process, as in tests. */
export const cannotRestart: Restart = () =>
  Promise.resolve(fail('this gateway cannot start another process'));

const servingFile = z.object({
  processId: z.number().int(),
  apiOrigin: z.string(),
  consoleOrigin: z.string(),
});

/** The gateway that serves from a data directory, for commands that ask it. Of several it is the one started last. */
export type ServingFacts = Readonly<z.infer<typeof servingFile>>;

function pathOf(dataDir: string): string {
  return join(dataDir, 'serving.json');
}

/** Whoever reads it finds it whole: it gets its name last. */
export function writeServingFile(dataDir: string, facts: ServingFacts): void {
  const path = pathOf(dataDir);
  const draft = `${path}.${facts.processId}`;
  writeFileSync(draft, `${JSON.stringify(facts)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

/** Null where none is known to serve. One that was killed leaves its file behind, so whoever it names may not answer. */
export function readServingFile(dataDir: string): ServingFacts | null {
  try {
    return servingFile.parse(JSON.parse(readFileSync(pathOf(dataDir), 'utf8')));
  } catch {
    // There is none, or it is damaged: the next start writes another.
    return null;
  }
}

/** Takes the file away, unless it is another process's by now. */
export function removeServingFile(dataDir: string, processId: number): void {
  if (readServingFile(dataDir)?.processId === processId) rmSync(pathOf(dataDir), { force: true });
}
