import type { Again, Ask, Progress } from '../router.ts';
import type { Uniform } from '../target/beta-draw.ts';
import type { Candidate } from '../target/candidates.ts';
import { barEndsAtMs } from '../target/credential-slot.ts';
import type { Excluded, Exclusion } from './considered.ts';
import type { Need } from './eligibility.ts';

/** What a call asks of its targets, whatever the state of their model. */
export type CallNeed = Omit<Need, 'isStorm'>;

/** Of a channel with as many calls as it may have: what callers are told to wait. */
const fullMs = 1000;

/** The only channel there is is asked again after so long: not at once, and not by all callers together. Milliseconds. */
const againAfterMsMin = 50;
const againAfterMsMax = 250;

/** How long the only channel is left alone before it is asked again. */
export function jitterMs(uniform: Uniform): number {
  return againAfterMsMin + uniform() * (againAfterMsMax - againAfterMsMin);
}

export function needOf(ask: Ask, { tried, refused = new Set(), contextAbove = null }: Progress): CallNeed {
  return { ask, tried, refused, contextAbove };
}

/** Of a call that may ask one channel again, with whatever credential. */
export function needAgain(need: CallNeed, { channelId }: Again): CallNeed {
  return { ...need, tried: new Set([...need.tried].filter((id) => id !== channelId)), refused: new Set() };
}

/** Until the first rate limit ends that a target was left out for, or one of the calls may have ended that fill it. */
export function soonest(excluded: readonly Excluded[], nowMs: number): number | null {
  let waitMs: number | null = null;
  for (const { candidate, reason } of excluded) {
    const endsAtMs = endOf(candidate, reason, nowMs);
    if (endsAtMs !== null) waitMs = Math.min(waitMs ?? Number.POSITIVE_INFINITY, endsAtMs - nowMs);
  }
  return waitMs === null ? null : Math.ceil(waitMs);
}

function endOf({ slots }: Candidate, reason: Exclusion, nowMs: number): number | null {
  if (reason === 'full') return nowMs + fullMs;
  return reason === 'blocked' ? barEndsAtMs(slots, reason, nowMs) : null;
}
