import {
  type Facts,
  type Fault,
  fail,
  fault,
  type InboundRequest,
  type Result,
  succeed,
} from '@headgate/protocols';
import { type Caller, type Catalogue, type Model, mayCall } from '../core/catalogue.ts';
import type { PriceVersion } from '../core/price.ts';
import type { Plan } from '../core/route/router.ts';
import type { Gateway } from './gateway.ts';

/** A call that may be made: what it is priced by is fixed here and does not change while it runs. */
export interface Hold {
  readonly price: PriceVersion | null;
  readonly multiplierPpm: bigint;
}

/** The call as planned. */
export interface Admission {
  readonly request: InboundRequest;
  readonly model: Model;
  readonly plan: Plan;
  readonly hold: Hold;
}

/** Decides whether and where a call may go. No I/O: every answer is in the snapshot. */
export function admit(
  request: InboundRequest,
  caller: Caller,
  catalogue: Catalogue,
  gateway: Gateway,
): Result<Admission, Fault> {
  if (!gateway.ledger.isWritable()) return fail(fault('overloaded', { retryAfterMs: 2000 }));
  const model = findModel(request.facts, caller, catalogue);
  if (!model.ok) return model;
  const plan = gateway.router.plan(request.facts, model.value, gateway.clock.now());
  if (plan.targets.length === 0) return fail(nothingToTry(plan));
  const { price } = model.value;
  if (price === null && gateway.unpricedModels === 'refuse') {
    gateway.observer.alert('unpriced-model', { model: model.value.id });
    return fail(
      fault('no_available_channel', { message: 'This model has no price yet and cannot be called.' }),
    );
  }
  return succeed({
    request,
    model: model.value,
    plan,
    hold: { price, multiplierPpm: caller.group.multiplierPpm },
  });
}

function findModel(facts: Facts, caller: Caller, catalogue: Catalogue): Result<Model, Fault> {
  const model = catalogue.models.get(facts.model);
  if (model !== undefined && mayCall(caller, facts.model)) return succeed(model);
  return fail(
    fault('model_not_found', {
      message: `The model '${facts.model.slice(0, 200)}' does not exist or this key may not use it; GET /v1/models lists what it may.`,
      param: 'model',
    }),
  );
}

function nothingToTry(plan: Plan): Fault {
  const { retryAfterMs } = plan;
  return retryAfterMs === null
    ? fault('no_available_channel')
    : fault('upstream_rate_limited', { retryAfterMs });
}
