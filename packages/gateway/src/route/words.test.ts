import { expect, test } from 'vitest';
import type { Outcome } from './outcomes.ts';
import { wordsOn } from './words.ts';

const keyed = { credentials: [{ id: 'KEY', secret: 'sk-very-secret' }], secrets: ['token-of-a-header', ''] };

function cut(detail: string): Outcome {
  return { kind: 'cut', committed: false, detail, reading: null };
}

test.each([
  ['the key sk-very-secret and sk-very-secret', 'the key [key] and [key]'],
  ['x-token: token-of-a-header', 'x-token: [key]'],
  ['cut in the middle of sk-very-se', 'cut in the middle of [key]'],
  ['cut in the middle of token', 'cut in the middle of [key]'],
  ['nothing of it: sk-', 'nothing of it: sk-'],
])('%j is told as %j', (detail, words) => {
  expect(wordsOn(cut(detail), keyed)).toBe(words);
});
