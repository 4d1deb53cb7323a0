import { readFileSync } from 'node:fs';
import { errorTable } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { withErrorTables } from '../scripts/generate-error-docs.ts';

const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8');

describe('docs/errors.md', () => {
  test('is up to date (node scripts/generate-error-docs.ts)', () => {
    expect(withErrorTables(page)).toBe(page);
  });

  test.each(Object.entries(errorTable))('tells of %s once, with its status', (code, { status }) => {
    expect(page.split(`| \`${code}\``)).toHaveLength(2);
    expect(page).toMatch(new RegExp(`\\| \`${code}\` +\\| ${status} `));
  });

  test('a page without its markers is refused', () => {
    expect(() => withErrorTables('# Errors')).toThrow('markers');
  });
});
