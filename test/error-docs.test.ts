import { readFileSync } from 'node:fs';
import { errorTable } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { outcomeTable } from '../packages/gateway/src/route/outcomes.ts';
import { withExamples } from '../tools/generate/billing-docs.ts';
import { withErrorTables } from '../tools/generate/error-docs.ts';
import { withRightsTables } from '../tools/generate/rights-docs.ts';
import { withOutcomeTable } from '../tools/generate/routing-docs.ts';

const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8');

describe('docs/errors.md', () => {
  test('is up to date (node tools/generate/error-docs.ts)', () => {
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

describe('docs/routing.md', () => {
  const routing = readFileSync(new URL('../docs/routing.md', import.meta.url), 'utf8');

  test('is up to date (node tools/generate/routing-docs.ts)', () => {
    expect(withOutcomeTable(routing)).toBe(routing);
  });

  test.each(Object.keys(outcomeTable))('has one line for %s', (name) => {
    expect(routing.split(`\n| \`${name}\` `)).toHaveLength(2);
  });

  test('without its markers is refused', () => {
    expect(() => withOutcomeTable('# Routing')).toThrow('markers');
  });
});

describe('docs/model-lists.md', () => {
  const lists = readFileSync(new URL('../docs/model-lists.md', import.meta.url), 'utf8');

  test('is up to date (node tools/generate/rights-docs.ts)', () => {
    expect(withRightsTables(lists)).toBe(lists);
  });

  test('without its markers is refused', () => {
    expect(() => withRightsTables('# Lists')).toThrow('markers');
  });
});

describe('docs/billing.md', () => {
  const billing = readFileSync(new URL('../docs/billing.md', import.meta.url), 'utf8');

  test('has examples that are charged so (node tools/generate/billing-docs.ts)', () => {
    expect(withExamples(billing)).toBe(billing);
  });

  test('without its markers is refused', () => {
    expect(() => withExamples('# Billing')).toThrow('markers');
  });
});
