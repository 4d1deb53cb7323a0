import {
  type Fault,
  fail,
  fault,
  prefillOf,
  type Result,
  type StreamTranslator,
  succeed,
  type Translation,
  type Turn,
  type UpstreamRefusal,
} from '@headgate/protocols';
import type { Target } from '../../../catalogue/catalogue.ts';
import type { Wire } from '../../../catalogue/wire.ts';
import { type Metered, meter } from '../../../money/meter.ts';
import type { HeaderList } from '../../../ports/data-plane.ts';
import type { RescueEnd } from '../../../ports/observer.ts';
import type { Outcome } from '../../../route/outcomes.ts';
import type { Route } from '../../../route/route.ts';
import type { AttemptRecord, CallEnd, Sold } from '../../outcomes.ts';
import type { Relay } from '../../relay.ts';
import { streamHeaders } from '../../reply.ts';
import type { Call } from '../../request.ts';
import { isLong } from '../away.ts';
import { MediaShelf, turnOf } from '../media.ts';
import { contextOf, type Encoded, encodeTranslated, TranslatedStreamRelay, waysOf } from '../translate.ts';
import { nothingWithheld } from '../unpriced.ts';
import { askForRest, Continuation, openContinuation } from './continuation.ts';
import { type Begun, soldOf, summedUsage } from './sold.ts';
import { type Watched, WatchedPassthrough, WatchedTranslation } from './watched.ts';

/** An answer of fewer tokens more is not worth asking for: what has to be repeated would fill it. */
const outputTokensMin = 32;

/**
 * Rescues the stream of one call when it breaks off after its first words (ADR 36): what has been said is given to another
 * channel, and what that says goes on in the caller's stream. Once at most, and only where words alone have been said.
 */
export class Rescue {
  readonly #call: Call;
  /** One for each attempt that has begun to answer: two, where the call was hedged. */
  readonly #watched: Watched[] = [];
  #begun: Begun | null = null;
  #end: RescueEnd | null = null;

  constructor(call: Call) {
    this.#call = call;
  }

  /** The call goes on after an answer that broke off. */
  get isOn(): boolean {
    return this.#begun !== null;
  }

  openPassthrough(wire: Wire, headers: HeaderList): Relay {
    const { codec } = wire.protocol;
    if (codec === null) throw new Error(`${wire.protocol.id} cannot be read`);
    const { origin, dialect } = wire.asked;
    const { traceId } = this.#call.inbound;
    const reader = codec.openReader({ origin, dialect, names: new Map(), traceId });
    return this.#watch(new WatchedPassthrough(this.#call, wire, headers, reader, codec.openPlace()));
  }

  /** `attempts`: sent so far. */
  openTranslated(wire: Wire, translation: Translation, attempts: number): Relay {
    const headers = streamHeaders('', this.#call.request.framing, attempts, translation.losses);
    const begun = this.#begun;
    if (begun === null) return this.#watch(new WatchedTranslation(this.#call, wire, translation, headers));
    const { said, writer, settings } = begun;
    const text = new Continuation(said, wayOf(wire), settings.stop ?? []);
    begun.text = text;
    const usageOf = (usage: Metered['usage']) =>
      summedUsage(this.#call, begun, { usage, source: 'upstream' }, usage).usage;
    const translator = openContinuation(translation, text, usageOf, writer);
    return new ContinuedRelay(this.#call, wire, translator, headers, text);
  }

  #watch<Kind extends Watched>(relay: Kind): Kind {
    this.#watched.push(relay);
    return relay;
  }

  /** Tells if the call goes on after this attempt, elsewhere and with what it has said. `hasAttempts`: there is room for another. */
  begin(attempt: AttemptRecord, hasAttempts: boolean): boolean {
    if (this.#begun !== null || !isBrokenOff(attempt.outcome)) return false;
    this.#begun = hasAttempts ? this.#beginOf(attempt) : null;
    this.#end = this.#begun === null ? 'untried' : 'failed';
    return this.#begun !== null;
  }

  #beginOf(cut: AttemptRecord): Begun | null {
    const call = this.#call;
    const watched = this.#watched.find(({ committed }) => committed);
    const said = watched?.transcript.text ?? null;
    if (watched === undefined || said === null || call.reply.gone || call.isOver) return null;
    // With what was fetched for it, it was too long to be read here.
    if (!call.turnKept.isWhole) return null;
    if (!mayBeMended(watched.refusal) || hasFinished(cut.outcome)) return null;
    const turn = turnOf(call);
    if (!turn.ok || !isTextAlone(turn.value)) return null;
    const first = this.#metered(cut.outcome);
    const allowed = turn.value.settings.maxOutputTokens;
    const outputTokensMax = allowed === null ? null : allowed - first.usage.output;
    if (outputTokensMax !== null && outputTokensMax < outputTokensMin) return null;
    const writer = watched.goOn({ ...contextOf(call), turn: turn.value });
    if (writer === null) return null;
    return { cut, said, writer, first, outputTokensMax, settings: turn.value.settings, text: null };
  }

  #metered(outcome: Outcome): Metered {
    const { inputTokensEstimate, maxOutputTokens } = this.#call.request.facts;
    const reading = 'reading' in outcome ? outcome.reading : null;
    return meter(reading, { inputTokensEstimate, outputTokensMax: maxOutputTokens });
  }

  /** The request for the rest, in the protocol of the target, be it the caller's or not. */
  encode(wire: Wire, shelf: MediaShelf | null): Result<Encoded, Fault> {
    const begun = this.#begun;
    if (begun === null) return fail(fault('internal'));
    const { said, outputTokensMax, text } = begun;
    // The writer has gone on from where the caller stands.
    if (text?.isWritten === true) return fail(fault('upstream_error'));
    // Media that would have to be fetched first come too late.
    if ((shelf ?? new MediaShelf(this.#call)).isShort(wire)) return fail(fault('no_available_channel'));
    const encoded = encodeTranslated(this.#call, wire, shelf, (turn) =>
      askForRest(turn, said, wayOf(wire), outputTokensMax),
    );
    if (!encoded.ok) return encoded;
    const { request } = encoded.value;
    const edits = [...request.edits, `rescue ${wayOf(wire)}`];
    return succeed({ ...encoded.value, request: { ...request, edits } });
  }

  /** The protocol in which a target is asked. */
  wayOf(wire: Wire): Wire {
    return wire.isTranslated ? (waysOf(this.#call, wire)[0] ?? wire) : wire;
  }

  /** The plan, with those first that can be given what has been said as their own. */
  preferred(route: Route): Route {
    if (this.#begun === null) return route;
    const { gateway, protocol } = this.#call;
    const rank = (target: Target) => (wayOf(gateway.wires.of(target, protocol.id)) === 'given' ? 0 : 1);
    return { ...route, targets: route.targets.toSorted((a, b) => rank(a) - rank(b)) };
  }

  /** The attempts by which the call's failure is told: those that were to rescue it are no fault of the caller's, but for its limits. */
  judged(attempts: readonly AttemptRecord[]): readonly AttemptRecord[] {
    const cut = this.#begun?.cut;
    return cut === undefined || attempts.at(-1)?.outcome.kind === 'over-limit'
      ? attempts
      : attempts.slice(0, attempts.indexOf(cut) + 1);
  }

  /** The call has ended: tells the operator what came of it. The whole of what the caller got; null where nothing was rescued. */
  close(finish: CallEnd): Sold | null {
    this.#note(finish);
    const begun = this.#begun;
    return begun === null ? null : soldOf(this.#call, begun);
  }

  #note(finish: CallEnd): void {
    const { attempts, gateway } = this.#call;
    if (this.#end === null) return;
    if (this.#begun !== null) {
      if (finish.kind === 'answered') this.#end = 'whole';
      else if (finish.kind === 'caller-gone') this.#end = 'left';
      else if (attempts.at(-1) === this.#begun.cut) this.#end = 'untried';
      else if (attempts.at(-1)?.outcome.kind === 'unjoined') this.#end = 'unjoined';
    }
    gateway.observer.rescued(this.#end);
  }
}

/** For calls whose stream may be rescued; null for others, which it costs nothing. */
export function openRescue(call: Call): Rescue | null {
  const { request, inbound, protocol } = call;
  const { stream, choices, continues, makesImages, needs } = request.facts;
  if (!stream || choices !== 1 || inbound.work !== 'answer' || protocol.codec === null) return null;
  // A tool that is withheld from every channel would be said anew.
  if (call.withheld !== nothingWithheld) return null;
  if (isLong(inbound.body) || continues !== undefined || makesImages === true || request.repeatable === false)
    return null;
  return needs.has('structured-output') || needs.has('audio-output') ? null : new Rescue(call);
}

function wayOf(wire: Wire): 'given' | 'asked' {
  return prefillOf(wire.asked, wire.protocol.id) === null ? 'asked' : 'given';
}

function isBrokenOff(outcome: Outcome): boolean {
  if (outcome.kind === 'timed-out') return outcome.committed && outcome.phase !== 'deadline';
  return outcome.kind === 'cut' && outcome.committed;
}

/** A model that has said how it ended has nothing more to say. */
function hasFinished(outcome: Outcome): boolean {
  return 'reading' in outcome && outcome.reading !== null && outcome.reading.finishReason !== null;
}

/** An error in the stream that is about what was said, or asked for, is the end of it. */
function mayBeMended(refusal: UpstreamRefusal | null): boolean {
  if (refusal === null) return true;
  const mended: readonly UpstreamRefusal['kind'][] = [
    'garbled',
    'overloaded',
    'server-error',
    'rate-limited',
    'conflict',
    'credential',
  ];
  return mended.includes(refusal.kind);
}

/** Words in no form that has to be kept, and nothing beside them that would have to go on. */
function isTextAlone({ settings, toolChoice }: Turn): boolean {
  const { outputFormat, logprobs } = settings;
  const isForced = toolChoice !== null && toolChoice.kind !== 'auto' && toolChoice.kind !== 'none';
  return logprobs === null && !isForced && (outputFormat === null || outputFormat.kind === 'text');
}

/** The answer of the channel that goes on: nothing of it reaches the caller before it is known where it joins. */
class ContinuedRelay extends TranslatedStreamRelay {
  readonly #text: Continuation;

  constructor(call: Call, wire: Wire, translator: StreamTranslator, headers: HeaderList, text: Continuation) {
    super(call, wire, translator, headers);
    this.#text = text;
  }

  override read(chunk: Uint8Array): Outcome | null {
    return this.#joined(super.read(chunk));
  }

  override end(): Outcome {
    const outcome = super.end();
    return this.#joined(outcome) ?? outcome;
  }

  #joined(outcome: Outcome | null): Outcome | null {
    return this.#text.hasFailed ? { kind: 'unjoined', reading: this.reading } : outcome;
  }
}
