import { unreachable } from '@headgate/protocols';
import type { Target } from '../core/catalogue.ts';
import type { Outcome } from '../core/route/outcome/outcome.ts';
import { retryAfterMs } from '../core/route/outcome/retry-after.ts';
import type { Flight } from '../core/route/router.ts';
import type { CallerListener } from '../ports/data-plane.ts';
import type {
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamHead,
} from '../ports/upstream-client.ts';
import { alertBug } from './alert-bug.ts';
import type { Answer, Ending } from './answer.ts';
import { type Conversation, isOver, isShutDown } from './conversation.ts';
import { streamHeaders, upstreamHeaders, wholeHeaders } from './headers.ts';
import type { Lane } from './lane.ts';
import { RefusalAnswer } from './refusal-answer.ts';
import { StreamAnswer } from './stream-answer.ts';
import { type Guard, guard } from './watchdog.ts';
import { WholeAnswer } from './whole-answer.ts';

/** How long an upstream may take to close an answer that has been read to its end, before its connection is given up. */
const drainMs = 1000;
/** How often it is looked at whether an answer that is long in coming is still to be hoped for. */
const hopeCheckMs = 1000;

/** One request sent to one target, and what came of it. Times in milliseconds. */
export interface AttemptRecord {
  readonly target: Target;
  readonly outcome: Outcome;
  /** When the request was sent, on the clock that never jumps. */
  readonly startedAt: number;
  readonly upstreamRequestId: string | null;
  readonly httpStatus: number | null;
  readonly ttftMs: number | null;
  readonly durationMs: number;
  readonly lane: Lane;
  /** What is left to send to the caller once the entry is durable; null when the attempt gave no answer. */
  readonly ending: Ending | null;
}

/** Where an attempt is sent, and how long it may take. */
export interface AttemptPlace {
  readonly target: Target;
  readonly lane: Lane;
  /** Attempts of the call sent so far, this one included. */
  readonly tally: { readonly begun: number };
  /** On the clock that never jumps: when an answer must have begun, so that there is time for the next attempt. */
  readonly beginsBy: number;
  /** Whether no other target could be asked: then there is nothing to be won by giving up early. */
  readonly isLastHope: boolean;
  /** Told when content comes; its end is for whoever sent the attempt. */
  readonly flight: Flight;
}

/** Hears how an attempt fares the moment it happens, before anything else of the call can. */
export interface AttemptWatcher {
  /** The model's own words have begun to come: from now on the answer is this attempt's. */
  onContent(attempt: Attempt): void;
  onOutcome(attempt: Attempt, outcome: Outcome): void;
}

/**
 * Sends one request and follows it to its outcome: it owns the time-outs and the back-pressure between the two sides. A
 * failure is an outcome, and so is a bug.
 */
export class Attempt implements UpstreamHandler, CallerListener {
  /** Never rejects. */
  readonly done: Promise<AttemptRecord>;
  readonly #conversation: Conversation;
  readonly #place: AttemptPlace;
  /** Null of an attempt that is alone. */
  readonly #watcher: AttemptWatcher | null;
  readonly #resolve: (record: AttemptRecord) => void;
  readonly #guard: Guard;
  #startedAt: number;
  #exchange: UpstreamExchange | null = null;
  #head: UpstreamHead | null = null;
  #answer: Answer | null = null;
  #contentAt: number | null = null;
  #hasBytes = false;
  #paused = false;
  #done = false;

  constructor(conversation: Conversation, place: AttemptPlace, watcher: AttemptWatcher | null) {
    const { promise, resolve } = Promise.withResolvers<AttemptRecord>();
    this.done = promise;
    this.#conversation = conversation;
    this.#place = place;
    this.#watcher = watcher;
    this.#resolve = resolve;
    this.#startedAt = this.#now();
    this.#guard = guard(place.beginsBy, () => this.#expire());
  }

  start(): void {
    this.#safely(this.#send, undefined);
  }

  /** Another attempt has decided the call: nothing of this one is wanted any more, and nothing of it reaches the caller. */
  letGo(): void {
    this.#finish({ kind: 'outrun', reading: this.#reading() });
  }

  onCallerGone(): void {
    this.#finish(this.#callerGone());
  }

  onHead(head: UpstreamHead): void {
    this.#safely(this.#takeHead, head);
  }

  onData(chunk: Uint8Array): void {
    this.#safely(this.#takeChunk, chunk);
  }

  onEnd(): void {
    this.#safely(this.#takeEnd, undefined);
    this.#conversation.gateway.watchdog.release(this.#guard);
  }

  onFailure(failure: UpstreamFailure): void {
    if (!this.#done) this.#finish(this.#outcomeOf(failure));
    this.#conversation.gateway.watchdog.release(this.#guard);
  }

  /** Every step goes through here: what is thrown in one is a bug, and the attempt's outcome. */
  #safely<Input>(step: (this: Attempt, input: Input) => void, input: Input): void {
    try {
      step.call(this, input);
    } catch (error) {
      const { gateway, inbound } = this.#conversation;
      alertBug(error, inbound.traceId, gateway.observer);
      this.#finish({ kind: 'bug', committed: this.#committed(), reading: this.#reading() });
    }
  }

  #send(): void {
    const { gateway, reply, request } = this.#conversation;
    const { target, lane, flight } = this.#place;
    reply.listener = this;
    if (reply.gone) return this.#finish(this.#callerGone());
    const { path, body } = lane.request;
    const headers = upstreamHeaders(lane.request, request.facts.stream && lane.framing === 'sse');
    this.#startedAt = this.#now();
    this.#guard.expiresAt = this.#looksAt(this.#patienceMs());
    gateway.watchdog.watch(this.#guard);
    this.#exchange = gateway.upstream.send(
      {
        channel: target.channel,
        credential: flight.credential,
        method: 'POST',
        path,
        headers,
        body,
        // Lest what may be done once only is sent again when a connection turns out to be dead.
        fresh: request.repeatable === false,
      },
      this,
    );
  }

  #takeHead(head: UpstreamHead): void {
    this.#head = head;
    this.#place.flight.told(head.headers, this.#conversation.gateway.clock.now());
    this.#answer = this.#openAnswer(head);
  }

  #takeChunk(chunk: Uint8Array): void {
    const answer = this.#answer;
    if (this.#done || answer === null) return;
    this.#hasBytes = true;
    const outcome = answer.read(chunk);
    this.#noteContent(answer);
    this.#guard.expiresAt = this.#expiresAt();
    if (answer.committed) this.#conversation.keepAlive?.noteSent(this.#now());
    if (outcome !== null) return this.#finish(outcome);
    if (answer.callerIsSlow) this.#pause();
  }

  #takeEnd(): void {
    const answer = this.#answer;
    if (this.#done) return;
    const outcome = answer?.end() ?? this.#cut('the answer ended before it began');
    if (answer !== null) this.#noteContent(answer);
    this.#finish(outcome);
  }

  #noteContent(answer: Answer): void {
    if (this.#contentAt !== null || !answer.hasContent) return;
    this.#contentAt = this.#now();
    this.#watcher?.onContent(this);
    this.#place.flight.began(this.#conversation.gateway.clock.now());
  }

  #openAnswer(head: UpstreamHead): Answer {
    const { gateway, reply, request, inbound } = this.#conversation;
    const { lane, tally, target } = this.#place;
    if (head.status < 200 || head.status > 299) {
      return new RefusalAnswer(lane.protocol, head.status, retryAfterMs(head, gateway.clock.now()));
    }
    const type = head.headers.get('content-type') ?? '';
    // A stream under a strange name is still read as one; a page or an object in its place is read whole and refused.
    const strange = lane.framing === 'sse' ? /json|html/i : /html/i;
    const isWhole = !request.facts.stream || strange.test(type);
    const told = { lane, contentType: type, attempts: tally.begun };
    const context = {
      work: inbound.work,
      lane,
      dialect: target.channel.provider.dialect,
      reply,
      headers: isWhole ? wholeHeaders(told) : streamHeaders(told, request.framing),
      bytesMax: gateway.limits.answerBytesMax,
      frameBytesMax: gateway.limits.frameBytesMax,
      choices: request.facts.choices,
      wantsUsageFrame: request.wantsUsageFrame,
    };
    return isWhole ? new WholeAnswer(context, request.facts.stream) : new StreamAnswer(context);
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#exchange?.pause();
  }

  onCallerWritable(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#guard.expiresAt = this.#expiresAt();
    this.#exchange?.resume();
  }

  #expire(): void {
    if (this.#done) {
      this.#exchange?.abort();
      return;
    }
    const committed = this.#committed();
    const reading = this.#reading();
    if (isShutDown(this.#conversation)) return this.#finish({ kind: 'shut-down', committed, reading });
    // Time passed while the caller did not read is the caller's, not the upstream's, whichever limit it ran into.
    if (this.#paused) return this.#finish(this.#callerGone());
    if (this.#mayStillCome()) return this.#waitOn();
    const phase = isOver(this.#conversation)
      ? 'deadline'
      : this.#contentAt === null
        ? 'first-content'
        : 'stall';
    this.#finish({ kind: 'timed-out', phase, committed, reading });
  }

  /**
   * An answer that is no stream says nothing until it is whole. It is waited for as long as its target may be well; but where
   * that hangs, another one is worth more than the wait.
   */
  #mayStillCome(): boolean {
    const inVainMs = this.#place.flight.waitedInVainMs(this.#conversation.gateway.clock.now());
    const isWaiting = this.#isBlind && !this.#hasBytes && this.#now() < this.#beginsBy();
    return isWaiting && inVainMs < this.#patienceMs();
  }

  #waitOn(): void {
    this.#guard.expiresAt = this.#looksAt(hopeCheckMs);
    this.#conversation.gateway.watchdog.watch(this.#guard);
  }

  /** When an answer is next asked about that has not begun; the last time when it must have. */
  #looksAt(afterMs: number): number {
    const beginsBy = this.#beginsBy();
    return this.#isBlind ? Math.min(beginsBy, this.#now() + afterMs) : beginsBy;
  }

  /** How long a stream may take to begin there. */
  #patienceMs(): number {
    return Math.min(this.#conversation.gateway.limits.firstContentMs, this.#place.flight.firstContentMs);
  }

  /** Whether nothing shows that an answer is coming, and giving it up is of any use. */
  get #isBlind(): boolean {
    const { ask, request } = this.#conversation;
    const { isLastHope } = this.#place;
    return !request.facts.stream && request.repeatable !== false && !ask.model.reasoning && !isLastHope;
  }

  #outcomeOf({ kind, detail }: UpstreamFailure): Outcome {
    if (kind === 'connect-timeout') {
      return { kind: 'timed-out', phase: 'connect', committed: false, reading: null };
    }
    if (this.#head === null && kind !== 'garbled')
      return { kind: 'unreachable', detail: `${kind}: ${detail}`, sent: mayBeSent(kind) };
    return this.#cut(`${kind}: ${detail}`);
  }

  #cut(detail: string): Outcome {
    return { kind: 'cut', committed: this.#committed(), detail, reading: this.#reading() };
  }

  #callerGone(): Outcome {
    return { kind: 'caller-gone', committed: this.#committed(), reading: this.#reading() };
  }

  /** Resolves the attempt. The connection is kept only when the answer was read to its end. */
  #finish(outcome: Outcome): void {
    if (this.#done) return;
    this.#done = true;
    const { reply } = this.#conversation;
    if (reply.listener === this) reply.listener = null;
    if (outcome.kind === 'answered' || outcome.kind === 'refused')
      this.#guard.expiresAt = this.#now() + drainMs;
    else this.#exchange?.abort();
    if (this.#paused) this.#exchange?.resume();
    this.#watcher?.onOutcome(this, outcome);
    this.#resolve(this.#record(outcome));
  }

  #record(outcome: Outcome): AttemptRecord {
    const headers = this.#head?.headers;
    return {
      target: this.#place.target,
      outcome,
      startedAt: this.#startedAt,
      upstreamRequestId: headers?.get('x-request-id') ?? headers?.get('request-id') ?? null,
      httpStatus: this.#head?.status ?? null,
      ttftMs: this.#contentAt === null ? null : this.#contentAt - this.#startedAt,
      durationMs: this.#now() - this.#startedAt,
      lane: this.#place.lane,
      ending: outcome.kind === 'answered' ? (this.#answer?.ending ?? null) : null,
    };
  }

  /** When the answer must have begun; a JSON answer begins when the model has said everything. */
  #beginsBy(): number {
    const { gateway, ask, request } = this.#conversation;
    const { wholeAnswerMs, firstContentReasoningMs, firstContentMs } = gateway.limits;
    // Images take as long as thought.
    const isSlow = ask.model.reasoning || request.facts.imageKind !== undefined;
    // What the target usually takes says nothing of how long a model may think.
    const usualMs = this.#place.isLastHope ? firstContentMs : this.#patienceMs();
    const streamMs = isSlow ? firstContentReasoningMs : usualMs;
    return Math.min(
      this.#startedAt + (request.facts.stream ? streamMs : wholeAnswerMs),
      this.#place.beginsBy,
    );
  }

  /** Bytes have come: when the next ones must. A stream that has not begun gets no longer for pings and roles. */
  #expiresAt(): number {
    const { gateway, request, deadlineAt } = this.#conversation;
    const stallsAt = Math.min(this.#now() + gateway.limits.stallMs, deadlineAt);
    if (this.#contentAt !== null) return stallsAt;
    return request.facts.stream ? this.#beginsBy() : Math.min(stallsAt, this.#beginsBy());
  }

  #committed(): boolean {
    return this.#answer?.committed ?? false;
  }

  #reading() {
    return this.#answer?.reading ?? null;
  }

  #now(): number {
    return this.#conversation.gateway.clock.monotonic();
  }
}

/** Whether the request, or a part of it, may have reached the upstream before it failed. */
function mayBeSent(kind: UpstreamFailure['kind']): boolean {
  switch (kind) {
    case 'unreachable':
    case 'connect-timeout':
    case 'forbidden-address':
      return false;
    case 'reset':
    case 'garbled':
    case 'aborted':
      return true;
    default:
      return unreachable(kind);
  }
}
