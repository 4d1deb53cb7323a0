import { type InboundRequest, type SmallestCall, smallestCall } from '@headgate/protocols';
import { Attempt, type AttemptOwner } from '../call/attempt.ts';
import { alertBug, alertTrouble } from '../call/outcomes.ts';
import { Errand } from '../call/request.ts';
import type { Channel, Model, Target } from '../catalogue/catalogue.ts';
import type { Wire } from '../catalogue/wire.ts';
import { type Reply, uncounted } from '../ports/data-plane.ts';
import type { Gateway } from '../ports/gateway.ts';
import { rowOf } from './outcomes.ts';
import type { Suspect } from './probes.ts';
import type { RoutedAttempt } from './route.ts';

/** Probes under way at once, over all channels; a channel has one at the most. */
const probesMax = 8;

/** To find a target worth asking takes as long as planning a call: so many models are looked at in a tick, in turn. */
const modelsPerTick = 25;

/** The router, as far as the prober needs it. */
export interface ProbedRouter {
  probesDue(model: Model, nowMs: number): readonly Target[];
  probeWorthwhile(model: Model, nowMs: number): Target | null;
  probesIdle(models: readonly Model[], nowMs: number, idleMs: number): readonly Suspect[];
  probe(target: Target, model: Model, nowMs: number): RoutedAttempt;
}

export interface ProberOptions {
  readonly gateway: Omit<Gateway, 'router'>;
  readonly router: ProbedRouter & Gateway['router'];
  /** A channel that nobody has called for so long is asked whether it is there; 0 asks none. Milliseconds. */
  readonly idleMs: number;
}

/**
 * Asks for one token what is out of service and may be back, and what nobody calls, so that neither is found out by a
 * caller. A probe is an attempt without a caller, read as strictly as any: a page, a fault or nothing inside a 200 is a failure.
 * The upstream charges for it; no customer does, so there is no entry of it: metrics count them.
 */
export class Prober implements AttemptOwner {
  readonly begun = 1;
  readonly #options: ProberOptions;
  /** By the id of their channel. */
  readonly #underWay = new Map<string, { readonly probe: Attempt; readonly model: Model }>();
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
    this.#safely(() => {
      this.#probeDue();
      this.#probeUnused();
    });
  }

  /** No caller waits for a probe, so a bug on its way must not be the end of those who do. */
  #safely(step: () => void): void {
    try {
      step();
    } catch (error) {
      alertBug(error, probeTraceId, this.#options.gateway.observer);
    }
  }

  /** Ends the probes under way; there will be no more. */
  stop(): void {
    this.#hasStopped = true;
    for (const { probe } of [...this.#underWay.values()]) probe.letGo('shut-down');
  }

  /** Sends a probe that somebody else wants; false where it cannot be sent now. What comes of it, the observer hears. */
  ask(target: Target, model: Model): boolean {
    const before = this.#turn;
    this.#safely(() => this.#probe(target, model));
    return this.#turn !== before;
  }

  /**
   * The channel asked longest ago comes first, and of a channel the target asked longest ago: many that hang hold up every
   * probe there may be, and one that is back must not wait behind all of theirs.
   */
  #probeDue(): void {
    if (!this.#hasRoom) return;
    const { router, gateway } = this.#options;
    const nowMs = gateway.clock.now();
    const due = this.#models.flatMap((model) =>
      router.probesDue(model, nowMs).map((target) => ({ target, model })),
    );
    const turnOf = (it: Channel | Target) => this.#turns.get(it) ?? 0;
    due.sort(
      ({ target: a }, { target: b }) => turnOf(a.channel) - turnOf(b.channel) || turnOf(a) - turnOf(b),
    );
    for (const { target, model } of due) this.#probe(target, model);
  }

  /** Probes what is in service, and would be missed. */
  #probeUnused(): void {
    const { router, gateway, idleMs } = this.#options;
    if (idleMs === 0 || !this.#hasRoom) return;
    const nowMs = gateway.clock.now();
    for (const model of this.#nextModels()) {
      const target = router.probeWorthwhile(model, nowMs);
      if (target !== null) this.#probe(target, model);
    }
    for (const { target, model } of router.probesIdle(this.#models, nowMs, idleMs))
      this.#probe(target, model);
  }

  get #models(): readonly Model[] {
    return [...this.#options.gateway.catalogue.current.models.values()];
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
    const { gateway, router } = this.#options;
    const { channel, upstreamModel, facts: known } = target;
    if (this.#underWay.has(channel.id) || !this.#hasRoom) return;
    const { protocols, dialect } = channel.provider;
    const call = smallestCall(protocols, upstreamModel, dialect, known);
    if (call === null || gateway.protocols[call.protocol] === undefined) return;
    const wire = gateway.wires.of(target, call.protocol);
    const routed = router.probe(target, model, gateway.clock.now());
    const errand = errandOf({ ...gateway, router }, call, wire, routed);
    const probe = new Attempt(
      errand,
      this,
      wire,
      { request: call, translation: null, losses: [], heldBytes: 0 },
      routed,
      1,
      true,
    );
    this.#underWay.set(channel.id, { probe, model });
    this.#turn++;
    this.#turns.set(channel, this.#turn).set(target, this.#turn);
    probe.start();
  }

  onContent(): void {}

  onOutcome(probe: Attempt): void {
    const { id } = probe.target.channel;
    const model = this.#underWay.get(id)?.model;
    this.#underWay.delete(id);
    if (model !== undefined) this.#safely(() => this.#noteEnd(probe, model));
  }

  #noteEnd(probe: Attempt, model: Model): void {
    const { target, outcome, routed } = probe;
    const { clock, observer } = this.#options.gateway;
    routed.noteEnd(outcome, clock.now());
    observer.probed(target, model.id, outcome);
    // A model that is missing for a probe may be there for what it is made for.
    if (rowOf(outcome).alert === 'credential-refused') alertTrouble(probe, routed.credential?.id, observer);
    if (outcome.kind !== 'answered') return;
    // The other models of a channel that is back need not wait for the next second, nor for other channels.
    this.#turns.delete(target.channel);
    this.#probeDue();
  }
}

/** Stands in alerts where the id of a call would. */
const probeTraceId = 'probe';

/** An answer of one token is no longer. */
const answerBytesMax = 256 * 1024;

/** It is no stream, and takes as long as one may take to begin: its one token comes when a stream would, behind thoughts where there are always some. */
function errandOf(gateway: Gateway, call: SmallestCall, wire: Wire, routed: RoutedAttempt): Errand {
  const { clock } = gateway;
  const { firstContentReasoningMs } = gateway.limits;
  const wholeAnswerMs = wire.asked.reasoning === 'always' ? firstContentReasoningMs : routed.firstContentMs;
  const inbound = {
    work: 'answer' as const,
    traceId: probeTraceId,
    body: new Uint8Array(0),
    header: () => undefined,
    path: '',
    params: {},
    search: '',
    receivedAtMs: clock.now(),
    receivedAt: clock.monotonic(),
    memory: uncounted,
  };
  const request: InboundRequest = { facts, wantsUsageFrame: false, framing: 'sse', passThrough: () => call };
  const limits = { ...gateway.limits, answerBytesMax, wholeAnswerMs };
  return new Errand(gateway, inbound, nobody, request, limits);
}

const facts: InboundRequest['facts'] = {
  model: '',
  stream: false,
  maxOutputTokens: 1,
  inputTokensEstimate: 10,
  choices: 1,
  needs: new Set(),
};

/** The reply to a question of our own: nobody hears it, and nobody leaves. */
const nobody: Reply = {
  platform: 'completions',
  gone: false,
  begun: false,
  listener: null,
  send() {},
  begin: () => true,
  write: () => true,
  end() {},
  breakOff() {},
  abandon() {},
  addHeaders() {},
};
