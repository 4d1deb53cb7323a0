import type { Fault, Loss, Reading } from '@headgate/protocols';
import type { Target } from '../catalogue/catalogue.ts';
import type { Wire } from '../catalogue/wire.ts';
import type { Lane } from '../ports/ledger.ts';
import type { UpstreamExchange, UpstreamFailure, UpstreamHandler, UpstreamHead } from '../ports/upstream.ts';
import type { Outcome } from '../route/outcomes.ts';
import type { RoutedAttempt } from '../route/route.ts';
import { Deadline } from './deadline.ts';
import { isReadOn, mayThinkUnseen } from './detours/hang-up.ts';
import { alertSkipped } from './detours/odd-answer.ts';
import { RefusalRelay } from './detours/refusal.ts';
import type { Rescue } from './detours/rescue/rescue.ts';
import { type Encoded, openTranslatedRelay } from './detours/translate.ts';
import type { HeldStream } from './hold/held.ts';
import { type AttemptRecord, alertBug, outcomeOfFailure } from './outcomes.ts';
import { type Relay, StreamRelay } from './relay.ts';
import { streamHeaders, wholeHeaders } from './reply.ts';
import type { Errand } from './request.ts';
import { WholeRelay } from './whole-relay.ts';

/** Whose attempt it is: hears how it fares the moment it happens. */
export interface AttemptOwner {
  /** Attempts sent so far, this one included. */
  readonly begun: number;
  /** Opens relays that can be gone on with elsewhere; null where that is not wanted. */
  readonly rescue?: Rescue | null;
  /** The model's own words have begun to come: from now on the answer is this attempt's. */
  onContent(attempt: Attempt): void;
  /** Last, and once. */
  onOutcome(attempt: Attempt): void;
}

/**
 * Sends one request and follows it to its outcome: it owns the time-outs and the back-pressure between the two sides. A failure is an
 * outcome, and so is a bug: each way in from a socket or a clock catches it.
 */
export class Attempt implements UpstreamHandler, AttemptRecord, HeldStream {
  readonly target: Target;
  readonly routed: RoutedAttempt;
  readonly lane: Lane;
  edits: readonly string[];
  readonly losses: readonly Loss[];
  readonly startedAt: number;
  /** Until it has ended it has been shut down, if it comes to that. */
  outcome: Outcome = { kind: 'shut-down', committed: false, reading: null };
  durationMs = 0;
  readonly #errand: Errand;
  readonly #wire: Wire;
  #encoded: Encoded;
  readonly #owner: AttemptOwner;
  readonly #deadline: Deadline;
  #exchange: UpstreamExchange | null = null;
  #head: UpstreamHead | null = null;
  #relay: Relay | null = null;
  #contentAt: number | null = null;
  #hasBytes = false;
  #paused = false;
  /** It has come to the end of its hold, and waits for more. */
  #isHeldBack = false;
  #pausedAt = 0;
  #pausedMs = 0;
  /** Its caller has left, and it is read for its usage alone. */
  #isReadOn = false;
  #done = false;

  /** `sharers` and `isLastHope`: see `Deadline`. */
  constructor(
    errand: Errand,
    owner: AttemptOwner,
    wire: Wire,
    encoded: Encoded,
    routed: RoutedAttempt,
    sharers: number,
    isLastHope: boolean,
  ) {
    const { request, translation, losses } = encoded;
    this.target = wire.target;
    this.routed = routed;
    this.lane = translation === null ? 'passthrough' : 'translate';
    this.edits = request.edits;
    this.losses = losses;
    this.#errand = errand;
    this.#owner = owner;
    this.#wire = wire;
    this.#encoded = encoded;
    this.startedAt = this.#now();
    const thinks = wire.thinks[errand.request.facts.thought ?? 'silent'];
    const { timeouts } = wire.target.channel;
    const onExpire = () => this.#expire();
    const { startedAt } = this;
    this.#deadline = new Deadline(errand, routed, timeouts, thinks, startedAt, sharers, isLastHope, onExpire);
  }

  /** None after a throw: it may be what did it. */
  get reading(): Reading | null {
    try {
      return this.#reading;
    } catch {
      return null;
    }
  }

  get producedTokens(): number {
    return this.#producedUnseen(this.#now());
  }

  get upstreamRequestId(): string | null {
    const headers = this.#head?.headers;
    return headers?.get('x-request-id') ?? headers?.get('request-id') ?? null;
  }

  get httpStatus(): number | null {
    return this.#head?.status ?? null;
  }

  get isSending(): boolean {
    return this.#exchange?.isSent === false;
  }

  get ttftMs(): number | null {
    return this.#contentAt === null ? null : this.#contentAt - this.startedAt;
  }

  /** The end of its call, where it was answered. */
  get ending(): Relay['ending'] {
    return this.outcome.kind === 'answered' ? (this.#relay?.ending ?? null) : null;
  }

  start(): void {
    try {
      this.#send();
    } catch (error) {
      this.#noteBug(error);
    }
  }

  /** Nothing of it is wanted any more, and nothing of it reaches the caller. `outrun`: another attempt has decided the call. */
  letGo(kind: 'outrun' | 'caller-gone' | 'shut-down'): void {
    try {
      this.#finish({ kind, committed: this.#committed, reading: this.#reading });
    } catch (error) {
      this.#noteBug(error);
    }
  }

  /** Its caller may have no more of it. One that is read on is billed by what has come. */
  endAtLimit(reason: Fault): void {
    if (this.#isReadOn) return this.letGo('caller-gone');
    try {
      const { reading, producedTokens } = this;
      this.#finish({
        kind: 'over-limit',
        committed: this.#committed,
        reading,
        producedTokens,
        fault: reason,
      });
    } catch (error) {
      this.#noteBug(error);
    }
  }

  /** The caller has left: it is read on to its usage where that is wanted and there is room for it, and let go of else. */
  leave(): void {
    if (this.#done || this.#isReadOn) return;
    const { isStopping, gateway, request } = this.#errand;
    const isWanted = !isStopping && isReadOn(this.#wire, this.routed, request.facts, this.#committed);
    this.#isReadOn = isWanted && gateway.hangUps.begin(this);
    if (!this.#isReadOn) return this.letGo('caller-gone');
    this.#deadline.readOn(this.#now(), this.#contentAt !== null);
    this.onCallerWritable();
  }

  /** All of the request has been sent, and it is not sent again. */
  releaseRequest(): void {
    const { request } = this.#encoded;
    this.#encoded = { ...this.#encoded, request: { ...request, body: [] } };
  }

  onCallerWritable(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#pausedMs += this.#now() - this.#pausedAt;
    this.#deadline.moveOn(this.#now(), this.#contentAt !== null);
    if (!this.#isHeldBack) this.#exchange?.resume();
  }

  holdBack(isHeldBack: boolean): void {
    if (this.#done || this.#isHeldBack === isHeldBack) return;
    this.#isHeldBack = isHeldBack;
    if (isHeldBack) return this.#exchange?.pause();
    this.#deadline.moveOn(this.#now(), this.#contentAt !== null);
    if (!this.#paused) this.#exchange?.resume();
  }

  onHead(head: UpstreamHead): void {
    this.#head = head;
    try {
      if (head.decodedFrom !== undefined) this.edits = [...this.edits, `decoded-${head.decodedFrom}`];
      if (head.tellsLimits !== false) this.routed.noteHead(head.headers, this.#errand.gateway.clock.now());
      this.#relay = this.#openRelay(head);
    } catch (error) {
      this.#noteBug(error);
    }
  }

  onData(chunk: Uint8Array): void {
    try {
      this.#takeChunk(chunk);
    } catch (error) {
      this.#noteBug(error);
    }
  }

  onEnd(): void {
    this.#deadline.release();
    const relay = this.#relay;
    if (this.#done) return;
    if (relay?.isLong === true) relay.endElsewhere?.((read) => this.#noteEnded(read));
    else this.#noteEnded(() => relay?.end() ?? this.#cut('the answer ended before it began'));
  }

  #noteEnded(read: () => Outcome): void {
    if (this.#done) return;
    try {
      const outcome = read();
      const now = this.#now();
      if (this.#relay?.hasContent) this.#noteContent(now);
      this.#finish(outcome, now);
    } catch (error) {
      this.#noteBug(error);
    }
  }

  onFailure(failure: UpstreamFailure): void {
    this.#deadline.release();
    this.#noteEnded(() => outcomeOfFailure(failure, this.#head !== null, this.#committed, this.#reading));
  }

  #send(): void {
    const { reply, request: asked } = this.#errand;
    if (reply.gone) return this.letGo('caller-gone');
    const { request, translation } = this.#encoded;
    const isEvents = asked.facts.stream && (translation !== null || asked.framing === 'sse');
    const accept = isEvents ? 'text/event-stream' : 'application/json';
    this.#deadline.begin(this.startedAt);
    const line = this.#wire.line(this.routed.credential, request.path, request.contentType, accept);
    if (this.#errand.hold !== null && asked.facts.stream) this.#errand.hold.follow(this);
    // Work that may be done once only is not sent again when a connection turns out to be dead.
    this.#exchange = line.send(request.headers, request.body, asked.repeatable === false, this);
  }

  #openRelay(head: UpstreamHead): Relay {
    const { request } = this.#errand;
    const { translation } = this.#encoded;
    if (head.status < 200 || head.status > 299) return new RefusalRelay(this.#errand, this.#wire, head);
    const contentType = head.headers.get('content-type') ?? '';
    // A stream under a strange name is still read as one; a page or an object in its place is read whole and refused.
    const strange = translation !== null || request.framing === 'sse' ? /json|html/i : /html/i;
    const isWhole = !request.facts.stream || strange.test(contentType);
    const announced = isWhole ? Number(head.headers.get('content-length') ?? 0) : 0;
    const { begun, rescue = null } = this.#owner;
    if (translation !== null && rescue !== null && !isWhole)
      return rescue.openTranslated(this.#wire, translation, begun);
    if (translation !== null)
      return openTranslatedRelay(this.#errand, this.#wire, translation, isWhole, announced, begun);
    if (!isWhole) {
      const headers = streamHeaders(contentType, request.framing, begun, this.losses);
      return (
        rescue?.openPassthrough(this.#wire, headers) ?? new StreamRelay(this.#errand, this.#wire, headers)
      );
    }
    return new WholeRelay(this.#errand, this.#wire, wholeHeaders(contentType, begun, this.losses), announced);
  }

  #takeChunk(chunk: Uint8Array): void {
    const relay = this.#relay;
    if (this.#done || relay === null) return;
    this.#hasBytes = true;
    const outcome = relay.read(chunk);
    const now = this.#now();
    if (this.#contentAt === null && relay.hasContent) this.#noteContent(now);
    this.#deadline.moveOn(now, this.#contentAt !== null);
    if (relay.committed) this.#errand.keepAlive?.noteSent(now);
    if (outcome !== null) return this.#finish(outcome, now);
    if (relay.callerIsSlow && !this.#paused) {
      this.#paused = true;
      this.#pausedAt = now;
      this.#exchange?.pause();
    }
    if (this.#errand.hold !== null) this.#errand.hold.noteBytes(this);
  }

  #noteContent(now: number): void {
    if (this.#contentAt !== null) return;
    this.#contentAt = now;
    if (this.#relay?.committed) this.#exchange?.gather();
    this.#owner.onContent(this);
    this.routed.noteFirstContent(this.#errand.gateway.clock.now());
  }

  #expire(): void {
    if (this.#done) return this.#exchange?.abort();
    try {
      this.#noteLate();
    } catch (error) {
      this.#noteBug(error);
    }
  }

  /** Its time is over, unless it is waited for some more. */
  #noteLate(): void {
    const errand = this.#errand;
    if (errand.isShutDown) return this.letGo('shut-down');
    // Time passed while the caller did not read is the caller's, not the upstream's, whichever limit it ran into.
    if (this.#isReadOn) return this.letGo('caller-gone');
    if (this.#paused) {
      errand.reply.abandon();
      return this.leave();
    }
    if (this.#deadline.isPutOff(this.#hasBytes)) return;
    const silent = this.#contentAt === null ? 'first-content' : 'stall';
    const phase = errand.isOver ? 'deadline' : silent;
    this.#finish({ kind: 'timed-out', phase, committed: this.#committed, reading: this.#reading });
  }

  #cut(detail: string): Outcome {
    return { kind: 'cut', committed: this.#committed, detail, reading: this.#reading };
  }

  #noteBug(error: unknown): void {
    const { gateway, inbound } = this.#errand;
    alertBug(error, inbound.traceId, gateway.observer);
    this.#finish({ kind: 'bug', committed: this.#committed, reading: this.reading });
  }

  /** Tells the outcome, once. The connection is kept only when the answer was read to its end. */
  #finish(outcome: Outcome, now = this.#now()): void {
    if (this.#done) return;
    this.#done = true;
    this.outcome = this.#isReadOn || outcome.kind === 'caller-gone' ? this.#left(now) : outcome;
    this.durationMs = now - this.startedAt;
    const mends = this.#relay?.mends ?? [];
    if (mends.length > 0) {
      this.edits = [...this.edits, ...mends];
      alertSkipped(mends, this.target, this.#errand.gateway);
    }
    try {
      if (outcome.kind === 'answered' || outcome.kind === 'refused') this.#deadline.drain(now);
      else this.#exchange?.abort();
      if (this.#paused) this.#exchange?.resume();
      if (this.#exchange === null) this.#deadline.release();
    } catch (error) {
      const { gateway, inbound } = this.#errand;
      alertBug(error, inbound.traceId, gateway.observer);
    }
    if (this.#errand.hold !== null) this.#errand.hold.letGo(this);
    this.#giveBack();
    // Whatever becomes of the connection, its call has to hear that it is over.
    this.#owner.onOutcome(this);
  }

  /** The memory of what was of use to this attempt only; its call gives back the rest. */
  #giveBack(): void {
    const relayed = this.outcome.kind === 'answered' ? 0 : (this.#relay?.heldBytes ?? 0);
    const bytes = relayed + (this.isSending ? 0 : this.#encoded.heldBytes);
    if (bytes > 0) this.#errand.inbound.memory.giveBack(bytes);
  }

  /** The outcome of what was read without a caller, or was let go of because it left. */
  #left(now: number): Outcome {
    if (this.#isReadOn) this.#errand.gateway.hangUps.end(this);
    const { reading } = this;
    const committed = this.#committed || (this.#isReadOn && reading?.hasOutput === true);
    return { kind: 'caller-gone', committed, reading, producedTokens: this.#producedUnseen(now) };
  }

  /** Most likely written by then, thought that nobody has seen included; 0 of a model that does not think so. */
  #producedUnseen(now: number): number {
    if (!mayThinkUnseen(this.#wire, this.routed, this.#errand.request.facts)) return 0;
    return this.routed.tokensIn(
      now - this.startedAt - this.#pausedMs - (this.#paused ? now - this.#pausedAt : 0),
    );
  }

  get #committed(): boolean {
    return this.#relay?.committed ?? false;
  }

  get #reading() {
    return this.#relay?.reading ?? null;
  }

  #now(): number {
    return this.#errand.gateway.clock.monotonic();
  }
}
