import {
  beginningOf,
  type EncodedRequest,
  type Fault,
  type FrameTranslator,
  fail,
  fault,
  isBeyondReading,
  type Languages,
  type Loss,
  leastLossFirst,
  type Result,
  succeed,
  type Translation,
  type Turn,
  translate,
  type WriterContext,
  withMedia,
} from '@headgate/protocols';
import type { Wire } from '../../catalogue/wire.ts';
import { type HeaderList, uncountedBytesMax } from '../../ports/data-plane.ts';
import { crowded } from '../../route/faults.ts';
import type { Outcome } from '../../route/outcomes.ts';
import { type Relay, refusedAs, StreamRelay } from '../relay.ts';
import { streamHeaders, wholeHeaders } from '../reply.ts';
import type { Call, Errand } from '../request.ts';
import { WholeRelay } from '../whole-relay.ts';
import { type MediaShelf, turnOf } from './media.ts';

/** A request as one target gets it: the caller's own bytes, or translated where the target speaks another protocol. */
export interface Encoded {
  readonly request: EncodedRequest;
  /** Null in the passthrough lane. */
  readonly translation: Translation | null;
  readonly losses: readonly Loss[];
  /** The memory that is counted for it, to be given back when the attempt is over. */
  readonly heldBytes: number;
}

/**
 * The protocols in which a target that does not speak the caller's is asked, the one that loses least of this request first. The
 * others are for what only their own writer finds that it cannot say.
 */
export function waysOf(call: Call, { ways }: Wire): readonly Wire[] {
  if (ways.length === 1) return ways;
  const turn = turnOf(call);
  if (!turn.ok) return ways.slice(0, 1);
  const spoken = ways.flatMap((wire) => {
    const { codec } = wire.protocol;
    return codec === null ? [] : [{ wire, codec, target: wire.asked }];
  });
  return leastLossFirst(turn.value, spoken).map(({ wire }) => wire);
}

/** The request for a target of another protocol. A fault where it cannot be told it: another one may be. */
export function encodeTranslated(
  call: Call,
  wire: Wire,
  shelf: MediaShelf | null,
  change: (turn: Turn) => Turn = unchanged,
): Result<Encoded, Fault> {
  const { protocol } = call;
  const { codec } = wire.protocol;
  if (protocol.codec === null || codec === null)
    throw new Error(`${protocol.id} cannot be translated to ${wire.protocol.id}`);
  if (!holdsTurn(call) || !holdsRequest(call)) return fail(crowded());
  const encoded = encodeHere(call, { caller: protocol.codec, upstream: codec }, wire, shelf, change);
  if (!encoded.ok) releaseRequest(call);
  return encoded;
}

function encodeHere(
  call: Call,
  languages: Languages,
  wire: Wire,
  shelf: MediaShelf | null,
  change: (turn: Turn) => Turn,
): Result<Encoded, Fault> {
  const turn = turnOf(call);
  if (!turn.ok) return turn;
  const unfetched = shelf?.faultFor(wire) ?? null;
  if (unfetched !== null) return fail(unfetched);
  const asked = change(shelf === null ? turn.value : withMedia(turn.value, shelf.fetched));
  const translation = translate(languages, wire.asked, { ...contextOf(call), turn: asked });
  return translation.ok ? encodedFrom(call, translation.value) : translation;
}

/** All but the request that translations of it, and its answer, need to know. */
export function contextOf({ request, inbound }: Call): Omit<WriterContext, 'turn'> {
  return {
    traceId: inbound.traceId,
    createdS: Math.floor(inbound.receivedAtMs / 1000),
    wantsUsageFrame: request.wantsUsageFrame,
    framing: request.framing,
    inputTokensEstimate: request.facts.inputTokensEstimate,
  };
}

/** The request as it is sent; a fault where it loses what its caller does not do without. */
export function encodedFrom(call: Call, translation: Translation): Result<Encoded, Fault> {
  const [loss] = translation.losses;
  if (call.caller.strict && loss !== undefined) return fail(lossRefused(loss));
  const { request, losses } = translation;
  return succeed({ request, translation, losses, heldBytes: requestBytes(call) });
}

/** A large body, once read, holds its texts once more, for all attempts of the call. False where there is no room for it. */
export function holdsTurn(call: Call): boolean {
  if (call.turnKept.isCounted) return true;
  const bytes = requestBytes(call);
  call.turnKept.isCounted = bytes === 0 || call.inbound.memory.take(bytes);
  return call.turnKept.isCounted;
}

/** A target's request is about as long as the caller's, and is held as long as its attempt. False where there is no room for it. */
export function holdsRequest(call: Call): boolean {
  const bytes = requestBytes(call);
  return bytes === 0 || call.inbound.memory.take(bytes);
}

export function releaseRequest(call: Call): void {
  const bytes = requestBytes(call);
  if (bytes > 0) call.inbound.memory.giveBack(bytes);
}

function requestBytes({ inbound: { body } }: Call): number {
  return body.length > uncountedBytesMax ? body.length : 0;
}

const unchanged = (turn: Turn): Turn => turn;

/** A key that is strict does without an answer rather than without a part of its request. */
function lossRefused({ field, action, note }: Loss): Fault {
  const how = action === 'dropped' ? 'it would be left out' : `it would be sent otherwise (${note})`;
  return fault('invalid_request', {
    message: `'${field}' cannot be honoured by any channel of this model: ${how}. Leave it out, or use a key that is not strict.`,
    param: field,
  });
}

/** The relay of an answer that is translated back. Its bytes are ours, so the upstream's content type says nothing of them. */
export function openTranslatedRelay(
  errand: Errand,
  wire: Wire,
  translation: Translation,
  isWhole: boolean,
  announced: number,
  attempts: number,
): Relay {
  if (isWhole) {
    const headers = wholeHeaders('', attempts, translation.losses);
    return new TranslatedWholeRelay(errand, wire, translation, headers, announced);
  }
  const headers = streamHeaders('', errand.request.framing, attempts, translation.losses);
  return new TranslatedStreamRelay(errand, wire, translation.openStream(), headers);
}

const tooMuch = 'more than can be translated';
/** A longer answer is translated in another thread. Bytes. */
const translatedHereMax = 256 * 1024;

class TranslatedWholeRelay extends WholeRelay {
  protected override readonly readHereMax = translatedHereMax;
  readonly #translation: Translation;

  constructor(errand: Errand, wire: Wire, translation: Translation, headers: HeaderList, announced: number) {
    super(errand, wire, headers, announced);
    this.#translation = translation;
  }

  override end(): Outcome {
    if (isBeyondReading(this.body)) return refusedAs('garbled', tooMuch);
    return unlessInError(super.end(), this.committed);
  }

  protected override get translation() {
    return this.#translation.forAnswer;
  }

  protected override judged(outcome: Outcome): Outcome {
    return unlessInError(outcome, this.committed);
  }

  protected override toCaller(body: Uint8Array): Uint8Array {
    return this.#translation.whole(body);
  }
}

/**
 * An answer that the model ended in an error, such as a call that it could not write, is no answer elsewhere either: in other
 * protocols it would look complete, while the ledger has it as failed. Its own protocol's callers know the word for it.
 */
function unlessInError(outcome: Outcome, committed: boolean): Outcome {
  if (outcome.kind !== 'answered' || outcome.reading.finishReason !== 'error') return outcome;
  const { reading } = outcome;
  const word = beginningOf(reading.finishReasonRaw ?? 'error', 100);
  const message = `the model ended its answer in an error (${word})`;
  if (committed) return { kind: 'cut', committed, detail: message, reading };
  const refusal = {
    kind: 'server-error',
    status: 200,
    message,
    type: null,
    code: word,
    param: null,
  } as const;
  return { kind: 'refused', refusal, retryAfterMs: null };
}

/** A translator says everything in its own frames, the usage and the end of a stream included; what says nothing it leaves out. */
export class TranslatedStreamRelay extends StreamRelay {
  readonly #translator: FrameTranslator;
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(errand: Errand, wire: Wire, translator: FrameTranslator, headers: HeaderList) {
    super(errand, wire, headers, 'sse');
    this.#translator = translator;
    this.#bytesMax = errand.limits.answerBytesMax;
  }

  override read(chunk: Uint8Array): Outcome | null {
    const outcome = super.read(chunk);
    return outcome === null ? null : unlessInError(outcome, this.committed);
  }

  override end(): Outcome {
    return unlessInError(super.end(), this.committed);
  }

  /** A translator keeps what it cannot say yet, and some say everything again at the end: memory has a bound. */
  protected override takeFrame(frame: Uint8Array): void {
    this.#bytes += frame.length;
    this.keep(this.#bytes);
    if (this.#bytes > this.#bytesMax || isBeyondReading(frame)) this.outcome = this.broken(tooMuch);
    else super.takeFrame(frame);
  }

  protected override takeTexts(_chunk: Uint8Array, at: number): number {
    return at;
  }

  protected override toCaller(frame: Uint8Array): Uint8Array {
    return this.#translator.frame(frame, this.reader.plain);
  }

  protected override passes(role: 'usage' | 'liveness'): boolean {
    return role === 'usage';
  }

  protected override missingEnd(): Uint8Array {
    return noBytes;
  }

  protected override closingBytes(): Uint8Array {
    return this.#translator.end();
  }
}

const noBytes = new Uint8Array(0);
