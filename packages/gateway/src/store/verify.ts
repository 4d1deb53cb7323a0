import type { Kysely } from 'kysely';
import type { Verification } from '../ports/store.ts';
import type { Schema } from './schema.ts';

/** Filled in below. */
export function verifyLedger(_database: Kysely<Schema>): Promise<Verification> {
  throw new Error('not yet');
}
