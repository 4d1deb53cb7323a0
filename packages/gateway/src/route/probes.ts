import type { Facts } from '@headgate/protocols';
import { type Model, plainRouting, type Target } from '../catalogue/catalogue.ts';
import { mayProbeWith } from './credential.ts';
import type { Estimates } from './estimates.ts';
import type { RouteRequest } from './route.ts';
import type { Candidate, ChannelLoad } from './target.ts';

/** A target whose last call failed, and that nobody has asked since, is asked again after so long. */
const doubtfulMs = 10_000;

/**
 * One that is out of service is asked for a token so often, and less often once it has been out for long. Callers have a wait
 * of their own (`circuit.ts`), which grows: a try costs them time, and a probe costs a token.
 */
const probeEveryMs = 5000;
const laterProbeEveryMs = 15_000;
const laterMs = 60_000;

/** The facts of a probe: a word or two, and one token asked for. */
const facts: Facts = {
  model: '',
  stream: true, // its one token comes when a stream would begin
  maxOutputTokens: 1,
  inputTokensEstimate: 10,
  choices: 1,
  needs: new Set(),
};

/** A target to be asked, and one of the models it serves. */
export interface Suspect {
  readonly target: Target;
  readonly model: Model;
}

/** A probe as the router is told of it. */
export function probeRequest(model: Model): RouteRequest {
  return {
    facts,
    model,
    protocol: 'chat-completions',
    routing: plainRouting,
    accountId: null,
    asItIs: false,
    session: () => null,
  };
}

/** A call of the model as it usually is. */
export function usualRequest(model: Model, inputTokens: number): RouteRequest {
  const usual = { ...facts, maxOutputTokens: null, inputTokensEstimate: inputTokens };
  return { ...probeRequest(model), facts: usual };
}

/**
 * Ejected, and nobody knows yet whether it is back: its time out is over, or it is time to ask. Or it has answered, and no
 * call goes there to find out more, as of a backup.
 */
export function isProbeDue(candidate: Candidate, nowMs: number): boolean {
  const { circuit } = candidate.state;
  const silentMs = nowMs - candidate.state.lastHeardOfMs;
  switch (circuit.state(nowMs)) {
    case 'closed':
    case 'probing':
      return false;
    case 'open': {
      const everyMs = nowMs - circuit.outSinceMs < laterMs ? probeEveryMs : laterProbeEveryMs;
      return !circuit.isPromising && silentMs >= everyMs && mayProbe(candidate, nowMs);
    }
    case 'due': {
      const isLeftAlone = circuit.hasAnswered && silentMs >= doubtfulMs;
      return (isLeftAlone || !circuit.isPromising) && mayProbe(candidate, nowMs);
    }
  }
}

/** Never ejected, or back, and free to be asked. */
export function isInService(candidate: Candidate, nowMs: number): boolean {
  return candidate.state.circuit.isClosed && mayProbe(candidate, nowMs);
}

/**
 * The cheapest target of each channel that nobody has called for so long, and all targets in service whose last call
 * failed: so what is dead is known before a caller finds out. Every target is looked at once a second, so a look is short.
 */
export function idleOnes(
  all: readonly { readonly model: Model; readonly estimates: Estimates }[],
  nowMs: number,
  idleMs: number,
): readonly Suspect[] {
  const cheapest = new Map<ChannelLoad, Suspect & { readonly price: number }>();
  const found: Suspect[] = [];
  for (const { model, estimates } of all) {
    for (let place = 0; place < estimates.candidates.length; place++) {
      const candidate = estimates.candidates[place];
      if (candidate === undefined || !estimates.canProbe[place]) continue;
      const { state, load, target } = candidate;
      const isDoubtful = state.circuit.isDoubtful && nowMs - Math.max(0, state.lastHeardOfMs) >= doubtfulMs;
      // Silence is no news of a channel that somebody waits for, or has only just given up.
      const isIdle = load.inFlight === 0 && nowMs - load.lastUsedMs >= idleMs;
      if ((!isDoubtful && !isIdle) || !isInService(candidate, nowMs)) continue;
      if (isDoubtful) found.push({ model, target });
      const known = cheapest.get(load);
      const price = priceOf(candidate);
      if (!isDoubtful && (known === undefined || price < known.price))
        cheapest.set(load, { model, target, price });
    }
  }
  return [...found, ...cheapest.values()];
}

function mayProbe({ target: { channel }, state, slots, load }: Candidate, nowMs: number): boolean {
  if (!channel.enabled || channel.drain || state.missingUntilMs > nowMs) return false;
  if (channel.maxConcurrency !== null && load.inFlight >= channel.maxConcurrency) return false;
  return slots.some((slot) => mayProbeWith(slot, nowMs));
}

function priceOf({ rates }: Candidate): number {
  return rates[0]?.input ?? Number.POSITIVE_INFINITY;
}
