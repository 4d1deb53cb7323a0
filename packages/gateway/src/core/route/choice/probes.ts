import { type Facts, smallestProtocol } from '@headgate/protocols';
import { type Model, plainRouting, type Target } from '../../catalogue.ts';
import type { Ask } from '../router.ts';
import type { Candidate, Field } from '../target/candidates.ts';
import { mayProbeWith } from '../target/credential-slot.ts';

/** A target whose last call failed, and that nobody has asked since, is asked again after so long. */
const doubtfulMs = 10_000;

/** What is asked in a probe: a word or two, and for one token. */
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

interface IdleChannel {
  usedMs: number;
  price: number;
  /** Allocated only where one is found that costs less, not for every target there is. */
  cheapest: Suspect | null;
}

/** A probe as the router is told of it. */
export function probeAsk(model: Model): Ask {
  return {
    facts,
    model,
    protocol: 'chat-completions',
    routing: plainRouting,
    accountId: null,
    sessionKey: null,
  };
}

/** What a call of the model is usually like. */
export function usualAsk(model: Model, inputTokens: number): Ask {
  const usual = { ...facts, maxOutputTokens: null, inputTokensEstimate: inputTokens };
  return { ...probeAsk(model), facts: usual };
}

/** Whether one token can be asked for there. Where it cannot, as of images, callers' own calls are the probes. */
export function canProbe(model: Model, { target }: Candidate): boolean {
  const { outputModalities } = model;
  const isSpoken = outputModalities.length === 0 || outputModalities.includes('text');
  return isSpoken && smallestProtocol(target.channel.provider.protocols) !== null;
}

/**
 * Ejected, its time out is over, and nobody knows yet whether it is back; or it has answered, and no call goes there to
 * find out more, as of a backup.
 */
export function isProbeDue(candidate: Candidate, nowMs: number): boolean {
  const { circuit, lastSentMs } = candidate.state;
  if (circuit.state(nowMs) !== 'due') return false;
  const isLeftAlone = circuit.hasAnswered && nowMs - lastSentMs >= doubtfulMs;
  return (isLeftAlone || !circuit.isPromising) && mayProbe(candidate, nowMs);
}

/** Never ejected, or back, and free to be asked. */
export function isInService(candidate: Candidate, nowMs: number): boolean {
  return candidate.state.circuit.isClosed && mayProbe(candidate, nowMs);
}

/**
 * Of each channel that nobody has called for so long its cheapest target, and all targets in service whose last call
 * failed: so what is dead is known before a caller finds out.
 */
export function idleOnes(
  fields: Iterable<readonly [Model, Field]>,
  nowMs: number,
  idleMs: number,
): readonly Suspect[] {
  const channels = new Map<string, IdleChannel>();
  const found: Suspect[] = [];
  for (const [model, { candidates }] of fields) {
    for (const candidate of candidates) {
      // What has never been used is taken as used when the process began.
      const usedMs = Math.max(0, candidate.state.lastSentMs);
      const channel = obtainChannel(channels, candidate.target.channel.id);
      channel.usedMs = Math.max(channel.usedMs, usedMs);
      const isDoubtful = candidate.state.circuit.isDoubtful && nowMs - usedMs >= doubtfulMs;
      const isCheapest = channel.cheapest === null || priceOf(candidate) < channel.price;
      if (!isDoubtful && !isCheapest) continue;
      if (!isInService(candidate, nowMs) || !canProbe(model, candidate)) continue;
      const suspect = { model, target: candidate.target };
      if (isDoubtful) found.push(suspect);
      else Object.assign(channel, { price: priceOf(candidate), cheapest: suspect });
    }
  }
  for (const { usedMs, cheapest } of channels.values())
    if (cheapest !== null && nowMs - usedMs >= idleMs) found.push(cheapest);
  return found;
}

function obtainChannel(channels: Map<string, IdleChannel>, id: string): IdleChannel {
  const known = channels.get(id);
  if (known !== undefined) return known;
  const made = { usedMs: 0, price: Number.POSITIVE_INFINITY, cheapest: null };
  channels.set(id, made);
  return made;
}

function mayProbe({ target: { channel }, state, slots, load }: Candidate, nowMs: number): boolean {
  if (!channel.enabled || channel.drain || state.missingUntilMs > nowMs) return false;
  if (channel.maxConcurrency !== null && load.inFlight >= channel.maxConcurrency) return false;
  return slots.some((slot) => mayProbeWith(slot, nowMs));
}

function priceOf({ rates }: Candidate): number {
  return rates[0]?.input ?? Number.POSITIVE_INFINITY;
}
