import {
  type Fault,
  fail,
  fault,
  type HeaderLookup,
  type InboundRequest,
  type ProtocolId,
  type Result,
  succeed,
  type Work,
} from '@headgate/protocols';
import {
  type Caller,
  type Catalogue,
  type Model,
  mayCall,
  modelNotFound,
  speaks,
} from '../core/catalogue.ts';
import type { PriceVersion } from '../core/price.ts';
import type { Excluded } from '../core/route/choice/considered.ts';
import { unknownAnswer } from '../core/route/outcome/unknown-answer.ts';
import type { Ask, Plan } from '../core/route/router.ts';
import { sessionIdentity } from '../core/route/session/session-identity.ts';
import type { Gateway } from './gateway.ts';

/** A call that may be made: what it is priced by is fixed here and does not change while it runs. */
export interface Tariff {
  readonly price: PriceVersion | null;
  readonly multiplierPpm: bigint;
}

/** The call as planned. */
export interface Admission {
  readonly request: InboundRequest;
  readonly ask: Ask;
  readonly plan: Plan;
  readonly tariff: Tariff;
}

/** Why a call may not go anywhere. */
export interface Rejection {
  readonly fault: Fault;
  /** Null when it was decided before anything was planned. */
  readonly plan: Plan | null;
}

/** What is asked for, in which protocol, and what is said beside it. */
interface Question {
  readonly protocol: ProtocolId;
  readonly work: Work;
  readonly header: HeaderLookup;
}

/** Decides whether and where a call may go. No I/O: every answer is in the snapshot. */
export function admit(
  request: InboundRequest,
  { protocol, work, header }: Question,
  caller: Caller,
  catalogue: Catalogue,
  gateway: Gateway,
): Result<Admission, Rejection> {
  if (!gateway.ledger.isWritable()) return fail(unplanned(fault('overloaded', { retryAfterMs: 2000 })));
  const model = catalogue.models.get(request.facts.model);
  if (model === undefined || !mayCall(caller, model.id))
    return fail(unplanned(modelNotFound(request.facts.model)));
  const ask = {
    facts: request.facts,
    model: work === 'answer' ? model : speaking(model, protocol),
    protocol,
    routing: caller.group.routing,
    accountId: caller.accountId,
    sessionKey: work === 'answer' ? sessionOf(request, caller, header) : null,
  };
  if (gateway.router.isForeign(ask)) return fail(unplanned(unknownAnswer(ask)));
  const plan = gateway.router.plan(ask, gateway.clock.now());
  // What no upstream counts is counted here, and what will be free soon may be waited for.
  if (plan.targets.length === 0 && plan.againMs === null && work !== 'count')
    return fail({ fault: nothingToTry(ask, plan), plan });
  const { price } = model;
  if (price === null && work !== 'count' && gateway.unpricedModels === 'refuse') {
    gateway.observer.alert('unpriced-model', { model: model.id });
    const message = 'This model has no price yet and cannot be called.';
    return fail({ fault: fault('no_available_channel', { message }), plan });
  }
  return succeed({
    request,
    ask,
    plan,
    tariff: { price, multiplierPpm: caller.group.multiplierPpm },
  });
}

/** Refused before anything was planned. */
export function unplanned(reason: Fault): Rejection {
  return { fault: reason, plan: null };
}

function sessionOf(request: InboundRequest, { accountId }: Caller, header: HeaderLookup): string | null {
  return sessionIdentity({ accountId, header, sessionClue: () => request.sessionClue?.() ?? null });
}

/** The model with those of its targets that take the protocol as it is: nothing but an answer is translated. */
function speaking(model: Model, protocol: ProtocolId): Model {
  return { ...model, targets: model.targets.filter((target) => speaks(target, protocol)) };
}

function nothingToTry(ask: Ask, { blockedRetryMs, considered: { due, excluded } }: Plan): Fault {
  const { needs } = ask.facts;
  if (blockedRetryMs !== null) return fault('upstream_rate_limited', { retryAfterMs: blockedRetryMs });
  if (isOutOfReach(excluded)) return unknownAnswer(ask);
  const lacking = excluded.filter(({ reason }) => reason === 'lacks');
  const isForLack = lacking.length > 0 && due.length === 0 && excluded.every(isForGood);
  if (!isForLack) return fault('no_available_channel');
  const missing = [...needs].filter((need) =>
    lacking.every(({ candidate }) => candidate.target.lacks.has(need)),
  );
  return fault('invalid_request', {
    message: `No channel of this model takes ${new Intl.ListFormat('en').format(missing.length > 0 ? missing : needs)}: leave it out, or ask another model.`,
  });
}

/** Whether what the call goes on from is kept by a channel that cannot be asked for this model any more. */
function isOutOfReach(excluded: readonly Excluded[]): boolean {
  return (
    excluded.some(({ reason }) => reason === 'elsewhere') &&
    excluded.every((each) => each.reason === 'elsewhere' || isForGood(each))
  );
}

/** Whether waiting would not help. */
function isForGood({ reason }: Excluded): boolean {
  return reason === 'disabled' || reason === 'not-allowed' || reason === 'lacks';
}
