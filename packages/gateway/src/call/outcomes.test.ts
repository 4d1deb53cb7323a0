import { describe, expect, test } from 'vitest';
import { outcomeOfFailure } from './outcomes.ts';

describe('a connection that fails', () => {
  test.each([
    ['unreachable', false, { kind: 'unreachable', sent: false }],
    ['forbidden-address', false, { kind: 'unreachable', sent: false }],
    ['reset', false, { kind: 'unreachable', sent: true }],
    ['aborted', false, { kind: 'unreachable', sent: true }],
    ['connect-timeout', false, { kind: 'timed-out', phase: 'connect' }],
    ['garbled', false, { kind: 'cut', committed: false }],
    ['reset', true, { kind: 'cut', committed: false, detail: 'reset: gone' }],
  ] as const)('by %s, with a head: %s', (kind, hasHead, outcome) => {
    expect(outcomeOfFailure({ kind, detail: 'gone' }, hasHead, false, null)).toMatchObject(outcome);
  });
});
