import { type Facts, noUsage, type UpstreamRefusal, type Usage } from '@headgate/protocols';
import { type Model, plainRouting } from '../catalogue/catalogue.ts';
import type { Outcome } from './outcomes.ts';
import type { RouteRequest } from './route.ts';

/** Chance that a test can repeat (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const streamed: Facts = {
  model: 'demo',
  stream: true,
  maxOutputTokens: null,
  inputTokensEstimate: 1000,
  choices: 1,
  needs: new Set(),
  kept: true,
};

/** A call in chat completions of a group without wishes of its own. */
export function asking(facts: Facts, model: Model, session: string | null = null): RouteRequest {
  return {
    facts,
    model,
    protocol: 'chat-completions',
    routing: plainRouting,
    accountId: 'tenant',
    asItIs: false,
    session: () => session,
  };
}

export const refusedConnection: Outcome = { kind: 'unreachable', detail: 'refused', sent: false };
export const brokenOff: Outcome = { kind: 'cut', committed: true, detail: 'reset', reading: null };
export const callerGone: Outcome = { kind: 'caller-gone', committed: false, reading: null };

export function timedOut(phase: 'first-content' | 'stall' | 'deadline'): Outcome {
  return { kind: 'timed-out', phase, committed: phase === 'stall', reading: null };
}

export function refusedWith(kind: UpstreamRefusal['kind'], retryAfterMs: number | null = null): Outcome {
  const refusal = { kind, status: 500, message: '', type: null, code: null, param: null };
  return { kind: 'refused', refusal, retryAfterMs };
}

export function answered(usage: Partial<Usage> = {}, answerId: string | null = null): Outcome {
  const reading = {
    usage: { ...noUsage, inputFresh: 1000, output: 200, ...usage },
    finishReason: 'stop',
    finishReasonRaw: 'stop',
    modelServed: null,
    answerId,
    hasOutput: true,
    outputBytes: 800,
    usageAtOutputBytes: 800,
  } as const;
  return { kind: 'answered', reading };
}
