import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { thrownFailure } from './thrown-failure.ts';

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

test('what the machine refuses is not a mistake of ours', () => {
  const missing = thrownFailure(thrownBy(() => readFileSync('/nowhere/file')));
  expect(missing.reason).toBe('unavailable');
  expect(missing.message).toContain("'/nowhere/file'");
  const store = thrownFailure(thrownBy(() => new DatabaseSync('/nowhere/store')));
  expect(store.reason).toBe('unavailable');
});

test('anything else is, and is told in one line', () => {
  expect(thrownFailure(new TypeError('no such member\nat all'))).toEqual({
    reason: 'failed',
    message: 'internal: no such member',
  });
  const misuse = thrownFailure(thrownBy(() => Buffer.alloc(-1)));
  expect(misuse.reason).toBe('failed');
});
