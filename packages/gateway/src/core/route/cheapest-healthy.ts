import type { Facts } from '@headgate/protocols';
import type { Target } from '../catalogue.ts';
import { isCallersFault } from './fallback.ts';
import type { Outcome } from './outcome.ts';
import type { Plan, Router } from './router.ts';

interface CheapestHealthyOptions {
  /** Targets tried for one call. */
  readonly attemptsMax: number;
  /** How long a failed target is put behind the healthy ones. */
  readonly coolDownMs: number;
}

/** Tokens of output assumed for comparing prices when the caller sets no limit. */
const outputTokensAssumed = 500;

/**
 * The interim order: operator priority, then healthy before failed, then cheapest. Nothing is ever excluded for its
 * health, so the last candidate always gets its try; a target that is rate limited until a named time is excluded until then.
 */
export function cheapestHealthy(options: CheapestHealthyOptions): Router {
  const ailing = new Map<string, number>();
  const blocked = new Map<string, number>();

  return {
    plan(facts, model, nowMs) {
      const enabled = model.targets.filter((target) => target.channel.enabled);
      const open = enabled.filter((target) => (blocked.get(targetKey(target)) ?? 0) <= nowMs);
      if (open.length === 0) return nothingToTry(enabled, blocked, nowMs);
      const rank = (target: Target) => ((ailing.get(targetKey(target)) ?? 0) > nowMs ? 1 : 0);
      const ordered = open.length === 1 ? open : open.sort((a, b) => compareTargets(a, b, facts, rank));
      return { targets: oncePerChannel(ordered).slice(0, options.attemptsMax), retryAfterMs: null };
    },
    observe(target, outcome, nowMs) {
      const key = targetKey(target);
      if (outcome.kind === 'answered') {
        ailing.delete(key);
        return;
      }
      if (!isTargetFailure(outcome)) return;
      ailing.set(key, nowMs + options.coolDownMs);
      const waitMs = rateLimitMs(outcome);
      if (waitMs !== null) blocked.set(key, nowMs + waitMs);
    },
  };
}

function targetKey(target: Target): string {
  return `${target.channel.id}\n${target.upstreamModel}`;
}

function compareTargets(a: Target, b: Target, facts: Facts, rank: (target: Target) => number): number {
  const byPriority = a.channel.priority - b.channel.priority;
  if (byPriority !== 0) return byPriority;
  const byHealth = rank(a) - rank(b);
  if (byHealth !== 0) return byHealth;
  const costA = expectedCost(a, facts);
  const costB = expectedCost(b, facts);
  if (costA !== costB) return costA === null ? 1 : costB === null || costA < costB ? -1 : 1;
  return a.channel.id < b.channel.id ? -1 : 1;
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

function nothingToTry(enabled: readonly Target[], blocked: ReadonlyMap<string, number>, nowMs: number): Plan {
  const waits = enabled.map((target) => (blocked.get(targetKey(target)) ?? nowMs) - nowMs);
  return { targets: [], retryAfterMs: waits.length === 0 ? null : Math.max(0, Math.min(...waits)) };
}

/** Faults of the caller and the caller's hang-ups never count (routing.md, "State"). */
function isTargetFailure(outcome: Outcome): boolean {
  if (outcome.kind === 'caller-gone' || outcome.kind === 'shut-down') return false;
  return outcome.kind !== 'refused' || !isCallersFault(outcome.refusal);
}

/** How long a rate limit asks us to wait. Any other failure that names a time is only put behind the healthy ones. */
function rateLimitMs(outcome: Outcome): number | null {
  return outcome.kind === 'refused' && outcome.refusal.kind === 'rate-limited' ? outcome.retryAfterMs : null;
}
