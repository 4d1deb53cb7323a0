import {
  type Fault,
  fail,
  fault,
  type InboundRequest,
  type Protocol,
  type ProtocolId,
  type Result,
  succeed,
  type Turn,
} from '@headgate/protocols';
import { type Caller, mayCall, modelNotFound, type ServedNames } from '../catalogue/catalogue.ts';
import type { PriceVersion } from '../money/price.ts';
import type { EndListener, Inbound, Reply } from '../ports/data-plane.ts';
import type { CallLimits, Gateway } from '../ports/gateway.ts';
import type { RouteMade } from '../route/explain.ts';
import { unknownAnswer } from '../route/faults.ts';
import type { Route, RouteRequest } from '../route/route.ts';
import { noSession, sessionOf } from '../route/session.ts';
import { type EncodeNamed, readNames } from './detours/rights.ts';
import { nothingWithheld, withholdUnpriced } from './detours/unpriced.ts';
import type { HeldPart } from './hold/held.ts';
import type { AttemptRecord, Sold } from './outcomes.ts';

/** All that attempts share, whether they are made for a caller or are a probe of ours. */
export class Errand {
  readonly gateway: Gateway;
  inbound: Inbound;
  readonly reply: Reply;
  readonly limits: CallLimits;
  /** On the clock that never jumps: the end of all attempts together. */
  readonly deadlineAt: number;
  request: InboundRequest;
  /** Null when nobody waits for a stream, or the surface has no word for it. */
  keepAlive: { noteSent(at: number): void; stop(): void } | null = null;
  /** Null for a caller without limits, and before it has taken anything of them. */
  hold: HeldPart | null = null;

  constructor(
    gateway: Gateway,
    inbound: Inbound,
    reply: Reply,
    request = unread,
    limits: CallLimits = gateway.limits,
  ) {
    this.gateway = gateway;
    this.inbound = inbound;
    this.reply = reply;
    this.request = request;
    this.limits = limits;
    this.deadlineAt = inbound.receivedAt + limits.callMs;
  }

  /** Whose it is; nobody's where it is a probe. */
  get accountId(): string {
    return '';
  }

  /** The time of the whole call has run out, or the process may not wait any longer. */
  get isOver(): boolean {
    return this.isShutDown || this.gateway.clock.monotonic() >= this.deadlineAt;
  }

  /** The process has been told to stop: calls that run may end, and nothing new is begun. */
  get isStopping(): boolean {
    return this.gateway.watchdog.endsAt < Number.POSITIVE_INFINITY;
  }

  /** The process has been told to stop and its patience is over. */
  get isShutDown(): boolean {
    return this.gateway.clock.monotonic() >= this.gateway.watchdog.endsAt;
  }
}

/** A call of a caller's, as its one entry is made from it. */
export class Call extends Errand {
  readonly caller: Caller;
  readonly protocol: Protocol;
  #listener: EndListener | null;
  /** The caller's label in a header, which goes before one in the body. */
  tag: string | null = null;
  /** Fixed as soon as it is known that the caller may call the model; null where that is not so, or it has none. */
  price: PriceVersion | null = null;
  /** The factor on the price in parts per million, fixed with it. */
  multiplierPpm: bigint;
  /** The models that answers may name, as they were when the call was admitted. */
  served = noneServed;
  /** Encodes for a target that speaks the caller's protocol, where the body names other models; null where it names none. */
  encodeNamed: EncodeNamed | null = null;
  /** Tools that a target in the caller's protocol is not told of. */
  withheld = nothingWithheld;
  /** In the order in which they ended: the last one decides the call. */
  readonly attempts: AttemptRecord[] = [];
  /** How it was planned; empty when it was refused before. */
  readonly routes: RouteMade[] = [];
  /** Set where the answer of one attempt was continued by another. */
  sold: Sold | null = null;
  /** The request in no protocol's words, once an attempt has needed it. */
  turn: Result<Turn, Fault> | null = null;
  /** Its memory is counted; and it has its conversation, which another thread does not give back. */
  readonly turnKept = { isCounted: false, isWhole: true };

  constructor(
    gateway: Gateway,
    inbound: Inbound,
    caller: Caller,
    protocol: Protocol,
    reply: Reply,
    listener: EndListener | null,
  ) {
    super(gateway, inbound, reply);
    this.caller = caller;
    this.multiplierPpm = caller.group.multiplierPpm;
    this.protocol = protocol;
    this.#listener = listener;
  }

  override get accountId(): string {
    return this.caller.accountId;
  }

  /** Last, and once. An upstream that answered early may still be taking the body. */
  ended(): void {
    // Nothing is done twice; but where its settlement failed, nothing has been done.
    if (this.hold !== null) this.hold.settle(null);
    const listener = this.#listener;
    this.#listener = null;
    listener?.onCallEnded(!this.attempts.some(({ isSending }) => isSending), true);
  }

  /** The caller has left and its answer is read on: nothing of the request is kept. */
  release(): void {
    const { facts, wantsUsageFrame, framing } = this.request;
    this.request = { ...unread, facts, wantsUsageFrame, framing };
    this.inbound = { ...this.inbound, body: new Uint8Array(0) };
    this.turn = null;
    this.encodeNamed = null;
    this.keepAlive?.stop();
    this.#listener?.onCallEnded(true, false);
  }

  noteRoute(route: Route, attemptsBefore = this.attempts.length): void {
    this.routes.push({ route: route, attemptsBefore, protocol: null });
  }

  /** The latest plan came to a request in another protocol than the caller's. */
  noteProtocol(protocol: ProtocolId): void {
    const last = this.routes.pop();
    if (last !== undefined) this.routes.push({ ...last, protocol });
  }
}

const noneServed: ReadonlyMap<string, ServedNames> = new Map();

/** A request of which nothing could be read. */
const unread: InboundRequest = {
  facts: {
    model: '',
    stream: false,
    maxOutputTokens: null,
    inputTokensEstimate: 0,
    choices: 1,
    needs: new Set(),
  },
  wantsUsageFrame: false,
  framing: 'sse',
  passThrough() {
    throw new Error('a request that could not be read is sent nowhere');
  },
};

/** Decides whether a call may be made at all, but for its caller's limits. No I/O: every answer is in the snapshot. */
export function admit(call: Call): Result<RouteRequest, Fault> {
  const { gateway, caller, request, inbound } = call;
  if (!gateway.ledger.isWritable()) return fail(fault('store_unavailable', { retryAfterMs: 2000 }));
  const { facts } = request;
  const { models, served, rights } = gateway.catalogue.current;
  const model = models.get(facts.model);
  if (model === undefined || !mayCall(caller, model.id)) return fail(modelNotFound(facts.model));
  if (!model.isOffered) {
    // The caller can do nothing about it, and the operator can.
    gateway.observer.alert('unpriced-model', { model: model.id, mend: `headgate prices show ${model.id}` });
    return fail(modelNotFound(facts.model));
  }
  // From here on the ledger names the model: it is none that the caller has made up.
  const { price } = model;
  call.price = price;
  const { multipliers } = caller;
  if (multipliers !== null) call.multiplierPpm = multipliers.byModel.get(model.id) ?? multipliers.usualPpm;
  const { accountId, group } = caller;
  if (group.models !== null || caller.models !== null) {
    const named = readNames(request, caller, call.protocol.id, rights);
    if (!named.ok) return named;
    call.encodeNamed = named.value;
  }
  const asItIs = inbound.work !== 'answer';
  if (price !== null && !asItIs && (facts.terms !== undefined || facts.needs.has('tools'))) {
    const withheld = gateway.unpricedTerms === 'refuse' ? withholdUnpriced(call, model, price) : null;
    if (withheld?.ok === false) return withheld;
    if (withheld !== null) call.withheld = withheld.value;
  }
  const sessionClue = () => call.request.sessionClue?.() ?? null;
  const session = asItIs ? noSession : sessionOf({ accountId, header: inbound.header, sessionClue });
  const wanted = {
    facts,
    model,
    protocol: call.protocol.id,
    routing: group.routing,
    accountId,
    asItIs,
    session,
  };
  if (gateway.router.isForeign(wanted)) return fail(unknownAnswer(wanted));
  call.served = served;
  return succeed(wanted);
}
