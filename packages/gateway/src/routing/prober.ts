import { type Protocol, type ProtocolId, smallestCall } from '@headgate/protocols';
import type { Catalogue, Channel, Model, Target } from '../core/catalogue.ts';
import type { Suspect } from '../core/route/choice/probes.ts';
import type { Outcome } from '../core/route/outcome/outcome.ts';
import type { Flight } from '../core/route/router.ts';
import { Probe, type ProbeParts } from './probe.ts';

/** Probes under way at once, over all channels; a channel has one at the most. */
const probesMax = 8;

/** To find a target worth asking takes as long as planning a call: so many models are looked at in a tick, in turn. */
const modelsPerTick = 25;

/** What the prober needs of a router. */
export interface ProbedRouter {
  probesDue(model: Model, nowMs: number): readonly Target[];
  probeWorthwhile(model: Model, nowMs: number): Target | null;
  probesIdle(models: readonly Model[], nowMs: number, idleMs: number): readonly Suspect[];
  probe(target: Target, model: Model, nowMs: number): Flight;
}

export interface ProberOptions extends ProbeParts {
  readonly catalogue: { readonly current: Catalogue };
  readonly protocols: Readonly<Partial<Record<ProtocolId, Protocol>>>;
  readonly router: ProbedRouter;
  /** A channel that nobody has called for so long is asked whether it is there; 0 asks none. Milliseconds. */
  readonly idleMs: number;
}

/**
 * Asks for one token what is out of service and may be back, and what nobody calls, so that neither is found out by a
 * caller. The upstream charges for it; no customer does, so there is no entry of it: metrics count them.
 */
export class Prober {
  readonly #options: ProberOptions;
  /** By the id of their channel. */
  readonly #underWay = new Map<string, Probe>();
  /** Grows from probe to probe: of channels that have not answered since, and of targets. */
  readonly #turns = new WeakMap<Channel | Target, number>();
  #turn = 0;
  /** Models looked at so far. */
  #looked = 0;
  #hasStopped = false;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** Sends the probes that are due. Call it every second. */
  tick(): void {
    this.#probeDue();
    this.#probeUnused();
  }

  /** Ends the probes under way; there will be no more. */
  stop(): void {
    this.#hasStopped = true;
    for (const probe of this.#underWay.values()) probe.abort();
  }

  /**
   * The channel asked longest ago comes first, and of a channel the target asked longest ago: many that hang hold up every
   * probe there may be, and one that is back must not wait behind all of theirs.
   */
  #probeDue(): void {
    if (!this.#hasRoom) return;
    const { router, clock } = this.#options;
    const nowMs = clock.now();
    const due = this.#models.flatMap((model) =>
      router.probesDue(model, nowMs).map((target) => ({ target, model })),
    );
    const turnOf = (it: Channel | Target) => this.#turns.get(it) ?? 0;
    due.sort(
      ({ target: a }, { target: b }) => turnOf(a.channel) - turnOf(b.channel) || turnOf(a) - turnOf(b),
    );
    for (const { target, model } of due) this.#probe(target, model);
  }

  /** What is in service, and would be missed. */
  #probeUnused(): void {
    const { router, clock, idleMs } = this.#options;
    if (idleMs === 0 || !this.#hasRoom) return;
    const nowMs = clock.now();
    for (const model of this.#nextModels()) {
      const target = router.probeWorthwhile(model, nowMs);
      if (target !== null) this.#probe(target, model);
    }
    for (const { target, model } of router.probesIdle(this.#models, nowMs, idleMs))
      this.#probe(target, model);
  }

  get #models(): readonly Model[] {
    return [...this.#options.catalogue.current.models.values()];
  }

  #nextModels(): readonly Model[] {
    const models = this.#models;
    const from = models.length === 0 ? 0 : this.#looked % models.length;
    const next = [...models.slice(from), ...models.slice(0, from)].slice(0, modelsPerTick);
    this.#looked += next.length;
    return next;
  }

  get #hasRoom(): boolean {
    return !this.#hasStopped && this.#underWay.size < probesMax;
  }

  #probe(target: Target, model: Model): void {
    const { channel, upstreamModel } = target;
    const { id } = channel;
    if (this.#underWay.has(id) || !this.#hasRoom) return;
    const { protocols, dialect } = channel.provider;
    const call = smallestCall(protocols, upstreamModel, dialect);
    const protocol = call === null ? undefined : this.#options.protocols[call.protocol];
    if (call === null || protocol === undefined) return;
    const flight = this.#options.router.probe(target, model, this.#options.clock.now());
    const question = { target, protocol, call, flight };
    const probe = new Probe(this.#options, question, (outcome) => this.#ended(target, outcome));
    this.#underWay.set(id, probe);
    this.#turn++;
    this.#turns.set(channel, this.#turn).set(target, this.#turn);
    probe.start();
  }

  #ended(target: Target, outcome: Outcome): void {
    this.#underWay.delete(target.channel.id);
    const { observer } = this.#options;
    observer.probed(target.channel.id, outcome.kind);
    if (outcome.kind === 'refused' && outcome.refusal.kind === 'credential') {
      const { message } = outcome.refusal;
      observer.alert('credential-refused', {
        channel: target.channel.id,
        model: target.upstreamModel,
        message,
      });
    }
    if (outcome.kind !== 'answered') return;
    // The other models of a channel that is back need not wait for the next second, nor for other channels.
    this.#turns.delete(target.channel);
    this.#probeDue();
  }
}
