import { type Facts, type ProtocolId, unreachable } from '@headgate/protocols';
import { canServe, speaks, type Target } from '../catalogue.ts';
import { AnswerMemory } from './answer-memory.ts';
import { isCallersFault } from './fallback.ts';
import type { Outcome } from './outcome.ts';
import type { Router } from './router.ts';

interface CheapestHealthyOptions {
  /** Attempts of one call. */
  readonly attemptsMax: number;
  /** How long a failed target is put behind the healthy ones. */
  readonly coolDownMs: number;
}

/** Targets named for each attempt that may be made: those that cannot be asked for a call are passed over. */
const targetsPerAttempt = 4;

/** Tokens of output assumed for comparing prices when the caller sets no limit. */
const outputTokensAssumed = 500;

/**
 * The interim order: operator priority, then healthy before failed, then cheapest. Nothing is ever excluded for its
 * health, so the last candidate always gets its try; a target that is rate limited until a named time is excluded until then.
 */
export function cheapestHealthy(options: CheapestHealthyOptions): Router {
  const ailing = new Map<string, number>();
  const blocked = new Map<string, number>();
  const answers = new AnswerMemory();

  const learn = (target: Target, outcome: Outcome, nowMs: number) => {
    const key = targetKey(target);
    if (outcome.kind === 'answered') {
      ailing.delete(key);
      const { answerId } = outcome.reading;
      if (answerId != null) answers.note(answerId, target.channel.id);
      return;
    }
    if (!isTargetFailure(outcome)) return;
    ailing.set(key, nowMs + options.coolDownMs);
    const waitMs = rateLimitMs(outcome);
    if (waitMs !== null) blocked.set(key, nowMs + waitMs);
  };

  return {
    plan(facts, model, protocol, nowMs) {
      const able = model.targets.filter(
        (target) => canServe(target, protocol) && answers.allows(facts.continues, target.channel.id),
      );
      const waitMs = (target: Target) => (blocked.get(targetKey(target)) ?? 0) - nowMs;
      const open = able.filter((target) => waitMs(target) <= 0);
      const rank = (target: Target) => ((ailing.get(targetKey(target)) ?? 0) > nowMs ? 1 : 0);
      const ordered =
        open.length <= 1 ? open : open.sort((a, b) => compareTargets(a, b, { facts, protocol, rank }));
      const waits = open.length === able.length ? [] : able.map(waitMs).filter((wait) => wait > 0);
      return {
        targets: oncePerChannel(ordered).slice(0, targetsPerAttempt * options.attemptsMax),
        attemptsMax: options.attemptsMax,
        blockedRetryMs: waits.length === 0 ? null : Math.min(...waits),
      };
    },
    depart(target) {
      return {
        firstContentMs: Number.POSITIVE_INFINITY,
        told: () => {},
        began: () => {},
        ended: (outcome, nowMs) => outcome !== null && learn(target, outcome, nowMs),
      };
    },
  };
}

function targetKey(target: Target): string {
  return `${target.channel.id}\n${target.upstreamModel}`;
}

interface Comparison {
  readonly facts: Facts;
  readonly protocol: ProtocolId;
  readonly rank: (target: Target) => number;
}

function compareTargets(a: Target, b: Target, { facts, protocol, rank }: Comparison): number {
  const byPriority = a.channel.priority - b.channel.priority;
  if (byPriority !== 0) return byPriority;
  const byHealth = rank(a) - rank(b);
  if (byHealth !== 0) return byHealth;
  const costA = expectedCost(a, facts);
  const costB = expectedCost(b, facts);
  if (costA !== costB) return costA === null ? 1 : costB === null || costA < costB ? -1 : 1;
  // At the same price nothing is better than the caller's own bytes.
  const byLane = Number(speaks(b, protocol)) - Number(speaks(a, protocol));
  if (byLane !== 0) return byLane;
  return targetKey(a) < targetKey(b) ? -1 : 1;
}

/** In pico-dollars; null when the channel's price is not known, which sorts last. */
function expectedCost(target: Target, facts: Facts): bigint | null {
  const classes = target.cost?.tiers[0]?.classes;
  if (classes === undefined) return null;
  const outputTokens = Math.min(facts.maxOutputTokens ?? outputTokensAssumed, outputTokensAssumed);
  return (
    BigInt(facts.inputTokensEstimate) * classes.input +
    BigInt(outputTokens) * classes.output +
    classes.perCall
  );
}

function oncePerChannel(targets: readonly Target[]): readonly Target[] {
  const seen = new Set<string>();
  return targets.filter((target) => !seen.has(target.channel.id) && seen.add(target.channel.id));
}

/**
 * Faults of the caller and the caller's hang-ups never count (routing.md, "State"), nor do our own. The deadline is that
 * of the whole call: whoever ran into it may have had little of it.
 */
function isTargetFailure(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'answered':
    case 'caller-gone':
    case 'shut-down':
    case 'bug':
      return false;
    case 'timed-out':
      return outcome.phase !== 'deadline';
    case 'refused':
      return !isCallersFault(outcome.refusal);
    case 'unreachable':
    case 'cut':
      return true;
    default:
      return unreachable(outcome);
  }
}

/** How long a rate limit asks us to wait. Any other failure that names a time is only put behind the healthy ones. */
function rateLimitMs(outcome: Outcome): number | null {
  return outcome.kind === 'refused' && outcome.refusal.kind === 'rate-limited' ? outcome.retryAfterMs : null;
}
