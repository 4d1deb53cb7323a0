import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openOperatorToken } from './operator-token.ts';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headgate-token-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('the first start makes one for its owner alone, later starts read the same, and no two directories share one', () => {
  const made = openOperatorToken(directory);
  expect(made.ok && made.value).toMatch(/^hgo-[\w-]{43}$/);
  expect(statSync(join(directory, 'operator-token')).mode & 0o777).toBe(0o600);
  expect(openOperatorToken(directory)).toEqual(made);
  expect(openOperatorToken(join(directory, 'other'))).not.toEqual(made);
});

test.each(['', 'hgo-short', 'sk-abc', `hgo-${'a'.repeat(43)}\nmore`])(
  'a file that is none (%j) is refused',
  (text) => {
    writeFileSync(join(directory, 'operator-token'), text);
    expect(openOperatorToken(directory)).toMatchObject({ ok: false });
  },
);
