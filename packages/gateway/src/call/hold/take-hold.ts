import { type Fault, fault } from '@headgate/protocols';
import type { Model } from '../../catalogue/catalogue.ts';
import type { Guard } from '../../ports/clock.ts';
import type { CallerListener } from '../../ports/data-plane.ts';
import type { Demand, HoldResult } from '../../ports/holds.ts';
import { settle } from '../entry.ts';
import { alertBug } from '../outcomes.ts';
import type { Call } from '../request.ts';
import { expectedTerms, expectedUsage, takenBy } from './demand.ts';
import { CallHold } from './hold.ts';
import { rateHeaders } from './rate-headers.ts';
import { faultOfHold } from './refusal.ts';

/** A store that has not answered by then does not count as there. */
const answerMsMax = 5_000;

/**
 * Takes what the call may need of its caller's limits, all at once, and lets it go on; ends it where that cannot be had. It has to wait only
 * where this process has leased too little.
 */
export function takeHold(call: Call, model: Model, goOn: () => void): void {
  new HoldTaking(call, model, goOn).begin();
}

/** A call that waits for its hold: its caller may leave, its time may pass, and the process may have to stop. */
class HoldTaking implements Guard, CallerListener {
  expiresAt: number;
  index = -1;
  readonly #call: Call;
  readonly #model: Model;
  readonly #goOn: () => void;
  readonly #demand: Demand;
  /** Leaves the queue for the hold. */
  #leave: (() => void) | null = null;

  constructor(call: Call, model: Model, goOn: () => void) {
    const { gateway, deadlineAt } = call;
    this.#call = call;
    this.#model = model;
    this.#goOn = goOn;
    this.#demand = demandOf(call, model);
    this.expiresAt = Math.min(gateway.clock.monotonic() + answerMsMax, deadlineAt);
  }

  begin(): void {
    const { gateway, caller, reply } = this.#call;
    this.#leave = gateway.holds.take(caller.limits, this.#demand, (result) => this.#take(result));
    if (this.#leave === null) return;
    gateway.watchdog.watch(this);
    reply.listener = this;
    if (reply.gone) this.onCallerGone();
  }

  onExpire(): void {
    const { isShutDown } = this.#call;
    this.#giveUp();
    this.#refuse(isShutDown ? fault('overloaded', { retryAfterMs: 1_000 }) : fault('store_unavailable'));
  }

  onCallerWritable(): void {}

  onCallerGone(): void {
    this.#giveUp();
    settle(this.#call, { kind: 'caller-gone', begun: false });
  }

  #giveUp(): void {
    this.#leave?.();
    this.#endWait();
  }

  #endWait(): void {
    if (this.#leave === null) return;
    this.#leave = null;
    this.#call.gateway.watchdog.release(this);
    this.#call.reply.listener = null;
  }

  #take(result: HoldResult): void {
    this.#endWait();
    const call = this.#call;
    const { gateway, caller, request, inbound } = call;
    try {
      if (result.ok) {
        const terms = expectedTerms(request, this.#model.price);
        call.hold = new CallHold(call, this.#model, terms, this.#demand, result.value);
      }
      if (caller.limits.some(({ rates }) => rates.length > 0)) this.#tellRates(result);
      if (result.ok) this.#goOn();
      else this.#refuse(faultOfHold(result.error, caller.limits, this.#demand));
    } catch (error) {
      alertBug(error, inbound.traceId, gateway.observer);
      this.#refuse(fault('internal'));
    }
  }

  #tellRates(result: HoldResult): void {
    const { gateway, caller, reply } = this.#call;
    const reached = !result.ok && result.error.kind === 'exceeded' ? result.error.limit : null;
    const known = gateway.holds.known(caller.limits, this.#demand.model);
    const headers = rateHeaders(reply.platform, known, caller.limits, gateway.clock.now(), reached);
    if (headers.length > 0) reply.addHeaders(headers);
  }

  #refuse(reason: Fault): void {
    settle(this.#call, { kind: 'failed', fault: reason, begun: false });
  }
}

function demandOf({ request, inbound, caller, gateway, price, multiplierPpm }: Call, model: Model): Demand {
  const usualMax = gateway.usualOutputs.usualMax(caller.keyId, model.id);
  const usage = expectedUsage({ request, work: inbound.work, model, usualMax });
  const terms = expectedTerms(request, price);
  return { model: model.id, ...takenBy(usage, price, multiplierPpm, terms) };
}
