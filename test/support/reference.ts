import { existsSync } from 'node:fs';
import { test } from 'vitest';

/** Published descriptions of the protocols and recorded answers of real servers. They lie beside the checkout and are no part of it. */
export const reference = new URL('../../../shared/protocols/data/', import.meta.url);

/** Defines the tests that need these files or folders; where one is missing, a test that is skipped says which. */
export function whereFound(what: string, paths: readonly string[], define: () => void): void {
  if (tellMissing(what, paths)) define();
}

/** Tells that all of them are there; if not, a test that is skipped says so. */
export function tellMissing(what: string, paths: readonly string[]): boolean {
  const missing = paths.filter((path) => !existsSync(new URL(path, reference)));
  if (missing.length > 0) test(what, ({ skip }) => skip(`not beside this checkout: ${missing.join(', ')}`));
  return missing.length === 0;
}
