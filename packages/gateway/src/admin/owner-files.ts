import { createHmac, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fail, type Result, succeed } from '@headgate/protocols';
import { settingsTable } from '../config/settings-table.ts';
import type { ConfigurationProblem } from '../config/yaml-source.ts';

/**
 * Reads a file, or creates it with the text when there is none. It is readable by its owner alone, and whole before
 * it has its name, so that of two processes that start at once one writes and both read the same.
 */
export function readOrCreateOwnerFile(path: string, makeText: () => string): string {
  return readIfThere(path) ?? createOwnerFile(path, makeText());
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function createOwnerFile(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

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

/** The tokens by which programs of the operator's are let in. */
export interface OwnerTokens {
  /** Opens the console's API, and all else on its port. */
  readonly operator: string;
  /** Opens the metrics. */
  readonly scrape: string;
}

/**
 * The tokens of a data directory. Its first start makes them of 256 random bits each, in files that their owner alone can
 * read; without a file the next start makes another.
 */
export function openOwnerTokens(dataDir: string): Result<OwnerTokens, string> {
  const operator = openToken(join(dataDir, 'operator-token'), 'hgo-');
  if (!operator.ok) return operator;
  const scrape = openToken(join(dataDir, 'scrape-token'), 'hgs-');
  return scrape.ok ? succeed({ operator: operator.value, scrape: scrape.value }) : scrape;
}

/** 256 bits as base64url. */
const tokenPattern = /^[\w-]{43}$/;

/** The prefix tells it from the keys of callers at a glance. */
function openToken(path: string, prefix: string): Result<string, string> {
  const make = () => `${prefix}${randomBytes(32).toString('base64url')}\n`;
  const token = readOrCreateOwnerFile(path, make).trim();
  if (token.startsWith(prefix) && tokenPattern.test(token.slice(prefix.length))) return succeed(token);
  return fail(`${path} is damaged: remove it, and the next start makes a new token`);
}

/** Makes the data directory, for its owner alone, if it is missing. Throws as node:fs does when it cannot be made. */
export function makeDataDirectory(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
}

/** The embedded store's file in a data directory. */
export function storeFile(dataDir: string): string {
  return join(dataDir, 'headgate.sqlite');
}

const hexDigits = 32;

/**
 * How what was learned of a credential is named where it is stored: HMAC-SHA256 under the newest pepper, cut to 128 bits.
 * The same in every process with these peppers; a credential that is replaced is another one.
 */
export function credentialHasher([newest]: Peppers): (secret: string) => string {
  return (secret) =>
    createHmac('sha256', newest.secret).update(`credential\n${secret}`).digest('hex').slice(0, hexDigits);
}
