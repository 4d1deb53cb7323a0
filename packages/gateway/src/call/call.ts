import { type Fault, fail, fault, isTag, type Protocol, type Result, succeed } from '@headgate/protocols';
import type { Caller, Target } from '../catalogue/catalogue.ts';
import type { Wire } from '../catalogue/wire.ts';
import type { Guard } from '../ports/clock.ts';
import type { CallerListener, EndListener, Inbound, Reply } from '../ports/data-plane.ts';
import type { Gateway } from '../ports/gateway.ts';
import { faultOfAttempts, nothingToTry } from '../route/faults.ts';
import { CallProgress } from '../route/progress.ts';
import type { Route, RouteRequest } from '../route/route.ts';
import { Attempt, type AttemptOwner } from './attempt.ts';
import { TranslationDesk } from './detours/away.ts';
import { countLocally } from './detours/count.ts';
import { Hedge, mayHedge } from './detours/hedge.ts';
import { openKeepAlive } from './detours/keep-alive.ts';
import { MediaShelf } from './detours/media.ts';
import { openRescue, type Rescue } from './detours/rescue/rescue.ts';
import { badTag, tagHeader } from './detours/tag.ts';
import type { Encoded } from './detours/translate.ts';
import { mayWait } from './detours/wait.ts';
import { openingOf, settle } from './entry.ts';
import { takeHold } from './hold/take-hold.ts';
import { alertBug, alertTrouble, type CallEnd, teaches } from './outcomes.ts';
import { admit, Call } from './request.ts';

/**
 * The life of a call: read, admit, ask one target after the other until one answers, settle, send the end. It begins once
 * the caller is known and the body is whole. Whatever happens in between, there is one way out, and exactly one entry is
 * written on it before the caller sees the end. Tells the listener last, perhaps before it returns. Never throws.
 */
export function runCall(
  inbound: Inbound,
  caller: Caller,
  protocol: Protocol,
  reply: Reply,
  gateway: Gateway,
  listener: EndListener | null = null,
): void {
  gateway.observer.callStarted();
  const call = new Call(gateway, inbound, caller, protocol, reply, listener);
  const refuse = (reason: Fault) => settle(call, { kind: 'failed', fault: reason, begun: false });
  try {
    const tag = inbound.header(tagHeader);
    if (tag !== undefined && !isTag(tag)) return refuse(badTag(tag));
    call.tag = tag ?? null;
    const request = protocol.readRequest(inbound);
    if (!request.ok) return refuse(request.error);
    call.request = request.value;
    const admission = admit(call);
    if (!admission.ok) return refuse(admission.error);
    const wanted = admission.value;
    // Counts are no calls: they take nothing of any limit.
    if (caller.limits.length === 0 || inbound.work === 'count') new Search(call, wanted).start();
    else takeHold(call, wanted.model, () => new Search(call, wanted).start());
  } catch (error) {
    alertBug(error, inbound.traceId, gateway.observer);
    refuse(fault('internal'));
  }
}

/**
 * The search for a target that answers: one attempt after the other, each planned when the one before it has failed. One that
 * lives longer than most gets an `open` row for its call, so that it is not lost if the process dies.
 */
class Search implements AttemptOwner, CallerListener, Guard {
  begun = 0;
  readonly expiresAt: number;
  index = -1;
  readonly rescue: Rescue | null;
  readonly #call: Call;
  readonly #wanted: RouteRequest;
  readonly #progress: CallProgress;
  /** One, or two where the call is hedged. */
  readonly #running: Attempt[] = [];
  /** The latest one, save that of a second attempt beside another. */
  #route: Route;
  /** Why the first of the targets that could not be asked could not; null when all could. */
  #unspeakable: Fault | null = null;
  #hedge: Hedge | null = null;
  #shelf: MediaShelf | null = null;
  #desk: TranslationDesk | null = null;
  /** Leaves what the call waits for between two attempts; null when it waits for nothing. */
  #leave: (() => void) | null = null;
  #isOver = false;

  constructor(call: Call, wanted: RouteRequest) {
    const { limits, request, inbound, gateway, reply } = call;
    this.#call = call;
    this.#wanted = wanted;
    this.#route = gateway.router.route(wanted, gateway.clock.now());
    call.noteRoute(this.#route);
    this.#progress = new CallProgress(limits.attemptsMax, request.repeatable !== false);
    this.expiresAt = inbound.receivedAt + limits.openRowAfterMs;
    gateway.watchdog.watch(this);
    if (request.facts.stream) call.keepAlive = openKeepAlive(call);
    this.rescue = wanted.routing.rescue === 'continue' ? openRescue(call) : null;
    reply.listener = this;
  }

  start(): void {
    this.#safely(() => {
      const { targets, againMs } = this.#route;
      // A count is made here where no upstream makes it, and a channel that will be free soon may be waited for.
      if (targets.length > 0 || againMs !== null || this.#call.inbound.work === 'count') this.#askNext();
      else this.#end({ kind: 'failed', fault: nothingToTry(this.#wanted, this.#route), begun: false });
    });
  }

  onExpire(): void {
    this.#call.gateway.ledger.open(openingOf(this.#call));
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
    for (const attempt of [...this.#running]) attempt.leave();
    this.#releaseRequest();
    if (this.#leave === null) return;
    this.#leave();
    this.#safely(() => this.#leaveUnheard());
  }

  /** An answer that is read on without its caller keeps nothing of the request. */
  #releaseRequest(): void {
    const [attempt] = this.#running;
    if (attempt === undefined || attempt.isSending) return;
    this.#shelf = null;
    attempt.releaseRequest();
    this.#call.release();
  }

  /** A step between two attempts that throws is a bug, and the end of the call. */
  #safely(step: () => void): void {
    try {
      step();
    } catch (error) {
      const { inbound, gateway, reply } = this.#call;
      alertBug(error, inbound.traceId, gateway.observer);
      this.#end({ kind: 'failed', fault: fault('internal'), begun: reply.begun });
    }
  }

  /** Asks the first of the planned targets that can be asked for this call, and plans anew where none can. */
  #askNext(): void {
    while (this.#route.targets.length > 0) {
      if (this.#askFrom(0)) return;
      this.#routeNext(false);
    }
    this.#waitForTargets();
  }

  /**
   * True when one was asked, or is about to be. A route names the best ones, and none of them may be the one that can be asked.
   * `isFetched`: media have been fetched for the first of them.
   */
  #askFrom(first: number, isFetched = false): boolean {
    const { targets } = this.#route;
    for (let place = first; place < targets.length; place++) {
      const target = targets[place];
      if (target === undefined) break;
      const wire = this.#wireOf(target);
      const others = targets.length - place - 1;
      const isAsked =
        this.rescue?.isOn === true
          ? this.#askAt(this.rescue.wayOf(wire), others)
          : wire.isTranslated
            ? this.#askTranslated(wire, place, others, isFetched && place === first)
            : this.#askAt(wire, others);
      if (isAsked) return true;
    }
    return false;
  }

  /** The same for a target of other protocols: the next of them is for what the one before cannot say. */
  #askTranslated(wire: Wire, place: number, others: number, isFetched: boolean): boolean {
    if (this.#translates(wire, null, place, isFetched)) return true;
    for (const way of this.#translation.waysOf(wire)) {
      if (!isFetched && this.#fetches(way, place)) return true;
      if (this.#translates(wire, way, place, isFetched)) return true;
      if (this.#askAt(way, others)) return true;
      // Another way to the same target would find it as full.
      if (!this.#call.gateway.router.hasRoom(way.target)) return false;
    }
    return false;
  }

  #wireOf(target: Target): Wire {
    const { gateway, protocol } = this.#call;
    return gateway.wires.of(target, protocol.id);
  }

  /** True when the target was asked. `others`: targets that may still be asked if it fails. */
  #askAt(wire: Wire, others: number): boolean {
    const encoded = this.#encode(wire);
    // While something was fetched, others may have taken its place: it may be waited for.
    if (encoded.ok && !this.#call.gateway.router.hasRoom(wire.target)) return false;
    this.#progress.noteTurn(wire.target);
    if (encoded.ok) this.#send(wire, encoded.value, others);
    else this.#unspeakable ??= encoded.error;
    return encoded.ok;
  }

  /** The request for one target, from the same inbound bytes each time. A fault where it cannot be asked: another one may. */
  #encode(wire: Wire): Result<Encoded, Fault> {
    const { request, encodeNamed, withheld } = this.#call;
    if (this.rescue?.isOn === true) return this.rescue.encode(wire, this.#shelf);
    if (wire.isTranslated) return this.#translation.encode(wire, this.#shelf);
    const refusal = request.refuse?.(wire.asked) ?? null;
    if (refusal !== null) return fail(refusal);
    const { edits, losses } = withheld;
    const asked = edits.length === 0 ? wire.asked : { ...wire.asked, edits };
    const encoded = encodeNamed === null ? succeed(request.passThrough(asked)) : encodeNamed(wire, edits);
    return encoded.ok
      ? succeed({ request: encoded.value, translation: null, losses, heldBytes: 0 })
      : encoded;
  }

  get #translation(): TranslationDesk {
    this.#desk ??= new TranslationDesk(this.#call);
    return this.#desk;
  }

  #send(wire: Wire, encoded: Encoded, others: number): void {
    const call = this.#call;
    const progress = this.#progress;
    const { router, clock } = call.gateway;
    const routed = router.attempt(wire.target, this.#wanted, clock.now(), progress.refused);
    const isLastHope = others === 0;
    const attempt = new Attempt(call, this, wire, encoded, routed, progress.sharers(others), isLastHope);
    if (wire.isTranslated) call.noteProtocol(wire.protocol.id);
    // Whoever goes on with what the caller has is not raced for.
    const isHedged = this.#wanted.routing.hedging && this.rescue?.isOn !== true;
    if (isHedged && this.#running.length === 0 && mayHedge(call, progress))
      this.#openHedge(routed.hedgeAfterMs);
    this.begun++;
    this.#running.push(attempt);
    attempt.start();
  }

  #openHedge(silenceMs: number): void {
    const askBeside = (target: Target, route: Route) => this.#askBeside(target, route);
    this.#hedge = new Hedge(this.#call, this.#wanted, this.#progress, this.#running, silenceMs, askBeside);
  }

  /** True when the target was asked as well, while the first one is silent. */
  #askBeside(target: Target, route: Route): boolean {
    const known = this.#wireOf(target);
    // A request that has to be translated elsewhere first, or media that have to be fetched, come too late.
    if (known.isTranslated && this.#translation.isDue(known, this.#shelf)) return false;
    const wire = known.isTranslated ? (this.#translation.waysOf(known)[0] ?? known) : known;
    if (wire.isTranslated && (this.#shelf ?? new MediaShelf(this.#call)).isShort(wire)) return false;
    if (wire.isTranslated && this.#translation.isDue(known, this.#shelf, wire)) return false;
    const encoded = this.#encode(wire);
    if (!encoded.ok || !this.#call.gateway.router.hasRoom(target)) return false;
    this.#progress.noteTurn(target);
    this.#call.noteRoute(route, this.begun);
    this.#send(wire, encoded.value, 1);
    return true;
  }

  #noteEnd(attempt: Attempt): void {
    const { gateway, inbound, attempts } = this.#call;
    const { routed, outcome, ending } = attempt;
    this.#hedge?.onOutcome(attempt);
    this.#running.splice(this.#running.indexOf(attempt), 1);
    attempts.push(attempt);
    const isTold = teaches(inbound.work, outcome);
    routed.noteEnd(isTold ? outcome : null, gateway.clock.now());
    if (isTold) alertTrouble(attempt, routed.credential?.id, gateway.observer);
    if (ending !== null) return this.#end(ending);
    this.#progress.noteEnd(attempt, routed.credential);
    // The other of two may still answer.
    if (this.#running.length > 0 || this.#isOver) return;
    this.#hedge = null;
    const isRescued = this.rescue?.begin(attempt, this.#progress.hasAttempts) === true;
    if (isRescued) this.#call.hold?.goOn(attempt);
    if (this.#call.isOver || !(isRescued || this.#progress.mayGoOn())) return this.#finish();
    this.#routeNext(false);
    this.#askNext();
  }

  /** `isDue`: the call has waited for what is planned now. */
  #routeNext(isDue: boolean): void {
    const { router, clock } = this.#call.gateway;
    const route = router.route(this.#wanted, clock.now(), this.#progress.forNext(isDue));
    this.#route = this.rescue?.preferred(route) ?? route;
    this.#call.noteRoute(this.#route);
  }

  /** Waits while nothing may be asked yet, and that is worth it. */
  #waitForTargets(): void {
    const { againMs } = this.#route;
    if (againMs === null || !mayWait(this.#call, this.#progress, againMs)) return this.#finish();
    this.#progress.noteWait(againMs);
    if (this.#call.reply.gone) return this.#leaveUnheard();
    const { waitingRoom } = this.#call.gateway;
    this.#leave = waitingRoom.wait(againMs, () => this.#safely(() => this.#afterWait()));
  }

  #afterWait(): void {
    this.#leave = null;
    if (this.#call.isOver) return this.#finish();
    this.#routeNext(true);
    this.#askNext();
  }

  /** True when something is fetched before the target can be asked. */
  #fetches(wire: Wire, place: number): boolean {
    this.#shelf ??= new MediaShelf(this.#call);
    if (!this.#shelf.isShort(wire) || this.#shelf.faultFor(wire) !== null) return false;
    this.#leave = this.#shelf.fetch(wire, () => {
      if (!this.#isOver) this.#safely(() => this.#afterDetour(place, true));
    });
    // For a caller who has gone nothing is fetched any more.
    if (this.#call.reply.gone) this.onCallerGone();
    return true;
  }

  /** True when the request is translated elsewhere before the target can be asked. */
  #translates(wire: Wire, way: Wire | null, place: number, isFetched: boolean): boolean {
    if (!this.#translation.isDue(wire, this.#shelf, way)) return false;
    this.#leave = this.#translation.translate(wire, this.#shelf, way, () => {
      if (!this.#isOver) this.#safely(() => this.#afterDetour(place, isFetched));
    });
    if (this.#call.reply.gone) this.onCallerGone();
    return true;
  }

  #afterDetour(place: number, isFetched: boolean): void {
    this.#leave = null;
    if (this.#call.isOver) return this.#finish();
    if (this.#askFrom(place, isFetched)) return;
    this.#routeNext(false);
    this.#askNext();
  }

  #leaveUnheard(): void {
    this.#leave = null;
    this.#end({ kind: 'caller-gone', begun: this.#call.reply.begun });
  }

  #finish(): void {
    const { reply, attempts } = this.#call;
    const last = attempts.at(-1);
    const hasLeft = last === undefined ? reply.gone : last.outcome.kind === 'caller-gone';
    if (hasLeft) return this.#leaveUnheard();
    this.#end({ kind: 'failed', fault: this.#faultOf(attempts), begun: reply.begun });
  }

  #faultOf(attempts: Call['attempts']): Fault {
    const { blockedRetryMs } = this.#route;
    const judged = this.rescue?.judged(attempts) ?? attempts;
    if (judged.length > 0) return faultOfAttempts(judged, this.#wanted.model, blockedRetryMs);
    // Nothing could be asked: one of those that have to wait may be able to do what the others cannot.
    if (blockedRetryMs !== null) return fault('upstream_rate_limited', { retryAfterMs: blockedRetryMs });
    return this.#unspeakable ?? this.#desk?.fault ?? fault('no_available_channel');
  }

  /** Once, whatever happens. A count that no upstream gave is made here. */
  #end(finish: CallEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const call = this.#call;
    call.keepAlive?.stop();
    call.reply.listener = null;
    for (const attempt of [...this.#running]) attempt.letGo('outrun');
    if (call.inbound.work === 'count') countLocally(call, finish, (counted) => this.#settle(counted));
    else this.#settle(finish);
  }

  #settle(finish: CallEnd): void {
    this.#call.gateway.watchdog.release(this);
    this.#call.sold = this.rescue?.close(finish) ?? null;
    settle(this.#call, finish);
  }
}
