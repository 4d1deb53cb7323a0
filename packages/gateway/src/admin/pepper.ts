import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { ConfigurationProblem } from '../config/problem.ts';
import { settingsTable } from '../config/settings-table.ts';
import { readOrCreateOwnerFile } from './owner-file.ts';

/** A secret mixed into the hashes of keys, so that a stolen store alone cannot be searched for them. */
export interface Pepper {
  readonly version: number;
  readonly secret: Uint8Array;
}

/** Newest first: the first hashes new keys, the others still recognise old ones. */
export type Peppers = readonly [Pepper, ...Pepper[]];

const secretLengthMin = 32;

/** Reads `2:SECRET,1:SECRET`, newest first; a single secret without a number is version 1. */
export function readPeppers(text: string): Result<Peppers, string> {
  const parts = text
    .trim()
    .split(/[,\n]/)
    .map((part) => readPepper(part.trim()));
  const peppers = parts.filter((part) => part !== null);
  const [newest, ...older] = peppers;
  if (newest === undefined || peppers.length < parts.length) {
    return fail(
      `must be a secret of ${secretLengthMin} characters or more, or VERSION:SECRET pairs separated by commas`,
    );
  }
  if (new Set(peppers.map((pepper) => pepper.version)).size < peppers.length)
    return fail('names a version twice');
  return succeed([newest, ...older]);
}

function readPepper(text: string): Pepper | null {
  const [, version = '1', secret = ''] = /^(?:(\d{1,6}):)?([^\s:,]+)$/.exec(text) ?? [];
  return secret.length < secretLengthMin
    ? null
    : { version: Number(version), secret: new TextEncoder().encode(secret) };
}

/**
 * The peppers of a data directory; its first start makes one of 256 random bits. Fails when the file is not what was
 * written: starting with another pepper would lock every key out.
 */
export function openPeppers(dataDir: string): Result<Peppers, string> {
  const path = join(dataDir, 'pepper');
  const peppers = readPeppers(
    readOrCreateOwnerFile(path, () => `1:${randomBytes(32).toString('base64url')}\n`),
  );
  if (peppers.ok) return peppers;
  return fail(
    `${path} is damaged: it ${peppers.error}. Restore it from a backup; without it no stored key works`,
  );
}

/** The peppers the settings name, or those of the data directory. */
export function settingsPeppers(settings: {
  readonly pepper: string | null;
  readonly dataDir: string;
}): Result<Peppers, readonly ConfigurationProblem[]> {
  const peppers = settings.pepper === null ? openPeppers(settings.dataDir) : readPeppers(settings.pepper);
  if (peppers.ok) return peppers;
  const where = settings.pepper === null ? settings.dataDir : settingsTable.pepper.environment;
  return fail([{ where, path: '', message: peppers.error }]);
}
