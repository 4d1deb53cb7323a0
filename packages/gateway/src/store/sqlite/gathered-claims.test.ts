import { expect, test } from 'vitest';
import type { CallClaim } from '../../ports/call-claims.ts';
import { StoreUnavailable } from '../../ports/store.ts';
import { GatheredClaims } from './gathered-claims.ts';

const claimOf = (name: string): CallClaim => ({
  ...{ keyId: 'key-1', name, fingerprint: 'a', traceId: name, nowMs: 0 },
});

type Write = ConstructorParameters<typeof GatheredClaims>[0];

/** One transaction after the other, each in a turn of its own; `batches` has how many changes each made. */
function writerOf(batches: number[]): Write {
  let last = Promise.resolve();
  return (take) => {
    const done = last.then(() => {
      const [changes] = take();
      batches.push(changes.length);
      return changes.map(({ kind }) => (kind === 'claim' ? ({ kind: 'claimed' } as const) : null));
    });
    last = done.then(() => undefined);
    return done;
  };
}

test('claims that come while others are written go together', async () => {
  const batches: number[] = [];
  const claims = new GatheredClaims(writerOf(batches));
  const made = Array.from({ length: 1200 }, (_, at) => claims.claim(claimOf(String(at)), null));
  const ends = [claims.conclude(claimOf('0')), claims.conclude(claimOf('1'))];
  expect(new Set((await Promise.all(made)).map(({ kind }) => kind))).toEqual(new Set(['claimed']));
  await Promise.all(ends);
  expect(batches).toEqual([500, 500, 202]);
  expect(await claims.claim(claimOf('later'), null)).toEqual({ kind: 'claimed' });
});

test('who waits for a store that takes no jobs hears of it', async () => {
  const claims = new GatheredClaims(() => Promise.reject(new StoreUnavailable('it is closed')));
  const asked = await Promise.allSettled([claims.claim(claimOf('a'), null), claims.conclude(claimOf('b'))]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
