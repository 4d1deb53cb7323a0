import { readFileSync } from 'node:fs';

/** A new store has these steps behind it in one. */
export const firstStepsCount = 44;

/**
 * The tables as the first steps leave them. A new store is made from this in a tenth of the time, as each change of a table makes
 * SQLite read the whole schema again. Later steps follow one by one: this stays true without being brought up to date
 * (`tools/generate/first-steps.ts` writes it).
 */
export function firstStepsAtOnce(): string {
  return readFileSync(new URL('./first-steps.sql', import.meta.url), 'utf8');
}
