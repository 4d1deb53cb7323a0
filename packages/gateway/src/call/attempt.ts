import {
  type EncodedRequest,
  type Fault,
  fail,
  fault,
  type Loss,
  type Result,
  succeed,
  type Translation,
  translate,
  withMedia,
} from '@headgate/protocols';
import type { Target } from '../catalogue/catalogue.ts';
import type { Wire } from '../catalogue/wire.ts';
import type { Lane } from '../ports/ledger.ts';
import type { UpstreamExchange, UpstreamFailure, UpstreamHandler, UpstreamHead } from '../ports/upstream.ts';
import { type Outcome, outcomeOfFailure } from '../route/outcomes.ts';
import type { Flight } from '../route/plan.ts';
import { retryAfterMs } from '../route/retry-after.ts';
import { Deadline } from './deadline.ts';
import { type AttemptRecord, alertBug } from './outcomes.ts';
import { type Ending, RefusalRelay, type Relay, StreamRelay, WholeRelay } from './relay.ts';
import { streamHeaders, wholeHeaders } from './reply.ts';
import type { Conversation } from './request.ts';

/** A request as one target gets it: the caller's own bytes, or translated where the target speaks another protocol. */
export interface Encoded {
  readonly request: EncodedRequest;
  /** Null in the passthrough lane. */
  readonly translation: Translation | null;
}

/** The way of an attempt, and how long it may take. */
export interface AttemptPlace extends Encoded {
  readonly wire: Wire;
  /** Told when content comes; its end is for whoever sent the attempt. */
  readonly flight: Flight;
  /** When it was planned, and when an answer must have begun, so that there is time for the next; on the clock that never jumps. */
  readonly plannedAt: number;
  readonly beginsBy: number;
  readonly isLastHope: boolean;
}

/** Whose attempt it is: hears how it fares the moment it happens, before anything else of the call can. */
export interface AttemptOwner {
  /** Attempts of the call sent so far, this one included. */
  readonly begun: number;
  /** The model's own words have begun to come: from now on the answer is this attempt's. */
  onContent(attempt: Attempt): void;
  /** Last, and once. */
  onOutcome(attempt: Attempt): void;
}

/**
 * Sends one request and follows it to its outcome: it owns the time-outs and the back-pressure between the two sides. A
 * failure is an outcome, and so is a bug: each way in from a socket or a clock catches what is thrown behind it.
 */
export class Attempt implements UpstreamHandler, AttemptRecord {
  readonly target: Target;
  readonly flight: Flight;
  readonly lane: Lane;
  readonly edits: readonly string[];
  readonly losses: readonly Loss[];
  /** Until it has ended it has been shut down, if it comes to that. */
  outcome: Outcome = { kind: 'shut-down', committed: false, reading: null };
  startedAt = 0;
  durationMs = 0;
  ending: Ending | null = null;
  readonly #conversation: Conversation;
  readonly #place: AttemptPlace;
  readonly #owner: AttemptOwner;
  readonly #deadline: Deadline;
  #exchange: UpstreamExchange | null = null;
  #head: UpstreamHead | null = null;
  #relay: Relay | null = null;
  #contentAt: number | null = null;
  #hasBytes = false;
  #paused = false;
  #done = false;

  constructor(conversation: Conversation, place: AttemptPlace, owner: AttemptOwner) {
    const { wire, flight, request, translation, plannedAt, beginsBy, isLastHope } = place;
    this.target = wire.target;
    this.flight = flight;
    this.lane = translation === null ? 'passthrough' : 'translate';
    this.edits = request.edits;
    this.losses = translation === null ? nothingLost : translation.losses;
    this.#conversation = conversation;
    this.#place = place;
    this.#owner = owner;
    this.#deadline = new Deadline(conversation, flight, beginsBy, isLastHope, () => this.#expire());
    this.startedAt = plannedAt;
  }

  get upstreamRequestId(): string | null {
    const headers = this.#head?.headers;
    return headers?.get('x-request-id') ?? headers?.get('request-id') ?? null;
  }

  get httpStatus(): number | null {
    return this.#head?.status ?? null;
  }

  get ttftMs(): number | null {
    return this.#contentAt === null ? null : this.#contentAt - this.startedAt;
  }

  start(): void {
    try {
      this.#send();
    } catch (error) {
      this.#noteBug(error);
    }
  }

  /** Another attempt has decided the call: nothing of this one is wanted any more, and nothing of it reaches the caller. */
  letGo(): void {
    this.#finish({ kind: 'outrun', reading: this.#reading });
  }

  onCallerGone(): void {
    this.#finish(this.#callerGone());
  }

  onCallerWritable(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#deadline.moveOn(this.#now(), this.#contentAt !== null);
    this.#exchange?.resume();
  }

  onHead(head: UpstreamHead): void {
    try {
      this.#head = head;
      if (head.tellsLimits !== false) this.flight.told(head.headers, this.#conversation.gateway.clock.now());
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
    if (this.#done) return;
    try {
      const relay = this.#relay;
      const outcome = relay?.end() ?? this.#cut('the answer ended before it began');
      const now = this.#now();
      if (relay?.hasContent) this.#noteContent(now);
      this.#finish(outcome, now);
    } catch (error) {
      this.#noteBug(error);
    }
  }

  onFailure(failure: UpstreamFailure): void {
    this.#deadline.release();
    if (this.#done) return;
    this.#finish(outcomeOfFailure(failure, this.#head !== null, this.#committed, this.#reading));
  }

  #send(): void {
    const { reply, request: asked } = this.#conversation;
    if (reply.gone) return this.#finish(this.#callerGone());
    const { wire, request, translation } = this.#place;
    const isEvents = asked.facts.stream && (translation !== null || asked.framing === 'sse');
    const accept = isEvents ? 'text/event-stream' : 'application/json';
    this.startedAt = this.#now();
    this.#deadline.begin(this.startedAt);
    const line = wire.line(this.flight.credential, request.path, request.contentType, accept);
    // Work that may be done once only is not sent again when a connection turns out to be dead.
    this.#exchange = line.send(request.headers, request.body, asked.repeatable === false, this);
  }

  #openRelay(head: UpstreamHead): Relay {
    const { gateway, request } = this.#conversation;
    const { wire, translation } = this.#place;
    if (head.status < 200 || head.status > 299) {
      return new RefusalRelay(wire.protocol, head.status, retryAfterMs(head, gateway.clock.now()));
    }
    const contentType = head.headers.get('content-type') ?? '';
    const told = {
      contentType,
      isTranslated: translation !== null,
      losses: this.losses,
      attempts: this.#owner.begun,
    };
    // A stream under a strange name is still read as one; a page or an object in its place is read whole and refused.
    const strange = translation !== null || request.framing === 'sse' ? /json|html/i : /html/i;
    if (!request.facts.stream || strange.test(contentType)) {
      const announced = Number(head.headers.get('content-length') ?? 0);
      return new WholeRelay(this.#conversation, wire, translation, wholeHeaders(told), announced);
    }
    return new StreamRelay(this.#conversation, wire, translation, streamHeaders(told, request.framing));
  }

  #takeChunk(chunk: Uint8Array): void {
    const relay = this.#relay;
    if (this.#done || relay === null) return;
    this.#hasBytes = true;
    const outcome = relay.read(chunk);
    const now = this.#now();
    if (this.#contentAt === null && relay.hasContent) this.#noteContent(now);
    this.#deadline.moveOn(now, this.#contentAt !== null);
    if (relay.committed) this.#conversation.keepAlive?.noteSent(now);
    if (outcome !== null) return this.#finish(outcome, now);
    if (relay.callerIsSlow && !this.#paused) {
      this.#paused = true;
      this.#exchange?.pause();
    }
  }

  #noteContent(now: number): void {
    if (this.#contentAt !== null) return;
    this.#contentAt = now;
    this.#owner.onContent(this);
    this.flight.began(this.#conversation.gateway.clock.now());
  }

  #expire(): void {
    if (this.#done) {
      this.#exchange?.abort();
      return;
    }
    try {
      this.#finish(this.#lateOutcome());
    } catch (error) {
      this.#noteBug(error);
    }
  }

  /** The outcome now that its time is over; null where it is waited for some more. */
  #lateOutcome(): Outcome | null {
    const conversation = this.#conversation;
    const committed = this.#committed;
    const reading = this.#reading;
    if (conversation.isShutDown) return { kind: 'shut-down', committed, reading };
    // Time passed while the caller did not read is the caller's, not the upstream's, whichever limit it ran into.
    if (this.#paused) return this.#callerGone();
    if (this.#deadline.isPutOff(this.#hasBytes)) return null;
    const silent = this.#contentAt === null ? 'first-content' : 'stall';
    return { kind: 'timed-out', phase: conversation.isOver ? 'deadline' : silent, committed, reading };
  }

  #cut(detail: string): Outcome {
    return { kind: 'cut', committed: this.#committed, detail, reading: this.#reading };
  }

  #callerGone(): Outcome {
    return { kind: 'caller-gone', committed: this.#committed, reading: this.#reading };
  }

  #noteBug(error: unknown): void {
    const { gateway, inbound } = this.#conversation;
    alertBug(error, inbound.traceId, gateway.observer);
    this.#finish({ kind: 'bug', committed: this.#committed, reading: this.#reading });
  }

  /** Tells the outcome, once. The connection is kept only when the answer was read to its end. */
  #finish(outcome: Outcome | null, now = this.#now()): void {
    if (this.#done || outcome === null) return;
    this.#done = true;
    this.outcome = outcome;
    this.durationMs = now - this.startedAt;
    if (outcome.kind === 'answered') this.ending = this.#relay?.ending ?? null;
    if (outcome.kind === 'answered' || outcome.kind === 'refused') this.#deadline.drain(now);
    else this.#exchange?.abort();
    if (this.#paused) this.#exchange?.resume();
    if (this.#exchange === null) this.#deadline.release();
    this.#owner.onOutcome(this);
  }

  get #committed(): boolean {
    return this.#relay?.committed ?? false;
  }

  get #reading() {
    return this.#relay?.reading ?? null;
  }

  #now(): number {
    return this.#conversation.gateway.clock.monotonic();
  }
}

const nothingLost: readonly Loss[] = [];

/** The request for one target, from the same inbound bytes each time. A fault where it cannot be asked: another one may. */
export function encode(
  conversation: Conversation,
  wire: Wire,
  fetched: Parameters<typeof withMedia>[1],
): Result<Encoded, Fault> {
  const { request } = conversation;
  if (wire.isTranslated) return encodeTranslated(conversation, wire, fetched);
  const refusal = request.refuse?.(wire.asked) ?? null;
  if (refusal !== null) return fail(refusal);
  return succeed({ request: request.passThrough(wire.asked), translation: null });
}

function encodeTranslated(
  conversation: Conversation,
  wire: Wire,
  fetched: Parameters<typeof withMedia>[1],
): Result<Encoded, Fault> {
  const { protocol, request, inbound, strict } = conversation;
  const { codec } = wire.protocol;
  if (protocol.codec === null || codec === null)
    throw new Error(`${protocol.id} cannot be translated to ${wire.protocol.id}`);
  const turn = conversation.turn();
  if (!turn.ok) return turn;
  const context = {
    turn: withMedia(turn.value, fetched),
    traceId: inbound.traceId,
    createdS: Math.floor(inbound.receivedAtMs / 1000),
    wantsUsageFrame: request.wantsUsageFrame,
    framing: request.framing,
    inputTokensEstimate: request.facts.inputTokensEstimate,
  };
  const translation = translate({ caller: protocol.codec, upstream: codec }, wire.asked, context);
  if (!translation.ok) return translation;
  const [loss] = translation.value.losses;
  if (strict && loss !== undefined) return fail(lossRefused(loss));
  return succeed({ request: translation.value.request, translation: translation.value });
}

/** A key that is strict does without an answer rather than without a part of its request. */
function lossRefused({ field, action, note }: Loss): Fault {
  const how = action === 'dropped' ? 'it would be left out' : `it would be sent otherwise (${note})`;
  return fault('invalid_request', {
    message: `'${field}' cannot be honoured by any channel of this model: ${how}. Leave it out, or use a key that is not strict.`,
    param: field,
  });
}
