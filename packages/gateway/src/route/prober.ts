import {
  concatBytes,
  type Protocol,
  type ProtocolId,
  type SmallestCall,
  smallestCall,
} from '@headgate/protocols';
import { alertBug } from '../call/outcomes.ts';
import { isBlank, RefusalRelay, refusedAs } from '../call/relay.ts';
import { type Guard, guard, type Watchdog } from '../call/watchdog.ts';
import type { Catalogue, Channel, Model, Target } from '../catalogue/catalogue.ts';
import type { Clock } from '../ports/clock.ts';
import type { Observer } from '../ports/observer.ts';
import type {
  Upstream,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamHead,
} from '../ports/upstream.ts';
import { type Outcome, outcomeOfFailure, rowOf } from './outcomes.ts';
import type { Flight } from './plan.ts';
import type { Suspect } from './probes.ts';
import { retryAfterMs } from './retry-after.ts';

/** Probes under way at once, over all channels; a channel has one at the most. */
const probesMax = 8;

/** To find a target worth asking takes as long as planning a call: so many models are looked at in a tick, in turn. */
const modelsPerTick = 25;

/** The router, as far as the prober needs it. */
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

  /** Probes what is in service, and would be missed. */
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
    const { alert } = rowOf(outcome);
    // A model that is missing for a probe may be there for what it is made for.
    if (alert === 'credential-refused' && outcome.kind === 'refused') {
      observer.alert(alert, {
        channel: target.channel.id,
        model: target.upstreamModel,
        message: outcome.refusal.message,
      });
    }
    if (outcome.kind !== 'answered') return;
    // The other models of a channel that is back need not wait for the next second, nor for other channels.
    this.#turns.delete(target.channel);
    this.#probeDue();
  }
}

/** An answer of one token is no longer. */
const answerBytesMax = 256 * 1024;

export interface ProbeParts {
  readonly upstream: Upstream;
  readonly watchdog: Watchdog;
  readonly clock: Clock;
  readonly observer: Observer;
}

/** The question of a probe, and whom it is put to. */
export interface ProbeQuestion {
  readonly target: Target;
  readonly protocol: Protocol;
  readonly call: SmallestCall;
  readonly flight: Flight;
}

/** One request for one token, read as strictly as a caller's: a page, a fault or nothing inside a 200 is a failure. */
export class Probe implements UpstreamHandler {
  readonly #parts: ProbeParts;
  readonly #question: ProbeQuestion;
  readonly #onOutcome: (outcome: Outcome) => void;
  readonly #guard: Guard;
  #exchange: UpstreamExchange | null = null;
  #refusal: RefusalRelay | null = null;
  #hasHead = false;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;
  #done = false;

  constructor(parts: ProbeParts, question: ProbeQuestion, onOutcome: (outcome: Outcome) => void) {
    this.#parts = parts;
    this.#question = question;
    this.#onOutcome = onOutcome;
    const expiresAt = parts.clock.monotonic() + question.flight.firstContentMs;
    this.#guard = guard(expiresAt, () => this.#expire());
  }

  start(): void {
    this.#safely(() => this.#send());
  }

  #send(): void {
    const { target, call, flight } = this.#question;
    this.#parts.watchdog.watch(this.#guard);
    const { channel } = target;
    const { credential } = flight;
    const { path, headers, body } = call;
    const line = this.#parts.upstream.line({ channel, credential, method: 'POST', path, headers });
    this.#exchange = line.send([], [body], false, this);
  }

  /** Our process stops: that says nothing of the target. */
  abort(): void {
    this.#finish({ kind: 'shut-down', committed: false, reading: null });
  }

  onHead(head: UpstreamHead): void {
    this.#safely(() => this.#takeHead(head));
  }

  onData(chunk: Uint8Array): void {
    this.#safely(() => this.#takeChunk(chunk));
  }

  onEnd(): void {
    this.#safely(() => this.#finish(this.#refusal?.end() ?? this.#end()));
  }

  #takeHead(head: UpstreamHead): void {
    this.#hasHead = true;
    const nowMs = this.#parts.clock.now();
    this.#question.flight.told(head.headers, nowMs);
    if (head.status >= 200 && head.status <= 299) return;
    this.#refusal = new RefusalRelay(this.#question.protocol, head.status, retryAfterMs(head, nowMs));
  }

  onFailure(failure: UpstreamFailure): void {
    this.#finish(outcomeOfFailure(failure, this.#hasHead, false, null));
  }

  /** An error that is thrown in a step is a bug, and the probe's outcome. */
  #safely(step: () => void): void {
    if (this.#done) return;
    try {
      step();
    } catch (error) {
      alertBug(error, 'probe', this.#parts.observer);
      this.#finish({ kind: 'bug', committed: false, reading: null });
    }
  }

  #takeChunk(chunk: Uint8Array): void {
    const outcome = this.#refusal === null ? this.#collect(chunk) : this.#refusal.read(chunk);
    if (outcome !== null) this.#finish(outcome);
  }

  #collect(chunk: Uint8Array): Outcome | null {
    this.#chunks.push(new Uint8Array(chunk));
    this.#length += chunk.length;
    return this.#length > answerBytesMax ? refusedAs('garbled', 'more than one token can be') : null;
  }

  #end(): Outcome {
    if (!this.#hasHead)
      return { kind: 'cut', committed: false, detail: 'the answer ended before it began', reading: null };
    return this.#read();
  }

  #read(): Outcome {
    const { protocol, target } = this.#question;
    const answer = protocol.readAnswer(concatBytes(this.#chunks), target.channel.provider.dialect);
    if (answer.kind === 'refusal') return { kind: 'refused', refusal: answer.refusal, retryAfterMs: null };
    // A model that has only begun to think says nothing, and why it stopped.
    if (isBlank(answer.reading)) return refusedAs('blank', 'an empty answer');
    return { kind: 'answered', reading: answer.reading };
  }

  #expire(): void {
    this.#finish({ kind: 'timed-out', phase: 'first-content', committed: false, reading: null });
  }

  /** The connection is let go of unless the answer has been read to its end. */
  #finish(outcome: Outcome): void {
    if (this.#done) return;
    this.#done = true;
    this.#parts.watchdog.release(this.#guard);
    this.#question.flight.ended(outcome, this.#parts.clock.now());
    this.#exchange?.abort();
    this.#onOutcome(outcome);
  }
}
