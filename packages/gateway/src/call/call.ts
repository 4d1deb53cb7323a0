import { type Fault, fail, fault, type Protocol, type Result } from '@headgate/protocols';
import type { Caller } from '../catalogue/catalogue.ts';
import type { Wire } from '../catalogue/wire.ts';
import type { CallerListener, Inbound, Reply } from '../ports/data-plane.ts';
import { faultOfAttempts } from '../route/faults.ts';
import type { Plan } from '../route/plan.ts';
import { CallProgress } from '../route/progress.ts';
import { Attempt, type AttemptOwner, type AttemptPlace, type Encoded, encode } from './attempt.ts';
import { countLocally } from './detours/count.ts';
import { Hedge } from './detours/hedge.ts';
import { KeepAlive } from './detours/keep-alive.ts';
import { MediaShelf } from './detours/media.ts';
import { type Closing, OpenRow, settle } from './entry.ts';
import type { Gateway } from './gateway.ts';
import { alertBug, type CallEnd, learnFrom } from './outcomes.ts';
import { type Admission, admit, Conversation } from './request.ts';

/**
 * The life of a call: read, admit, ask one target after the other until one answers, settle, send the end. It begins once
 * the caller is known and the body is whole. Whatever happens in between, there is one way out, and exactly one entry is
 * written on it before the caller sees the end. Calls `ended` last, perhaps before it returns. Never throws.
 */
export function runCall(
  inbound: Inbound,
  caller: Caller,
  protocol: Protocol,
  reply: Reply,
  gateway: Gateway,
  ended: () => void = unheard,
): void {
  gateway.observer.callStarted();
  const closing: Closing = {
    gateway,
    inbound,
    caller,
    protocol,
    reply,
    ended,
    request: null,
    price: null,
    attempts: [],
    plans: [],
    openRow: null,
  };
  try {
    const request = protocol.readRequest(inbound);
    if (!request.ok) return refuse(closing, request.error);
    closing.request = request.value;
    const admission = admit(request.value, inbound, protocol, caller, gateway);
    if (!admission.ok) return refuse(closing, admission.error.fault, admission.error.plan);
    closing.price = admission.value.price;
    closing.plans.push({ plan: admission.value.plan, attemptsBefore: 0 });
    new Call(closing, admission.value).start();
  } catch (error) {
    alertBug(error, inbound.traceId, gateway.observer);
    refuse(closing, fault('internal'));
  }
}

const unheard = (): void => {};

function refuse(closing: Closing, reason: Fault, plan: Plan | null = null): void {
  if (plan !== null) closing.plans.push({ plan, attemptsBefore: 0 });
  settle(closing, { kind: 'failed', fault: reason, begun: false });
}

/** The search for a target that answers: one attempt after the other, each planned when the one before it has failed. */
class Call implements AttemptOwner, CallerListener {
  begun = 0;
  readonly #closing: Closing;
  readonly #conversation: Conversation;
  readonly #progress: CallProgress;
  /** One, or two where the call is hedged. */
  readonly #running: Attempt[] = [];
  /** The latest one, save that of a second attempt beside another. */
  #plan: Plan;
  /** Why the first of the targets that could not be asked could not; null when all could. */
  #unspeakable: Fault | null = null;
  #hedge: Hedge | null = null;
  #shelf: MediaShelf | null = null;
  /** Leaves what the call waits for between two attempts; null when it waits for nothing. */
  #leave: (() => void) | null = null;
  #isOver = false;

  constructor(closing: Closing, admission: Admission) {
    const { gateway, protocol, inbound, caller, reply } = closing;
    const { request } = admission;
    const keepAlive = openKeepAlive(closing, admission);
    this.#closing = closing;
    this.#conversation = new Conversation(gateway, protocol, inbound, caller, admission, reply, keepAlive);
    this.#progress = new CallProgress(gateway.limits.attemptsMax, request.repeatable !== false);
    this.#plan = admission.plan;
    closing.openRow = new OpenRow(closing);
    reply.listener = this;
  }

  start(): void {
    this.#safely(() => this.#askNext());
  }

  onContent(attempt: Attempt): void {
    this.#hedge?.decide(attempt);
  }

  onOutcome(attempt: Attempt): void {
    this.#safely(() => this.#noteEnd(attempt));
  }

  onCallerWritable(): void {
    for (const attempt of this.#running) attempt.onCallerWritable();
  }

  onCallerGone(): void {
    for (const attempt of [...this.#running]) attempt.onCallerGone();
    if (this.#leave === null) return;
    this.#leave();
    this.#safely(() => this.#leaveUnheard());
  }

  /** A step between two attempts that throws is a bug, and the end of the call. */
  #safely(step: () => void): void {
    try {
      step();
    } catch (error) {
      alertBug(error, this.#closing.inbound.traceId, this.#closing.gateway.observer);
      this.#end({ kind: 'failed', fault: fault('internal'), begun: this.#closing.reply.begun });
    }
  }

  /** Asks the first of the planned targets that can be asked for this call, and plans anew where none can. */
  #askNext(): void {
    while (this.#plan.targets.length > 0) {
      if (this.#askFrom(0)) return;
      this.#plan = this.#planNext(false);
    }
    this.#waitForTargets();
  }

  /** True when one was asked, or is about to be. A plan names the best ones, and none of them may be the one that can be asked. */
  #askFrom(first: number): boolean {
    const { gateway, ask, protocol } = this.#conversation;
    const { targets } = this.#plan;
    for (let place = first; place < targets.length; place++) {
      const target = targets[place];
      if (target === undefined) break;
      const wire = gateway.wires.of(target, ask.model, protocol.id);
      if (wire.isTranslated && this.#fetches(wire, place)) return true;
      if (this.#ask(wire, place, this.#shelf?.faultFor(wire) ?? null)) return true;
    }
    return false;
  }

  /** True when the target was asked. */
  #ask(wire: Wire, place: number, unfetched: Fault | null): boolean {
    const encoded = unfetched === null ? this.#encode(wire) : fail(unfetched);
    // While something was fetched, others may have taken its place: it may be waited for.
    if (encoded.ok && !this.#conversation.gateway.router.hasRoom(wire.target)) return false;
    this.#progress.noteTurn(wire.target);
    if (!encoded.ok) {
      this.#unspeakable ??= encoded.error;
      return false;
    }
    const others = this.#plan.targets.length - place - 1;
    const attemptPlace = this.#placeOf(wire, encoded.value, others);
    if (this.#mayHedge) this.#openHedge(attemptPlace);
    this.#send(attemptPlace);
    return true;
  }

  #encode(wire: Wire): Result<Encoded, Fault> {
    return encode(this.#conversation, wire, this.#shelf?.fetched ?? nothingFetched);
  }

  /** `others`: targets that may still be asked if this one fails. */
  #placeOf(wire: Wire, { request, translation }: Encoded, others: number): AttemptPlace {
    const { gateway, ask, deadlineAt } = this.#conversation;
    const now = gateway.clock.monotonic();
    return {
      wire,
      request,
      translation,
      plannedAt: now,
      beginsBy: now + (deadlineAt - now) / this.#progress.sharers(others),
      isLastHope: others === 0,
      flight: gateway.router.depart(wire.target, ask, gateway.clock.now(), this.#progress.refused),
    };
  }

  #send(place: AttemptPlace): void {
    const attempt = new Attempt(this.#conversation, place, this);
    this.begun++;
    this.#running.push(attempt);
    attempt.start();
  }

  #noteEnd(attempt: Attempt): void {
    this.#hedge?.onOutcome(attempt);
    this.#running.splice(this.#running.indexOf(attempt), 1);
    this.#closing.attempts.push(attempt);
    learnFrom(this.#conversation, attempt, attempt.flight);
    if (attempt.ending !== null) return this.#end({ kind: 'answered', ending: attempt.ending });
    this.#progress.noteEnd(attempt, attempt.flight.credential);
    // The other of two may still answer.
    if (this.#running.length > 0 || this.#isOver) return;
    this.#hedge = null;
    if (!this.#progress.mayGoOn() || this.#conversation.isOver) return this.#finish();
    this.#plan = this.#planNext(false);
    this.#askNext();
  }

  /** `isDue`: the call has waited for what is planned now. */
  #planNext(isDue: boolean): Plan {
    const { gateway, ask } = this.#conversation;
    const plan = gateway.router.plan(ask, gateway.clock.now(), this.#progress.forNext(isDue));
    this.#closing.plans.push({ plan, attemptsBefore: this.#closing.attempts.length });
    return plan;
  }

  /** Waits while nothing may be asked yet, and that is worth it. */
  #waitForTargets(): void {
    const { gateway, reply } = this.#conversation;
    const { againMs } = this.#plan;
    if (againMs === null || !this.#mayWait(againMs)) return this.#finish();
    this.#progress.noteWait(againMs);
    if (reply.gone) return this.#leaveUnheard();
    this.#leave = gateway.waitingRoom.wait(againMs, () => this.#safely(() => this.#afterWait()));
  }

  #afterWait(): void {
    this.#leave = null;
    if (this.#conversation.isOver) return this.#finish();
    this.#plan = this.#planNext(true);
    this.#askNext();
  }

  /** A count is not waited for: it is made here where no upstream makes it. */
  #mayWait(waitMs: number): boolean {
    const { gateway, inbound, deadlineAt, isStopping } = this.#conversation;
    if (inbound.work === 'count' || isStopping || gateway.waitingRoom.isFull) return false;
    return this.#progress.mayWait(waitMs) && gateway.clock.monotonic() + waitMs < deadlineAt;
  }

  /** True when something is fetched before the target can be asked. */
  #fetches(wire: Wire, place: number): boolean {
    this.#shelf ??= new MediaShelf(this.#conversation);
    if (!this.#shelf.isShort(wire) || this.#shelf.faultFor(wire) !== null) return false;
    this.#leave = this.#shelf.fetch(wire, (unfetched) => {
      if (!this.#isOver) this.#safely(() => this.#afterFetch(wire, place, unfetched));
    });
    // For a caller who has gone nothing is fetched any more.
    if (this.#conversation.reply.gone) this.onCallerGone();
    return true;
  }

  #afterFetch(wire: Wire, place: number, unfetched: Fault | null): void {
    this.#leave = null;
    if (this.#ask(wire, place, unfetched) || this.#askFrom(place + 1)) return;
    this.#plan = this.#planNext(false);
    this.#askNext();
  }

  /** Only a stream shows that it is late, and only what may be done twice is asked of two. */
  get #mayHedge(): boolean {
    const { ask, inbound, request } = this.#conversation;
    if (!ask.routing.hedging || !request.facts.stream || inbound.work !== 'answer') return false;
    return this.#progress.mayHedge;
  }

  #openHedge({ flight }: AttemptPlace): void {
    this.#hedge = new Hedge(this.#conversation, this.#running, flight.hedgeAfterMs, () => {
      const beside = this.#placeBeside();
      if (beside !== null) this.#send(beside);
    });
  }

  /** The place of a second attempt while the first is silent; null where there is no sense in one. */
  #placeBeside(): AttemptPlace | null {
    const { gateway, ask, protocol, inbound, isStopping, isOver } = this.#conversation;
    if (isStopping || isOver) return null;
    try {
      const plan = gateway.router.hedge(ask, gateway.clock.now(), this.#progress.forHedge());
      for (const target of plan?.targets ?? []) {
        const wire = gateway.wires.of(target, ask.model, protocol.id);
        // Media that would have to be fetched first come too late.
        const isShort =
          wire.isTranslated && (this.#shelf ?? new MediaShelf(this.#conversation)).isShort(wire);
        const encoded = isShort ? null : this.#encode(wire);
        if (plan === null || !encoded?.ok || !gateway.router.hasRoom(target)) continue;
        this.#progress.noteTurn(target);
        this.#closing.plans.push({ plan, attemptsBefore: this.begun });
        return this.#placeOf(wire, encoded.value, 1);
      }
    } catch (error) {
      // The first attempt is none the worse for it.
      alertBug(error, inbound.traceId, gateway.observer);
    }
    return null;
  }

  #leaveUnheard(): void {
    this.#leave = null;
    this.#end({ kind: 'caller-gone', begun: this.#closing.reply.begun });
  }

  #finish(): void {
    const { reply, ask } = this.#conversation;
    const { attempts } = this.#closing;
    const { begun } = reply;
    const last = attempts.at(-1);
    const hasLeft = last === undefined ? reply.gone : last.outcome.kind === 'caller-gone';
    if (hasLeft) return this.#end({ kind: 'caller-gone', begun });
    const { blockedRetryMs } = this.#plan;
    const reason =
      last === undefined
        ? this.#unaskedFault(blockedRetryMs)
        : faultOfAttempts(attempts, ask.model, blockedRetryMs);
    this.#end({ kind: 'failed', fault: reason, begun });
  }

  /** Nothing could be asked: one of those that have to wait may be able to do what the others cannot. */
  #unaskedFault(blockedRetryMs: number | null): Fault {
    if (blockedRetryMs !== null) return fault('upstream_rate_limited', { retryAfterMs: blockedRetryMs });
    return this.#unspeakable ?? fault('no_available_channel');
  }

  /** Once, whatever happens. A count that no upstream gave is made here. */
  #end(finish: CallEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { keepAlive, inbound, reply } = this.#conversation;
    keepAlive?.stop();
    reply.listener = null;
    for (const attempt of [...this.#running]) attempt.letGo();
    if (inbound.work === 'count')
      countLocally(this.#conversation, finish, (counted) => settle(this.#closing, counted));
    else settle(this.#closing, finish);
  }
}

const nothingFetched: ReadonlyMap<string, never> = new Map<string, never>();

function openKeepAlive(
  { inbound, protocol: { keepAliveFrame }, reply, gateway }: Closing,
  { request: { facts, framing } }: Admission,
): KeepAlive | null {
  const isSilent = keepAliveFrame === null || !facts.stream || framing !== 'sse';
  return isSilent ? null : new KeepAlive(gateway, reply, keepAliveFrame, inbound.receivedAt);
}
