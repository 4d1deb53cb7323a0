import type { UpstreamRefusal } from '@headgate/protocols';
import { describe, expect, test } from 'vitest';
import { faultOf } from './fallback.ts';
import type { Outcome } from './outcome.ts';

function refused(refusal: Partial<UpstreamRefusal>, retryAfterMs: number | null = null): Outcome {
  const no = {
    kind: 'invalid-request',
    status: 400,
    message: 'No',
    type: null,
    code: null,
    param: null,
  } as const;
  return { kind: 'refused', refusal: { ...no, ...refusal }, retryAfterMs };
}

const limited = (retryAfterMs: number | null) => refused({ kind: 'rate-limited', status: 429 }, retryAfterMs);

describe('faultOf', () => {
  test.each([
    [[30_000, 7_000], null, 7_000],
    [[30_000, null], 2_000, 2_000],
    [[1_000], 2_000, 1_000],
    [[null], 2_000, 2_000],
    [[null], null, null],
  ])(
    'rate limits of %j, and %s for those not tried: the soonest counts',
    (waits, blockedRetryMs, soonest) => {
      expect(faultOf(waits.map(limited), blockedRetryMs)).toMatchObject({
        code: 'upstream_rate_limited',
        retryAfterMs: soonest,
      });
    },
  );
});
