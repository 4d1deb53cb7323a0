import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fail, type Result, succeed } from '@headgate/protocols';
import { readOrCreateOwnerFile } from './owner-file.ts';

/** Tells it from the keys of callers at a glance. */
const prefix = 'hgo-';
/** 256 bits as base64url. */
const tokenPattern = /^hgo-[\w-]{43}$/;

/**
 * The token by which a program of the operator's is let into the console's API. The first start makes one of 256 random
 * bits, in a file that its owner alone can read; without the file the next start makes another.
 */
export function openOperatorToken(dataDir: string): Result<string, string> {
  const path = join(dataDir, 'operator-token');
  const make = () => `${prefix}${randomBytes(32).toString('base64url')}\n`;
  const token = readOrCreateOwnerFile(path, make).trim();
  if (tokenPattern.test(token)) return succeed(token);
  return fail(`${path} is damaged: remove it, and the next start makes a new token`);
}
