import {
  type Fault,
  fail,
  fault,
  type InboundRequest,
  type Protocol,
  type Result,
  succeed,
  type Turn,
  type Work,
} from '@headgate/protocols';
import { type Caller, type Model, mayCall, modelNotFound } from '../catalogue/catalogue.ts';
import type { PriceVersion } from '../money/price.ts';
import type { Inbound, Reply } from '../ports/data-plane.ts';
import { nothingToTry, unknownAnswer } from '../route/faults.ts';
import type { Ask, Plan } from '../route/plan.ts';
import { sessionIdentity } from '../route/session.ts';
import type { KeepAlive } from './detours/keep-alive.ts';
import type { Gateway } from './gateway.ts';

/** A call that may be made. Its price is fixed here and does not change while it runs. */
export interface Admission {
  readonly request: InboundRequest;
  readonly ask: Ask;
  readonly plan: Plan;
  readonly price: PriceVersion | null;
}

/** Why a call may not go anywhere. */
export interface Rejection {
  readonly fault: Fault;
  /** Null when it was decided before anything was planned. */
  readonly plan: Plan | null;
}

/** All that the attempts of one call share. Nothing in it changes from one attempt to the next. */
export class Conversation {
  readonly gateway: Gateway;
  readonly protocol: Protocol;
  readonly inbound: Inbound;
  readonly request: InboundRequest;
  readonly ask: Ask;
  readonly reply: Reply;
  /** Nothing of the request may be lost in translation. */
  readonly strict: boolean;
  /** On the clock that never jumps: the end of the whole call. */
  readonly deadlineAt: number;
  /** Null when the caller does not wait for a stream, or its surface has no word for it. */
  readonly keepAlive: KeepAlive | null;
  #turn: Result<Turn, Fault> | null = null;

  constructor(
    gateway: Gateway,
    protocol: Protocol,
    inbound: Inbound,
    { strict }: Caller,
    { request, ask }: Admission,
    reply: Reply,
    keepAlive: KeepAlive | null,
  ) {
    this.gateway = gateway;
    this.protocol = protocol;
    this.inbound = inbound;
    this.request = request;
    this.ask = ask;
    this.reply = reply;
    this.strict = strict;
    this.deadlineAt = inbound.receivedAt + gateway.limits.callMs;
    this.keepAlive = keepAlive;
  }

  /** The request in no protocol's words, read when the first attempt needs it and kept for the others. */
  turn(): Result<Turn, Fault> {
    const { id, codec } = this.protocol;
    if (codec === null) throw new Error(`${id} is never translated`);
    this.#turn ??= codec.readTurn(this.inbound);
    return this.#turn;
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

/** Decides whether and where a call may go. No I/O: every answer is in the snapshot. */
export function admit(
  request: InboundRequest,
  { work, header }: Pick<Inbound, 'work' | 'header'>,
  protocol: Protocol,
  caller: Caller,
  gateway: Gateway,
): Result<Admission, Rejection> {
  if (!gateway.ledger.isWritable()) return reject(fault('overloaded', { retryAfterMs: 2000 }));
  const { facts } = request;
  const model = gateway.catalogue.current.models.get(facts.model);
  if (model === undefined || !mayCall(caller, model.id)) return reject(modelNotFound(facts.model));
  const ask = askOf(request, model, work, header, protocol, caller);
  if (gateway.router.isForeign(ask)) return reject(unknownAnswer(ask));
  const plan = gateway.router.plan(ask, gateway.clock.now());
  // A count is made here where no upstream makes it, and a channel that will be free soon may be waited for.
  if (plan.targets.length === 0 && plan.againMs === null && work !== 'count')
    return reject(nothingToTry(ask, plan), plan);
  const { price } = model;
  if (price === null && work !== 'count' && gateway.unpricedModels === 'refuse') {
    gateway.observer.alert('unpriced-model', { model: model.id });
    const message = 'This model has no price yet and cannot be called.';
    return reject(fault('no_available_channel', { message }), plan);
  }
  return succeed({ request, ask, plan, price });
}

function reject(reason: Fault, plan: Plan | null = null): Result<Admission, Rejection> {
  return fail({ fault: reason, plan });
}

function askOf(
  request: InboundRequest,
  model: Model,
  work: Work,
  header: Inbound['header'],
  { id }: Protocol,
  { accountId, group }: Caller,
): Ask {
  const isAnswer = work === 'answer';
  const sessionClue = () => request.sessionClue?.() ?? null;
  let named: string | null | undefined;
  return {
    facts: request.facts,
    model,
    protocol: id,
    routing: group.routing,
    accountId,
    asItIs: !isAnswer,
    session: () => {
      if (named === undefined) named = isAnswer ? sessionIdentity({ accountId, header, sessionClue }) : null;
      return named;
    },
  };
}
