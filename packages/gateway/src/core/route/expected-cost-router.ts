import type { RouterState } from '../../ports/router-state-store.ts';
import type { Credential, Model, Target } from '../catalogue.ts';
import { type CallNeed, jitterMs, needAgain, needOf, soonest } from './choice/again.ts';
import { Appraisal, meanPriceOf } from './choice/appraisal.ts';
import { type Choice, leftOutOf } from './choice/considered.ts';
import { Demand } from './choice/demand.ts';
import { isAnyLeft, type ProbeMode, type Sorted, sortCandidates } from './choice/eligibility.ts';
import { lastResort, type Turn, tierOf, withinTierOf } from './choice/last-resort.ts';
import {
  canProbe,
  idleOnes,
  isInService,
  isProbeDue,
  probeAsk,
  type Suspect,
  usualAsk,
} from './choice/probes.ts';
import { RetryBudget } from './choice/retry-budget.ts';
import { type Explanation, explanationOf, type RouteExplainer } from './explain/explain.ts';
import type { Ask, Flight, Plan, Progress, Router } from './router.ts';
import { SessionMemory } from './session/affinity.ts';
import { AnswerMemory } from './session/answer-memory.ts';
import type { Uniform } from './target/beta-draw.ts';
import { type Candidate, Candidates, type Field, type HashCredential } from './target/candidates.ts';
import { type CredentialSlot, chooseSlot, slotsWithin } from './target/credential-slot.ts';
import { SteadyTime } from './target/steady-time.ts';
import { type Errand, type ServiceListener, TargetFlight } from './target/target-flight.ts';

export interface ExpectedCostOptions {
  /** Attempts of one call. */
  readonly attemptsMax: number;
  readonly probes: ProbeMode;
  readonly uniform: Uniform;
  readonly hashCredential: HashCredential;
  readonly onService?: ServiceListener;
}

/** A decision, before it is put into targets. */
interface Decision {
  readonly choice: Choice;
  readonly appraisal: Appraisal | null;
  readonly order: Iterable<Candidate>;
}

/** Targets named for an attempt: those that cannot be asked for a call are passed over. */
const targetsMax = 12;
/** A target nobody has used for so long is asked once, to see whether it is still what it was. */
const exploreAfterMs = 20_000;
/** Below this chance of the best one left, a further attempt is taken from the budget. */
const doubtfulChance = 0.5;
/** What was learned longer ago says nothing of now. */
export const routerStateMsMax = 24 * 3_600_000;
/** Of those out of service, so many that are soonest to recover are tried. */
const panicTargets = 3;
/** Where everything is out of service, a call asks so many targets; one where nothing has answered for long. */
const panicAttemptsMax = 2;

const none: ReadonlySet<never> = new Set<never>();

/**
 * The cheapest target that will answer (routing.md): each has a score, the expected cost of a successful call, and the
 * best ones share the calls. Local state, injected time and chance: the same code in production and in simulation.
 */
export class ExpectedCostRouter implements Router, RouteExplainer {
  readonly #options: ExpectedCostOptions;
  readonly #time = new SteadyTime();
  readonly #candidates: Candidates;
  readonly #answers = new AnswerMemory();
  readonly #sessions = new SessionMemory();
  readonly #budget = new RetryBudget();
  readonly #start: Progress;
  /** Of credentials. */
  #turns = 0;

  constructor(options: ExpectedCostOptions) {
    this.#options = options;
    this.#candidates = new Candidates(options.hashCredential);
    this.#start = { tried: new Set(), attemptsLeft: options.attemptsMax };
  }

  isForeign({ facts, accountId }: Ask): boolean {
    const named = [facts.continues, facts.continuesBeside];
    return named.some((answerId) => this.#answers.isForeign(answerId, accountId));
  }

  plan(ask: Ask, clockMs: number, progress = this.#start): Plan {
    const nowMs = this.#time.read(clockMs);
    const field = this.#candidates.of(ask.model);
    if (isFirst(progress) && !progress.again) {
      field.demand.called(meanPriceOf(field.candidates, field.demand));
      this.#budget.called(nowMs);
    }
    const sorted = this.#sort(field, ask, progress, nowMs);
    const { choice, appraisal, order } = this.#decide(field, sorted, ask, progress, nowMs);
    const { due, excluded } = sorted;
    const targets = oncePerChannel(order);
    return {
      targets,
      blockedRetryMs: soonest(excluded, nowMs),
      againMs: targets.length > 0 ? null : this.#againMs(field, sorted, ask, progress, nowMs),
      considered: { choice, scores: appraisal, due, excluded },
    };
  }

  /** A second attempt is for what is slow, not for what fails: it is sent where one would be likely to be answered. */
  hedge(ask: Ask, clockMs: number, progress: Progress): Plan | null {
    const nowMs = this.#time.read(clockMs);
    const field = this.#candidates.of(ask.model);
    if (!field.demand.mayHedge || !this.#budget.canSpend) return null;
    const { ready, due, excluded } = this.#sort(field, ask, progress, nowMs);
    const appraisal = this.#appraise(field, ready, ask, progress, nowMs, true);
    if (appraisal === null || appraisal.bestChance < doubtfulChance) return null;
    field.demand.hedged();
    return {
      targets: oncePerChannel(appraisal.inOrder()),
      blockedRetryMs: null,
      againMs: null,
      considered: { choice: 'hedge', scores: appraisal, due, excluded },
    };
  }

  /** What a call would find now: nothing is learned, drawn or spent by asking. */
  explain(ask: Ask, clockMs: number, progress = this.#start): Explanation {
    const nowMs = this.#time.read(clockMs);
    const field = this.#candidates.of(ask.model);
    const sorted = this.#sort(field, ask, progress, nowMs);
    const appraisal = this.#appraise(field, sorted.ready, ask, progress, nowMs, false);
    const { choice, among } =
      appraisal === null
        ? lastResort(sorted, nowMs)
        : this.#turn(field, sorted, appraisal, ask, progress, nowMs);
    const scored = appraisal?.inFull() ?? [];
    const order = oncePerChannel([...among, ...scored.map(({ candidate }) => candidate)]);
    return explanationOf({
      choice,
      order: order.map(({ channel }) => channel.id),
      scored,
      left: leftOutOf(sorted),
      nowMs,
      clockMs,
    });
  }

  /** An attempt is sent; what is returned follows it to its end. */
  depart(target: Target, ask: Ask, clockMs: number, refused: ReadonlySet<Credential> = none): Flight {
    const { demand } = this.#candidates.of(ask.model);
    return this.#fly(target, { ask, demand, isProbe: false }, refused, clockMs);
  }

  /** A probe of ours is sent. It teaches of the target what a call would, and of calls nothing. */
  probe(target: Target, model: Model, clockMs: number): Flight {
    const nowMs = this.#time.read(clockMs);
    const { circuit } = this.#candidates.candidate(target).state;
    if (circuit.state(nowMs) === 'closed') this.#candidates.of(model).demand.probed();
    return this.#fly(target, { ask: probeAsk(model), demand: new Demand(), isProbe: true }, none, clockMs);
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

  hasRoom(target: Target): boolean {
    const { maxConcurrency } = target.channel;
    return maxConcurrency === null || this.#candidates.candidate(target).load.inFlight < maxConcurrency;
  }

  /** Attempts under way there. */
  inFlight(target: Target): number {
    return this.#candidates.candidate(target).state.inFlight;
  }

  /** Targets of the model that are out of service, and that a probe of one token should be sent to now. */
  probesDue(model: Model, clockMs: number): readonly Target[] {
    const nowMs = this.#time.read(clockMs);
    return this.#candidates
      .of(model)
      .candidates.filter((candidate) => isProbeDue(candidate, nowMs) && canProbe(model, candidate))
      .map(({ target }) => target);
  }

  /**
   * A target of the model in service that nobody has asked for a while, though it would get calls if it were as good as it
   * can be: a probe finds out. None where the model's calls are too few to be worth it.
   */
  probeWorthwhile(model: Model, clockMs: number): Target | null {
    const nowMs = this.#time.read(clockMs);
    const field = this.#candidates.of(model);
    if (!field.demand.mayProbe) return null;
    const ready = field.candidates.filter(
      (candidate) => canProbe(model, candidate) && isInService(candidate, nowMs),
    );
    const ask = usualAsk(model, field.demand.inputTokens);
    const appraisal = this.#appraise(field, ready, ask, this.#start, nowMs, false);
    return unusedFor(exploreAfterMs, appraisal?.longestUnused() ?? null, nowMs)?.target ?? null;
  }

  /** Targets in service to send a probe to, lest a caller is the first to find out that they are not; see `idleOnes`. */
  probesIdle(models: readonly Model[], clockMs: number, idleMs: number): readonly Suspect[] {
    const fields = models.map((model) => [model, this.#candidates.of(model)] as const);
    return idleOnes(fields, this.#time.read(clockMs), idleMs);
  }

  #fly(target: Target, errand: Errand, refused: ReadonlySet<Credential>, clockMs: number): Flight {
    const candidate = this.#candidates.candidate(target);
    const slot = this.#slotFor(candidate, errand.ask, refused, this.#time.read(clockMs));
    slot.use.turn = ++this.#turns;
    return new TargetFlight(
      {
        ...errand,
        candidates: this.#candidates,
        candidate,
        slot,
        sessions: this.#sessions,
        answers: this.#answers,
        time: this.#time,
        uniform: this.#options.uniform,
        onService: this.#options.onService ?? unheard,
      },
      clockMs,
    );
  }

  #slotFor(
    { slots }: Candidate,
    { facts, sessionKey }: Ask,
    refused: ReadonlySet<Credential>,
    nowMs: number,
  ): CredentialSlot {
    const fitting = slotsWithin(slots, this.#answers.keeperOf(facts.continues));
    const need = { refused, tokens: facts.inputTokensEstimate };
    return chooseSlot(fitting, need, this.#sessions.find(sessionKey), nowMs);
  }

  #sort(field: Field, ask: Ask, progress: Progress, nowMs: number): Sorted {
    const { again } = progress;
    const need = needOf(ask, progress);
    const sorted = this.#sortFor(need, field, nowMs);
    return again?.isDue && !isAnyLeft(sorted) ? this.#sortFor(needAgain(need, again), field, nowMs) : sorted;
  }

  #sortFor(need: CallNeed, { candidates, demand }: Field, nowMs: number): Sorted {
    const whole = { ...need, isStorm: demand.isStorm };
    return sortCandidates(candidates, whole, this.#answers, this.#options.probes, nowMs);
  }

  /** How long a call waits for the first that its limit lets go, or for the only one there is to be asked again. */
  #againMs(field: Field, sorted: Sorted, ask: Ask, progress: Progress, nowMs: number): number | null {
    const { again } = progress;
    // What may be asked and was not planned is out of service, and the budget for that is spent.
    if (isAnyLeft(sorted)) return null;
    const all = again ? this.#sortFor(needAgain(needOf(ask, progress), again), field, nowMs) : sorted;
    if (isAnyLeft(all)) return this.#isWorthwhile(field, all, nowMs) ? jitterMs(this.#options.uniform) : null;
    const blockedMs = soonest(all.excluded, nowMs);
    return blockedMs === null ? null : blockedMs + jitterMs(this.#options.uniform);
  }

  #isWorthwhile({ demand }: Field, { ready }: Sorted, nowMs: number): boolean {
    const isLikely = ready.some(({ state }) => state.health.chance(nowMs) >= doubtfulChance);
    return isLikely || (this.#budget.canSpend && !demand.isStorm);
  }

  /** Null where nothing may be asked. */
  #appraise(
    { demand, candidates }: Field,
    ready: readonly Candidate[],
    ask: Ask,
    { tried, attemptsLeft, refused = none }: Progress,
    nowMs: number,
    draws: boolean,
  ): Appraisal | null {
    if (ready.length === 0) return null;
    const { facts, routing, sessionKey } = ask;
    return new Appraisal(ready, {
      all: candidates,
      demand,
      facts,
      session: this.#sessions.find(sessionKey),
      cacheOf: (candidate) => this.#slotFor(candidate, ask, refused, nowMs).use,
      preset: routing.preset,
      tried: tried.size,
      attemptsAfter: Math.min(Math.floor(attemptsLeft) - 1, ready.length - 1),
      uniform: this.#options.uniform,
      draws,
      nowMs,
    });
  }

  #decide(field: Field, sorted: Sorted, ask: Ask, progress: Progress, nowMs: number): Decision {
    const appraisal = this.#appraise(field, sorted.ready, ask, progress, nowMs, true);
    if (appraisal === null) return this.#panic(field, lastResort(sorted, nowMs), asked(progress));
    if (!isFirst(progress) && !this.#mayGoOn(appraisal)) return { choice: 'withheld', appraisal, order: [] };
    const { choice, among } = this.#turn(field, sorted, appraisal, ask, progress, nowMs);
    if (choice === 'exploration') field.demand.explored();
    const first = (choice === 'probe' ? this.#oneOf(among) : among[0]) ?? appraisal.draw();
    return { choice, appraisal, order: startingWith(first, appraisal) };
  }

  /** Nothing is ready: circuits are ignored, and what is soonest to recover is tried. */
  #panic({ demand }: Field, { choice, among }: Turn, tried: number): Decision {
    if (choice === 'nothing') return { choice, appraisal: null, order: [] };
    // What has answered since it was ejected is no desperate try.
    if (tried > 0 && !among[0]?.state.circuit.isPromising) {
      if (tried >= panicAttemptsMax || demand.isStorm || !this.#budget.canSpend)
        return { choice: 'withheld', appraisal: null, order: [] };
      this.#budget.spend();
    }
    const inBestTier = among.filter((each) => tierOf(each) === tierOf(among[0] ?? each));
    const first = this.#oneOf(inBestTier.slice(0, panicTargets));
    return { choice, appraisal: null, order: first === null ? among : [first, ...among] };
  }

  #mayGoOn({ bestChance }: Appraisal): boolean {
    if (bestChance >= doubtfulChance) return true;
    if (!this.#budget.canSpend) return false;
    this.#budget.spend();
    return true;
  }

  /** Whose turn it is, without any effect. */
  #turn(
    { demand }: Field,
    { ready, due, excluded }: Sorted,
    appraisal: Appraisal,
    { facts }: Ask,
    progress: Progress,
    nowMs: number,
  ): Turn {
    const mayProbe = isFirst(progress) && progress.attemptsLeft >= 2;
    const inTier = mayProbe ? withinTierOf(ready, due) : [];
    if (inTier.length > 0) return { choice: 'probe', among: inTier };
    // Where probes are synthetic, they find it out.
    const mayExplore = isFirst(progress) && this.#options.probes === 'calls' && demand.mayExplore;
    const unused = mayExplore ? unusedFor(exploreAfterMs, appraisal.longestUnused(), nowMs) : null;
    if (unused !== null) return { choice: 'exploration', among: [unused] };
    const isPinned = facts.continues !== undefined && excluded.some(({ reason }) => reason === 'elsewhere');
    return { choice: isPinned ? 'pinned' : 'score', among: [] };
  }

  #oneOf(candidates: readonly Candidate[]): Candidate | null {
    if (candidates.length === 0) return null;
    return candidates[Math.floor(this.#options.uniform() * candidates.length)] ?? null;
  }
}

const unheard: ServiceListener = () => undefined;
/** Attempts of the call so far, as far as they are to be told apart. */
function asked({ tried, refused = none }: Progress): number {
  return tried.size + refused.size;
}

function isFirst(progress: Progress): boolean {
  return asked(progress) === 0;
}

function* startingWith(first: Candidate, appraisal: Appraisal): Generator<Candidate> {
  yield first;
  yield* appraisal.inOrder();
}

function unusedFor(durationMs: number, candidate: Candidate | null, nowMs: number): Candidate | null {
  return candidate !== null && nowMs - candidate.state.lastSentMs >= durationMs ? candidate : null;
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
