import type { RouterState } from '../../ports/router-state-store.ts';
import type { Model, Target } from '../catalogue.ts';
import { SessionMemory } from './affinity.ts';
import { AnswerMemory } from './answer-memory.ts';
import { Appraisal, meanPriceOf } from './appraisal.ts';
import type { Uniform } from './beta-draw.ts';
import { type Candidate, Candidates, type Field, type HashCredential } from './candidates.ts';
import { desperateOf, type ProbeMode, type Sorted, sortCandidates } from './eligibility.ts';
import { type Excluded, type ExplainedTarget, explainPlan } from './explain.ts';
import { RetryBudget } from './retry-budget.ts';
import type { Ask, Flight, Plan, Progress, Router } from './router.ts';
import { SteadyTime } from './steady-time.ts';
import { TargetFlight } from './target-flight.ts';

export interface ExpectedCostOptions {
  /** Attempts of one call. */
  readonly attemptsMax: number;
  readonly probes: ProbeMode;
  readonly uniform: Uniform;
  readonly hashCredential: HashCredential;
}

/** Targets named for an attempt: those that cannot be asked for a call are passed over. */
const targetsMax = 12;
/** A target nobody has used for so long is asked once, to see whether it is still what it was. */
const exploreAfterMs = 20_000;
/** Dearer ones would not be chosen whatever they showed. */
const exploreRatio = 4;
/** Below this chance of the best one left, a further attempt is taken from the budget. */
const doubtfulChance = 0.5;
/** What was learned longer ago says nothing of now. */
export const routerStateMsMax = 24 * 3_600_000;
/** Of those out of service, so many that are soonest to recover are tried. */
const panicTargets = 3;
/** Where everything is out of service, a call asks so many targets and no more: storms are made of retries. */
const panicAttemptsMax = 2;

/**
 * The cheapest target that will answer (routing.md): each has a score, the expected cost of a successful call, and the
 * best ones share the calls. Local state, injected time and chance: the same code in production and in simulation.
 */
export class ExpectedCostRouter implements Router {
  readonly #options: ExpectedCostOptions;
  readonly #time = new SteadyTime();
  readonly #candidates: Candidates;
  readonly #answers = new AnswerMemory();
  readonly #sessions = new SessionMemory();
  readonly #budget = new RetryBudget();
  readonly #start: Progress;

  constructor(options: ExpectedCostOptions) {
    this.#options = options;
    this.#candidates = new Candidates(options.hashCredential);
    this.#start = { tried: new Set(), attemptsLeft: options.attemptsMax };
  }

  plan(ask: Ask, clockMs: number, progress = this.#start): Plan {
    const nowMs = this.#time.read(clockMs);
    const field = this.#candidates.of(ask.model);
    const isFirst = progress.tried.size === 0;
    if (isFirst) {
      field.demand.called(meanPriceOf(field.candidates, field.demand));
      this.#budget.called(nowMs);
    }
    const sorted = this.#sort(field, ask, progress, nowMs);
    return {
      targets: oncePerChannel(this.#order(field, sorted, ask, progress, nowMs)),
      blockedRetryMs: soonest(sorted.excluded, nowMs),
    };
  }

  /** What a call would find now: nothing is learned or spent by asking. */
  explain(ask: Ask, clockMs: number, progress = this.#start): readonly ExplainedTarget[] {
    const nowMs = this.#time.read(clockMs);
    const field = this.#candidates.of(ask.model);
    const sorted = this.#sort(field, ask, progress, nowMs);
    const appraisal = this.#appraise(field, sorted.ready, ask, progress, nowMs);
    const due = sorted.due.map((candidate): Excluded => ({ candidate, reason: 'open' }));
    return explainPlan(appraisal.scored, appraisal.weights(), [...sorted.excluded, ...due]);
  }

  /** An attempt is sent; what is returned follows it to its end. */
  depart(target: Target, ask: Ask, clockMs: number): Flight {
    return new TargetFlight(
      {
        candidates: this.#candidates,
        candidate: this.#candidates.candidate(target),
        demand: this.#candidates.of(ask.model).demand,
        ask,
        sessions: this.#sessions,
        answers: this.#answers,
        time: this.#time,
        uniform: this.#options.uniform,
      },
      clockMs,
    );
  }

  /**
   * What has been learned since it was last asked for, or of it so much; for a later process. Sessions, answers and calls
   * under way are not in it.
   */
  takeChanged(clockMs: number, statesMax = Number.POSITIVE_INFINITY): readonly RouterState[] {
    return this.#candidates.takeChanged(statesMax, clockMs - this.#time.read(clockMs), clockMs);
  }

  /**
   * Takes over what an earlier process has learned; before the first call. Evidence fades by its age, and time outs and
   * blocks end when they would have. What is older than a day is left out; what comes from the future is taken as new.
   * The same credentials must be hashed in the same way.
   */
  restore(states: readonly RouterState[], clockMs: number): void {
    const nowMs = this.#time.read(clockMs);
    for (const state of states) {
      if (clockMs - state.savedAtMs > routerStateMsMax) continue;
      this.#candidates.restore(state, nowMs - Math.max(clockMs, state.savedAtMs));
    }
  }

  /** Attempts under way there. */
  inFlight(target: Target): number {
    return this.#candidates.candidate(target).state.inFlight;
  }

  /** Targets of the model that a synthetic probe of one token should be sent to now. */
  probesDue(model: Model, clockMs: number): readonly Target[] {
    const nowMs = this.#time.read(clockMs);
    return this.#candidates
      .of(model)
      .candidates.filter(
        ({ target, state, credential }) =>
          target.channel.enabled &&
          credential.blockedUntilMs <= nowMs &&
          state.capacity.blockedUntilMs <= nowMs &&
          !state.circuit.isPromising &&
          state.circuit.state(nowMs) === 'due',
      )
      .map(({ target }) => target);
  }

  #sort(field: Field, ask: Ask, { tried }: Progress, nowMs: number): Sorted {
    return sortCandidates(field.candidates, { ask, tried }, this.#answers, this.#options.probes, nowMs);
  }

  #appraise(
    { demand, candidates }: Field,
    ready: readonly Candidate[],
    { facts, routing, sessionKey }: Ask,
    { tried, attemptsLeft }: Progress,
    nowMs: number,
  ): Appraisal {
    return new Appraisal(ready, {
      all: candidates,
      demand,
      facts,
      session: this.#sessions.find(sessionKey),
      preset: routing.preset,
      tried: tried.size,
      attemptsAfter: Math.min(Math.floor(attemptsLeft) - 1, ready.length - 1),
      uniform: this.#options.uniform,
      nowMs,
    });
  }

  *#order(
    field: Field,
    { ready, due, excluded }: Sorted,
    ask: Ask,
    progress: Progress,
    nowMs: number,
  ): Generator<Candidate> {
    const isFirst = progress.tried.size === 0;
    if (ready.length === 0) return yield* this.#panic(due, excluded, progress.tried.size, nowMs);
    const appraisal = this.#appraise(field, ready, ask, progress, nowMs);
    if (!isFirst && !this.#mayGoOn(appraisal)) return;
    yield this.#toProbe(due, isFirst && progress.attemptsLeft >= 2) ??
      this.#toExplore(field, appraisal, isFirst, nowMs) ??
      appraisal.draw();
    yield* appraisal.inOrder();
  }

  /** Nothing is ready: circuits are ignored, and what is soonest to recover is tried. */
  #panic(
    due: readonly Candidate[],
    excluded: readonly Excluded[],
    tried: number,
    nowMs: number,
  ): readonly Candidate[] {
    const rest = desperateOf(excluded);
    const well = rest.filter(({ reason }) => reason === 'capped' || reason === 'no-headroom');
    const ailing = [...due, ...rest.map(({ candidate }) => candidate)];
    const choice = well.length > 0 ? well.map(({ candidate }) => candidate) : ailing;
    if (choice.length === 0) return [];
    if (tried > 0) {
      if (tried >= panicAttemptsMax || !this.#budget.canSpend) return [];
      this.#budget.spend();
    }
    const soonestFirst = choice.toSorted((a, b) => recoversAtMs(a, nowMs) - recoversAtMs(b, nowMs));
    const place = Math.floor(this.#options.uniform() * Math.min(panicTargets, soonestFirst.length));
    return [...soonestFirst.splice(place, 1), ...soonestFirst];
  }

  #mayGoOn({ bestChance }: Appraisal): boolean {
    if (bestChance >= doubtfulChance) return true;
    if (!this.#budget.canSpend) return false;
    this.#budget.spend();
    return true;
  }

  #toProbe(due: readonly Candidate[], mayProbe: boolean): Candidate | null {
    if (!mayProbe || due.length === 0) return null;
    return due[Math.floor(this.#options.uniform() * due.length)] ?? null;
  }

  #toExplore({ demand }: Field, appraisal: Appraisal, isFirst: boolean, nowMs: number): Candidate | null {
    if (!isFirst || !demand.mayExplore) return null;
    const longest = appraisal.longestUnused(exploreRatio);
    if (longest === null || nowMs - longest.state.lastSentMs < exploreAfterMs) return null;
    demand.explored();
    return longest;
  }
}

function oncePerChannel(candidates: Iterable<Candidate>): readonly Target[] {
  const seen = new Set<string>();
  const targets: Target[] = [];
  for (const { target } of candidates) {
    if (seen.has(target.channel.id)) continue;
    seen.add(target.channel.id);
    targets.push(target);
    if (targets.length >= targetsMax) break;
  }
  return targets;
}

function recoversAtMs({ state }: Candidate, nowMs: number): number {
  return Math.max(state.circuit.openUntilMs, state.capacity.freeAtMs(nowMs));
}

/** Until the first rate limit ends that a target was left out for. */
function soonest(excluded: readonly Excluded[], nowMs: number): number | null {
  let waitMs: number | null = null;
  for (const { candidate, reason } of excluded) {
    if (reason !== 'blocked') continue;
    const leftMs = candidate.state.capacity.blockedUntilMs - nowMs;
    waitMs = Math.min(waitMs ?? leftMs, leftMs);
  }
  return waitMs === null ? null : Math.ceil(waitMs);
}
