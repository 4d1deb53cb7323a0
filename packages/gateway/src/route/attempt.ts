import { beginningOf, type Reading, totalInput, totalOutput, type Usage } from '@headgate/protocols';
import type { Credential, Target } from '../catalogue/catalogue.ts';
import type { CredentialSlot } from './credential.ts';
import type { Uniform } from './health.ts';
import { type Evidence, type Outcome, rowOf } from './outcomes.ts';
import type { Candidates } from './pool.ts';
import { readHeadroom } from './retry-after.ts';
import type { RoutedAttempt, RouteRequest } from './route.ts';
import { type AnswerMemory, cacheableTokensMin, type SessionMemory } from './sticky.ts';
import type { Candidate } from './target.ts';
import type { SteadyTime } from './time.ts';
import type { Demand } from './traffic.ts';
import { wordsOn } from './words.ts';

/** A trial may take as long as it takes to write so many mean answers, and then as long as first content may. */
const trialAnswers = 3;

/** So long a silent target is waited for in any case: with the watchdog's step and a new connection it is under five seconds. */
const worthwhileMsMin = 4500;
/** Many streams take this many times as long as the mean: that the others are quicker is not said by one of them. */
const worthwhileRatio = 3;
/** Prompts are read before the first word, wherever they are sent; a slow reader reads so many tokens. */
const tokensReadPerMs = 10;

/** All that sending an attempt takes. */
export interface Sending {
  readonly request: RouteRequest;
  readonly demand: Demand;
  /** True when it matters to later calls where a session has been. */
  readonly keepsSessions: boolean;
  /** Ours, not a caller's. */
  readonly isProbe: boolean;
  readonly candidates: Candidates;
  readonly candidate: Candidate;
  /** The credential it is sent with. */
  readonly slot: CredentialSlot;
  readonly sessions: SessionMemory;
  readonly answers: AnswerMemory;
  readonly time: SteadyTime;
  readonly uniform: Uniform;
  readonly onService: ServiceListener;
}

/** A target was taken out of service for so long at first, and why; or it is back in it, after so long. Milliseconds. */
export type ServiceChange =
  | { readonly kind: 'ejected'; readonly cause: string; readonly forMs: number }
  | { readonly kind: 'back'; readonly afterMs: number };

export type ServiceListener = (target: Target, change: ServiceChange) => void;

/** An upstream may say much. */
const wordsMax = 200;

function failureWords(outcome: Outcome, { channel }: Target): string {
  return beginningOf((wordsOn(outcome, channel) ?? outcome.kind).replaceAll(/\s+/g, ' '), wordsMax);
}

/** One attempt under way, as the router sees it: what is counted in at its beginning is counted out at its end, once. */
export class TargetAttempt implements RoutedAttempt {
  readonly credential: Credential | null;
  readonly #sending: Sending;
  readonly #startMs: number;
  /** Sent to a target that is out of service, to see whether it still has to be. */
  readonly #isTrial: boolean;
  #beganMs: number | null = null;
  #hasEnded = false;

  constructor(sending: Sending, clockMs: number) {
    this.#sending = sending;
    const { candidate, slot, request, time } = sending;
    const { state, load } = candidate;
    const { facts } = request;
    this.credential = slot.credential;
    const nowMs = time.read(clockMs);
    this.#startMs = nowMs;
    this.#isTrial = !state.circuit.isClosed;
    load.inFlight++;
    load.lastUsedMs = nowMs;
    state.sent(nowMs);
    slot.use.capacity.sent(nowMs, facts.inputTokensEstimate);
    if (facts.stream) state.silence.sent(nowMs);
    this.#touch();
  }

  waitedInVainMs(clockMs: number): number {
    const nowMs = this.#sending.time.read(clockMs);
    const { state, load } = this.#sending.candidate;
    // A channel that hangs for other models most likely hangs for this one, as long as that has given nothing either.
    const inVainMs = [state.hang, load.hang].map((hang) => hang.waitedMs(this.#startMs, nowMs));
    const isOnTrial = this.#isTrial && !state.circuit.isClosed;
    return Math.max(...inVainMs, isOnTrial ? this.#overdueMs(nowMs) : 0);
  }

  /** Beyond the time that it takes to write several answers: what is on trial is waited for no longer. */
  #overdueMs(nowMs: number): number {
    const { candidate, demand } = this.#sending;
    const writingMs = trialAnswers * candidate.state.latency.writingMs(demand.outputTokens);
    return nowMs - this.#startMs - writingMs;
  }

  get firstContentMs(): number {
    const { candidate, demand, isProbe } = this.#sending;
    const { latency } = candidate.state;
    const usual = demand.firstContent(this.#startMs);
    if (isProbe) return latency.probeDeadlineMs(this.#startMs, usual);
    return Math.min(latency.deadlineMs(this.#startMs, usual), this.#worthwhileMs);
  }

  /** Beyond it the wait costs more than the quickest other target would (ADR 38); infinite where there is no other. */
  get #worthwhileMs(): number {
    const { candidates, candidate, request } = this.#sending;
    const { candidates: all, beginsMs } = candidates.estimatesOf(request.model);
    let quickestMs = Number.POSITIVE_INFINITY;
    for (let place = 0; place < all.length; place++)
      if (all[place] !== candidate) quickestMs = Math.min(quickestMs, beginsMs[place] ?? 0);
    const readingMs = request.facts.inputTokensEstimate / tokensReadPerMs;
    return Math.max(worthwhileMsMin, worthwhileRatio * quickestMs) + readingMs;
  }

  get hedgeAfterMs(): number {
    return this.#sending.candidate.state.latency.lateMs(this.#startMs);
  }

  get hasReasoned(): boolean {
    return this.#sending.candidate.state.latency.hasReasoned;
  }

  tokensIn(durationMs: number): number {
    return this.#sending.candidate.state.latency.tokensIn(durationMs);
  }

  /** Reads rate limits; reset dates in them are on the clock of the wall. */
  noteHead(headers: Iterable<readonly [string, string]>, clockMs: number): void {
    const headroom = readHeadroom(headers, clockMs);
    const { slot, time } = this.#sending;
    if (headroom === null) return;
    slot.use.capacity.told(headroom, time.read(clockMs));
    this.#touch();
  }

  /** First content has come; of an answer that is no stream, the end of it. */
  noteFirstContent(clockMs: number): void {
    if (this.#beganMs !== null || this.#hasEnded) return;
    const nowMs = this.#sending.time.read(clockMs);
    const { candidates, candidate, slot, demand, request, onService } = this.#sending;
    const { state, target, load } = candidate;
    this.#beganMs = nowMs;
    const wasClosed = state.circuit.isClosed;
    state.succeeded(nowMs, this.#startMs);
    if (!wasClosed && state.circuit.isClosed)
      onService(target, { kind: 'back', afterMs: nowMs - state.circuit.outSinceMs });
    slot.use.capacity.succeeded(nowMs);
    demand.attempted(nowMs, false);
    slot.standing.accepted(slot.use);
    load.hang.began(this.#startMs);
    candidates.changed(candidate, slot, request.model.id, nowMs);
    this.#touch();
    if (!request.facts.stream) return;
    state.silence.began(this.#startMs);
    state.latency.began(nowMs - this.#startMs, nowMs);
    demand.began(nowMs - this.#startMs, nowMs);
  }

  /** The attempt has come to its end. A null outcome teaches nothing, but the target has one call less. */
  noteEnd(outcome: Outcome | null, clockMs: number): void {
    if (this.#hasEnded) return;
    const nowMs = this.#sending.time.read(clockMs);
    if (outcome?.kind === 'answered') this.noteFirstContent(clockMs);
    this.#hasEnded = true;
    const { candidates, candidate, slot, request, isProbe, onService } = this.#sending;
    const { state, target, load } = candidate;
    state.inFlight--;
    load.inFlight--;
    load.lastUsedMs = nowMs;
    if (request.facts.stream) state.silence.ended(this.#startMs);
    const hadContent = this.#beganMs !== null;
    const wasClosed = state.circuit.isClosed;
    if (outcome === null) state.circuit.released();
    else {
      const evidence = rowOf(outcome, hadContent || undefined).health;
      if (evidence.kind !== 'well' && evidence.kind !== 'nothing')
        state.lastFailure = { atMs: clockMs, words: failureWords(outcome, target) };
      this.#learn(outcome, evidence, nowMs);
    }
    this.#touch();
    // Its trouble shows only now.
    candidates.changed(candidate, slot, request.model.id, nowMs);
    if (wasClosed && !state.circuit.isClosed) {
      const cause = state.lastFailure?.words ?? 'it fails';
      onService(target, { kind: 'ejected', cause, forMs: state.circuit.openUntilMs - nowMs });
    }
    if (isProbe && outcome !== null && rowOf(outcome).alive) state.circuit.wasThere(nowMs);
    // It has not failed, but it was slower than the one that was asked later.
    if (outcome?.kind === 'outrun' && !hadContent) state.latency.outrun(nowMs - this.#startMs, nowMs);
    if (outcome?.kind !== 'answered') return;
    this.#rememberKept(outcome.reading);
    this.#learnUse(outcome.reading.usage, nowMs);
  }

  /** Something has happened to the target, or to all targets of its channel: what is kept of them is old. */
  #touch(): void {
    const { state, target, load } = this.#sending.candidate;
    const { pulses } = this.#sending.candidates;
    pulses.beat(state.pulse);
    if (target.channel.maxConcurrency !== null) pulses.beat(load.pulse);
  }

  #learn(outcome: Outcome, evidence: Evidence, nowMs: number): void {
    const { candidates, candidate, slot, demand, uniform, isProbe } = this.#sending;
    const { state } = candidate;
    const lostMs = nowMs - this.#startMs;
    switch (evidence.kind) {
      case 'well':
        return;
      case 'broke':
        return state.health.broke(nowMs);
      case 'failed':
        if (evidence.isTimeOut) this.#noteTimeOut(lostMs, nowMs);
        demand.attempted(nowMs, true);
        return state.failed(nowMs, this.#startMs, evidence.weight, uniform);
      case 'limited':
        state.circuit.released();
        return slot.use.capacity.refused(nowMs, outcome.kind === 'refused' ? outcome.retryAfterMs : null);
      case 'credential':
        state.circuit.released();
        candidates.pulses.beat(candidate.load.pulse);
        return slot.standing.refused(slot.use, isProbe, nowMs);
      case 'missing':
        state.circuit.released();
        // The model may be there for what it is made for, if it is not made for answers.
        if (!isProbe) state.missing(nowMs);
        return;
      case 'nothing':
        return state.circuit.released();
      default:
        return evidence satisfies never;
    }
  }

  /** How long an answer takes that is no stream says nothing of when one begins. */
  #noteTimeOut(lostMs: number, nowMs: number): void {
    const { candidate, request } = this.#sending;
    candidate.state.hang.timedOut(this.#startMs);
    candidate.load.hang.timedOut(this.#startMs);
    if (request.facts.stream) candidate.state.latency.timedOut(lostMs, nowMs);
  }

  #rememberKept({ answerId, containerId }: Reading): void {
    const { candidate, slot, request, answers } = this.#sending;
    const { continues, continuesBeside, kept } = request.facts;
    const { channel } = candidate.target;
    const keeper = { channelId: channel.id, accountKey: slot.accountKey, ownerId: request.accountId };
    // They were found there, so they are there: whoever made them.
    if (continues !== undefined) answers.note(continues, keeper);
    if (continuesBeside !== undefined) answers.note(continuesBeside, keeper);
    if (kept === true && answerId != null) answers.note(answerId, keeper);
    if (containerId != null) answers.note(containerId, keeper);
  }

  #learnUse(usage: Usage | null, nowMs: number): void {
    if (usage === null) return;
    const { candidate, slot, demand, request, sessions, keepsSessions } = this.#sending;
    const { facts } = request;
    const { state } = candidate;
    const outputTokens = totalOutput(usage);
    demand.used(totalInput(usage), outputTokens);
    if (facts.stream && this.#beganMs !== null) {
      state.latency.wrote(outputTokens, nowMs - this.#beganMs, nowMs - this.#startMs);
      if (usage.outputReasoning > 0) state.latency.hasReasoned = true;
    }
    if (!keepsSessions || totalInput(usage) < cacheableTokensMin) return;
    const session = request.session();
    if (session !== null) sessions.answered(session, slot.use, usage, nowMs);
  }
}
