import type { Credential, Model, Target } from '../catalogue/catalogue.ts';
import type { RouterState } from '../ports/store.ts';
import { type Sending, type ServiceListener, TargetAttempt } from './attempt.ts';
import { type CredentialSlot, chooseSlot, slotsWithin } from './credential.ts';
import {
  asked,
  isAnyLeft,
  isFirst,
  jitterMs,
  lastResort,
  needAgain,
  needOf,
  type Selection,
  type Sorted,
  soonest,
  sortCandidates,
  tierOf,
  turnOf,
} from './eligibility.ts';
import { listedTargets, oncePerChannel, type Pool } from './estimates.ts';
import { type Explanation, explanationOf } from './explain.ts';
import type { Uniform } from './health.ts';
import { Candidates, type HashCredential } from './pool.ts';
import { idleOnes, isInService, isProbeDue, probeRequest, type Suspect, usualRequest } from './probes.ts';
import {
  type Choice,
  type Listed,
  leftOutOf,
  type Progress,
  type Route,
  type RoutedAttempt,
  type RouteRequest,
} from './route.ts';
import { routerStateMsMax } from './saved.ts';
import { type Circumstances, longestUnused, type Ranking, rank, rankInFull } from './scores.ts';
import { type SlotStatus, slotStatusesOf, statusOf, type TargetStatus } from './status.ts';
import { AnswerMemory, cacheableTokensMin, type Session, SessionMemory } from './sticky.ts';
import type { Candidate } from './target.ts';
import { SteadyTime } from './time.ts';
import { Demand, RetryBudget } from './traffic.ts';

export interface RouterOptions {
  /** Attempts of one call. */
  readonly attemptsMax: number;
  readonly uniform: Uniform;
  readonly hashCredential: HashCredential;
  readonly onService?: ServiceListener;
}

/** Why an attempt is sent. */
type Reason = Pick<Sending, 'request' | 'demand' | 'keepsSessions' | 'isProbe'>;

/** A decision, before it is put into targets. */
interface Decision {
  readonly choice: Choice;
  /** Null where nothing may be asked. */
  readonly ranking: Ranking | null;
  /** In the order in which they are to be tried. */
  readonly targets: readonly Target[];
}

/** A target nobody has used for so long is probed, to see whether it is still what it was. */
const probeAfterMs = 20_000;
/** Below this chance of the best one left, a further attempt is taken from the budget. */
const doubtfulChance = 0.5;
/** Targets out of service that are tried: the ones that are soonest to recover. */
const panicTargets = 3;
/** A call asks so many targets while everything is out of service; one while nothing has answered for long. */
const panicAttemptsMax = 2;

const none: ReadonlySet<never> = new Set<never>();
const noneListed: Listed = { places: [], numbers: [] };

/**
 * The cheapest target that will answer (routing.md): each has a score, the expected cost of a successful call, and the
 * best ones share the calls. Local state, injected time and chance: the same code in production and in simulation.
 */
export class Router {
  readonly #options: RouterOptions;
  readonly #time = new SteadyTime();
  readonly #candidates: Candidates;
  readonly #answers = new AnswerMemory();
  readonly #sessions = new SessionMemory();
  readonly #budget = new RetryBudget();
  readonly #start: Progress;
  /** Credentials take turns by it. */
  #turns = 0;

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#candidates = new Candidates(options.hashCredential);
    this.#start = { tried: new Set(), attemptsLeft: options.attemptsMax };
  }

  /** Tells if the call names what an upstream keeps for another account: to this one it does not exist. */
  isForeign({ facts, accountId }: RouteRequest): boolean {
    const named = [facts.continues, facts.continuesBeside];
    return named.some((answerId) => this.#answers.isForeign(answerId, accountId));
  }

  /** Without `progress` it is the first of the call; asked again for every further attempt, much may have been learned since. */
  route(request: RouteRequest, clockMs: number, progress = this.#start): Route {
    const nowMs = this.#time.read(clockMs);
    const pool = this.#candidates.poolOf(request);
    if (isFirst(progress) && !progress.again) {
      pool.estimates.demand.called(pool.estimates.meanPrice());
      this.#budget.called(nowMs);
    }
    const sorted = this.#sort(pool, request, progress, nowMs);
    const { choice, ranking, targets } = this.#decide(sorted, request, progress, nowMs);
    const { due, excluded } = sorted;
    return {
      targets,
      blockedRetryMs: soonest(excluded, nowMs),
      againMs: targets.length > 0 ? null : this.#againMs(sorted, request, progress, nowMs),
      considered: {
        choice,
        pool,
        count: ranking?.count ?? 0,
        listed: ranking?.listed ?? noneListed,
        due,
        excluded,
      },
    };
  }

  /** A second attempt while the first is silent, where one is likely to be answered; null when that would be one too many. */
  hedge(request: RouteRequest, clockMs: number, progress: Progress): Route | null {
    const nowMs = this.#time.read(clockMs);
    const pool = this.#candidates.poolOf(request);
    const { demand } = pool.estimates;
    if (!demand.mayHedge || !this.#budget.canSpend) return null;
    const { ready, due, excluded } = this.#sort(pool, request, progress, nowMs);
    if (ready.length === 0) return null;
    const circumstances = this.#circumstances(pool, ready, request, progress, nowMs, true);
    const { count, listed, bestChance } = rank(pool.estimates, ready, circumstances);
    if (bestChance < doubtfulChance) return null;
    demand.hedged();
    return {
      targets: listedTargets(pool.estimates, null, listed.places),
      blockedRetryMs: null,
      againMs: null,
      considered: { choice: 'hedge', pool, count, listed, due, excluded },
    };
  }

  /** A call as it would go now: nothing is learned, drawn or spent by asking. */
  explain(request: RouteRequest, clockMs: number, progress = this.#start): Explanation {
    const nowMs = this.#time.read(clockMs);
    const pool = this.#candidates.poolOf(request);
    pool.estimates.readAll(nowMs);
    const sorted = this.#sort(pool, request, progress, nowMs);
    const { ready } = sorted;
    const circumstances = this.#circumstances(pool, ready, request, progress, nowMs, false);
    const scored = ready.length === 0 ? [] : rankInFull(pool.estimates, ready, circumstances);
    const { choice, among } =
      ready.length === 0 ? lastResort(sorted, nowMs) : turnOf(sorted, request, progress);
    const order = oncePerChannel([...among, ...scored.map(({ candidate }) => candidate)]);
    const ids = order.map(({ channel }) => channel.id);
    return explanationOf({ choice, order: ids, scored, left: leftOutOf(sorted), nowMs, clockMs });
  }

  /** An attempt is sent, and followed: with none of the credentials that were refused to the call, where there is another one. */
  attempt(
    target: Target,
    request: RouteRequest,
    clockMs: number,
    refused: ReadonlySet<Credential> = none,
  ): RoutedAttempt {
    const { demand, keepsSessions } = this.#candidates.estimatesOf(request.model);
    return this.#send(target, { request: request, demand, keepsSessions, isProbe: false }, refused, clockMs);
  }

  /** A probe of ours is sent. It teaches of the target what a call would, and of calls nothing. */
  probe(target: Target, model: Model, clockMs: number): RoutedAttempt {
    const nowMs = this.#time.read(clockMs);
    const { circuit } = this.#candidates.candidate(target).state;
    if (circuit.state(nowMs) === 'closed') this.#candidates.estimatesOf(model).demand.probed();
    const reason = {
      request: probeRequest(model),
      demand: new Demand(),
      keepsSessions: false,
      isProbe: true,
    };
    return this.#send(target, reason, none, clockMs);
  }

  /**
   * Takes what has been learned since it was last asked for, or so much of it, for a later process. Sessions, answers and calls
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

  /** Tells if one more attempt may be under way on the target's channel. */
  hasRoom(target: Target): boolean {
    const { maxConcurrency } = target.channel;
    return maxConcurrency === null || this.#candidates.candidate(target).load.inFlight < maxConcurrency;
  }

  /** Attempts under way there. */
  inFlight(target: Target): number {
    return this.#candidates.candidate(target).state.inFlight;
  }

  /** A target as it stands now, for operators. */
  status(target: Target, clockMs: number): TargetStatus {
    return statusOf(this.#candidates.candidate(target), this.#time.read(clockMs), clockMs);
  }

  slotStatuses(target: Target, clockMs: number): readonly SlotStatus[] {
    return slotStatusesOf(this.#candidates.candidate(target), this.#time.read(clockMs), clockMs);
  }

  lift(target: Target, credentialId: string | null, clockMs: number): number {
    const { onService = unheard } = this.#options;
    const onBack = (afterMs: number) => onService(target, { kind: 'back', afterMs });
    return this.#candidates.lift(target, credentialId, this.#time.read(clockMs), onBack);
  }

  /** Targets of the model that are out of service, and that a probe of one token should be sent to now. */
  probesDue(model: Model, clockMs: number): readonly Target[] {
    const nowMs = this.#time.read(clockMs);
    const { candidates, canProbe } = this.#candidates.estimatesOf(model);
    const due: Target[] = [];
    for (let place = 0; place < candidates.length; place++) {
      const candidate = candidates[place];
      // Mostly all of them are in service, and a thousand are looked at every second.
      if (candidate === undefined || candidate.state.circuit.isClosed || !canProbe[place]) continue;
      if (isProbeDue(candidate, nowMs)) due.push(candidate.target);
    }
    return due;
  }

  /** A target in service that nobody has asked for a while, though it might be worth it; none where the model's calls are too few. */
  probeWorthwhile(model: Model, clockMs: number): Target | null {
    const nowMs = this.#time.read(clockMs);
    const estimates = this.#candidates.estimatesOf(model);
    if (!estimates.demand.mayProbe) return null;
    const ready: number[] = [];
    for (const [place, candidate] of estimates.candidates.entries()) {
      estimates.read(place, nowMs);
      if (estimates.canProbe[place] && isInService(candidate, nowMs)) ready.push(place);
    }
    if (ready.length === 0) return null;
    const request = usualRequest(model, estimates.demand.inputTokens);
    const circumstances = this.#circumstances({ estimates }, ready, request, this.#start, nowMs, false);
    const unused = longestUnused(estimates, ready, circumstances);
    const isUnused = unused?.state.inFlight === 0 && nowMs - unused.state.lastHeardOfMs >= probeAfterMs;
    return isUnused ? unused.target : null;
  }

  /** Targets in service to send a probe to, lest a caller is the first to find out that they are not; see `idleOnes`. */
  probesIdle(models: readonly Model[], clockMs: number, idleMs: number): readonly Suspect[] {
    const all = models.map((model) => ({ model, estimates: this.#candidates.estimatesOf(model) }));
    return idleOnes(all, this.#time.read(clockMs), idleMs);
  }

  #send(target: Target, reason: Reason, refused: ReadonlySet<Credential>, clockMs: number): RoutedAttempt {
    const candidate = this.#candidates.candidate(target);
    const slot = this.#slotFor(candidate, reason.request, refused, this.#time.read(clockMs));
    slot.use.turn = ++this.#turns;
    return new TargetAttempt(
      {
        ...reason,
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
    request: RouteRequest,
    refused: ReadonlySet<Credential>,
    nowMs: number,
  ): CredentialSlot {
    if (slots.length === 1) return slots[0];
    const fitting = slotsWithin(slots, this.#answers.keeperOf(request.facts.continues));
    const need = { refused, tokens: request.facts.inputTokensEstimate };
    return chooseSlot(fitting, need, this.#sessionOf(request), nowMs);
  }

  /** Null where no session was anywhere, or none could be worth anything: most calls are never asked for theirs. */
  #sessionOf({ facts, session }: RouteRequest): Session | null {
    const isShort = facts.inputTokensEstimate < cacheableTokensMin;
    return isShort || this.#sessions.size === 0 ? null : this.#sessions.find(session());
  }

  #sort(pool: Pool, request: RouteRequest, progress: Progress, nowMs: number): Sorted {
    const { again } = progress;
    const need = needOf(request, progress);
    const sorted = sortCandidates(pool, need, this.#answers, nowMs);
    if (!again?.isDue || isAnyLeft(sorted)) return sorted;
    return sortCandidates(pool, needAgain(need, again), this.#answers, nowMs);
  }

  /** How long a call waits for the first that its limit lets go, or for the only one there is to be asked again. */
  #againMs(sorted: Sorted, request: RouteRequest, progress: Progress, nowMs: number): number | null {
    const { again } = progress;
    // A target that may be asked and was not planned is out of service, and the budget for that is spent.
    if (isAnyLeft(sorted)) return null;
    const all = again
      ? sortCandidates(sorted.pool, needAgain(needOf(request, progress), again), this.#answers, nowMs)
      : sorted;
    if (isAnyLeft(all)) return this.#isWorthwhile(all) ? jitterMs(this.#options.uniform) : null;
    const blockedMs = soonest(all.excluded, nowMs);
    return blockedMs === null ? null : blockedMs + jitterMs(this.#options.uniform);
  }

  #isWorthwhile({ pool: { estimates }, ready }: Sorted): boolean {
    const isLikely = ready.some((place) => (estimates.chances[place] ?? 0) >= doubtfulChance);
    return isLikely || (this.#budget.canSpend && !estimates.demand.isStorm);
  }

  #circumstances(
    { estimates }: Pick<Pool, 'estimates'>,
    ready: readonly number[],
    request: RouteRequest,
    { tried, attemptsLeft, refused = none }: Progress,
    nowMs: number,
    draws: boolean,
  ): Circumstances {
    // With one target there is none that a session could make it cheaper than.
    const isSticky = estimates.hasCaches && ready.length > 1;
    return {
      facts: request.facts,
      session: isSticky ? this.#sessionOf(request) : null,
      cacheOf: (candidate) => this.#slotFor(candidate, request, refused, nowMs).use,
      preset: request.routing.preset,
      tried: tried.size,
      attemptsAfter: Math.min(Math.floor(attemptsLeft) - 1, ready.length - 1),
      uniform: this.#options.uniform,
      draws,
      nowMs,
    };
  }

  #decide(sorted: Sorted, request: RouteRequest, progress: Progress, nowMs: number): Decision {
    const { pool, ready } = sorted;
    if (ready.length === 0) return this.#panic(pool, lastResort(sorted, nowMs), asked(progress));
    const circumstances = this.#circumstances(pool, ready, request, progress, nowMs, true);
    const ranking = rank(pool.estimates, ready, circumstances);
    if (!isFirst(progress) && !this.#mayGoOn(ranking)) return { choice: 'withheld', ranking, targets: [] };
    const { choice, among } = turnOf(sorted, request, progress);
    const drawn = pool.estimates.candidates[ranking.drawn] ?? null;
    const first = (choice === 'probe' ? this.#oneOf(among) : null) ?? drawn;
    return { choice, ranking, targets: listedTargets(pool.estimates, first, ranking.listed.places) };
  }

  /** Nothing is ready: circuits are ignored, and what is soonest to recover is tried. */
  #panic({ estimates: { demand } }: Pool, { choice, among }: Selection, tried: number): Decision {
    if (choice === 'nothing') return { choice, ranking: null, targets: [] };
    // A target that has answered since it was ejected is no desperate try.
    if (tried > 0 && !among[0]?.state.circuit.isPromising) {
      if (tried >= panicAttemptsMax || demand.isStorm || !this.#budget.canSpend)
        return { choice: 'withheld', ranking: null, targets: [] };
      this.#budget.spend();
    }
    const inBestTier = among.filter((each) => tierOf(each) === tierOf(among[0] ?? each));
    const first = this.#oneOf(inBestTier.slice(0, panicTargets));
    return { choice, ranking: null, targets: oncePerChannel(first === null ? among : [first, ...among]) };
  }

  #mayGoOn({ bestChance }: Ranking): boolean {
    if (bestChance >= doubtfulChance) return true;
    if (!this.#budget.canSpend) return false;
    this.#budget.spend();
    return true;
  }

  #oneOf(candidates: readonly Candidate[]): Candidate | null {
    if (candidates.length === 0) return null;
    return candidates[Math.floor(this.#options.uniform() * candidates.length)] ?? null;
  }
}

const unheard: ServiceListener = () => undefined;
