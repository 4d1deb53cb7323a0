import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Makes the data directory, for its owner alone, if it is missing. Throws as node:fs does when it cannot be made. */
export function makeDataDirectory(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
}

/** The embedded store's file in a data directory. */
export function storeFile(dataDir: string): string {
  return join(dataDir, 'headgate.sqlite');
}
