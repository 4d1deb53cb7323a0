import {
  concatBytes,
  endedFrame,
  type FrameRole,
  JsonArraySplitter,
  type Protocol,
  type Reading,
  readRetryDelayMs,
  SseSplitter,
  type StreamReader,
  type StreamTranslator,
  type Translation,
  totalOutput,
  type UpstreamRefusal,
  unreachable,
  withoutCommentText,
} from '@headgate/protocols';
import type { Wire } from '../catalogue/wire.ts';
import type { HeaderList, Reply } from '../ports/data-plane.ts';
import type { Outcome } from '../route/outcomes.ts';
import type { Conversation } from './request.ts';

/**
 * The end of an answer, kept back until its entry is durable: `whole` is a head and a body of which nothing has been
 * sent, `tail` the last bytes of a stream whose head and content the caller already has.
 */
export type Ending =
  | { readonly kind: 'whole'; readonly headers: HeaderList; readonly bytes: Uint8Array }
  | { readonly kind: 'tail'; readonly bytes: Uint8Array };

/** Reads the body of one answer as it comes, and relays what may be relayed. */
export interface Relay {
  /** Takes the next bytes, which are there only within the call. The attempt's outcome, once they decide it. */
  read(chunk: Uint8Array): Outcome | null;
  /** The upstream has ended the body. */
  end(): Outcome;
  /** The meter's, so far; null before anything could be metered. */
  readonly reading: Reading | null;
  /** The model's own words have come, as against pings and roles. */
  readonly hasContent: boolean;
  /** Bytes of this answer have been handed to the caller. */
  readonly committed: boolean;
  /** The caller's connection is full: reading must pause until it is writable. */
  readonly callerIsSlow: boolean;
  /** Bytes that are left to send after an outcome `answered`; null otherwise. */
  readonly ending: Ending | null;
}

/** The outcome of an answer that is not of the protocol (`garbled`), or that says nothing at all (`blank`). */
export function refusedAs(kind: 'garbled' | 'blank', message: string): Outcome {
  const refusal: UpstreamRefusal = { kind, status: 200, message, type: null, code: null, param: null };
  return { kind: 'refused', refusal, retryAfterMs: null };
}

/** No output and no word on why it stopped: an answer in form only, which another channel may do better. */
export function isBlank(reading: Reading): boolean {
  const usedOutput = reading.usage !== null && totalOutput(reading.usage) > 0;
  return !reading.hasOutput && !usedOutput && reading.finishReason === null;
}

const announcedBytesMax = 4 * 1024 * 1024;

/** Bytes that come in pieces, in one place. Exact where their number was announced. */
class Gathered {
  length = 0;
  #place: Uint8Array;

  /** @param announced what an upstream says is believed up to a size. */
  constructor(announced: number) {
    this.#place = announced > 0 && announced <= announcedBytesMax ? Buffer.allocUnsafe(announced) : noBytes;
  }

  append(piece: Uint8Array): void {
    const length = this.length + piece.length;
    if (length > this.#place.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#place.length));
      larger.set(this.all());
      this.#place = larger;
    }
    this.#place.set(piece, this.length);
    this.length = length;
  }

  all(): Uint8Array {
    return this.length === this.#place.length ? this.#place : this.#place.subarray(0, this.length);
  }
}

/**
 * A JSON answer. It is held until it is whole, so that an error inside a 200, a page of HTML or a body that breaks off can
 * still be given to another channel, and so that its entry is durable before the caller sees its last byte.
 */
export class WholeRelay implements Relay {
  readonly committed = false;
  readonly callerIsSlow = false;
  reading: Reading | null = null;
  hasContent = false;
  ending: Ending | null = null;
  readonly #conversation: Conversation;
  readonly #wire: Wire;
  /** Null in the passthrough lane. */
  readonly #translation: Translation | null;
  readonly #headers: HeaderList;
  readonly #body: Gathered;

  constructor(
    conversation: Conversation,
    wire: Wire,
    translation: Translation | null,
    headers: HeaderList,
    announced: number,
  ) {
    this.#conversation = conversation;
    this.#wire = wire;
    this.#translation = translation;
    this.#headers = headers;
    this.#body = new Gathered(announced);
  }

  read(chunk: Uint8Array): Outcome | null {
    if (this.#body.length + chunk.length > this.#conversation.gateway.limits.answerBytesMax)
      return refusedAs('garbled', 'the answer is larger than allowed');
    this.#body.append(chunk);
    return null;
  }

  end(): Outcome {
    const body = this.#body.all();
    const { inbound, request } = this.#conversation;
    const answer = this.#wire.protocol.readAnswer(body, this.#wire.asked.dialect, inbound.work);
    if (answer.kind === 'refusal') return { kind: 'refused', refusal: answer.refusal, retryAfterMs: null };
    // Even a well-formed one is not what was asked for.
    if (request.facts.stream) return refusedAs('garbled', 'a whole answer where a stream was asked for');
    const { reading } = answer;
    if (isBlank(reading)) return refusedAs('blank', 'an empty answer');
    this.reading = reading;
    this.hasContent = reading.hasOutput;
    const bytes = this.#translation === null ? body : this.#translation.whole(body);
    this.ending = { kind: 'whole', headers: this.#headers, bytes };
    return { kind: 'answered', reading };
  }
}

/** An error page may be long; this much of it tells all there is to know. */
const refusalBytesMax = 64 * 1024;

/** An answer with an error status. Nothing of it reaches the caller as it is. */
export class RefusalRelay implements Relay {
  readonly reading = null;
  readonly hasContent = false;
  readonly committed = false;
  readonly callerIsSlow = false;
  readonly ending = null;
  readonly #protocol: Protocol;
  readonly #status: number;
  readonly #retryAfterMs: number | null;
  readonly #body = new Gathered(0);

  constructor(protocol: Protocol, status: number, retryAfterMs: number | null) {
    this.#protocol = protocol;
    this.#status = status;
    this.#retryAfterMs = retryAfterMs;
  }

  read(chunk: Uint8Array): Outcome | null {
    this.#body.append(chunk);
    return this.#body.length >= refusalBytesMax ? this.end() : null;
  }

  end(): Outcome {
    const body = this.#body.all();
    const refusal = this.#protocol.readRefusal(this.#status, body);
    return { kind: 'refused', refusal, retryAfterMs: this.#retryAfterMs ?? readRetryDelayMs(body) };
  }
}

/**
 * A stream, of server-sent events or of one array's elements. Frames are held until the first one with content, so that
 * a failure before it can be given to another channel; from then on they are relayed as they come and only observed. The
 * terminal frame is held until the entry is durable; where there is none, everything from the one after which the answer
 * may be whole.
 */
export class StreamRelay implements Relay {
  committed = false;
  callerIsSlow = false;
  ending: Ending | null = null;
  readonly #reply: Reply;
  readonly #headers: HeaderList;
  readonly #isSse: boolean;
  readonly #bytesMax: number;
  readonly #wantsUsageFrame: boolean;
  readonly #reader: StreamReader;
  readonly #splitter: SseSplitter | JsonArraySplitter;
  /** Null in the passthrough lane. */
  readonly #translator: StreamTranslator | null;
  readonly #onFrame = (frame: Uint8Array): void => this.#takeFrame(frame);
  /** Nearly all of a stream: frames of content that differ in their text, relayed without being cut apart. */
  readonly #onStart = (chunk: Uint8Array, at: number): number => {
    if (this.#translator !== null || !this.committed || this.#outcome !== null) return at;
    const end = this.#reader.takeTexts?.(chunk, at) ?? at;
    if (end > at) this.#takeContent(chunk.subarray(at, end));
    return end;
  };
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #translatedBytes = 0;
  /** Frames of the chunk at hand that are the caller's, to be relayed in one write: the first, and where the last one ends. */
  #run: Uint8Array | null = null;
  #runEnd = 0;
  /** Runs before that one, where something between them was not relayed. */
  #runs: Uint8Array[] = [];
  #outcome: Outcome | null = null;

  constructor(
    { gateway, request, reply }: Conversation,
    { protocol, asked }: Wire,
    translation: Translation | null,
    headers: HeaderList,
  ) {
    const { limits } = gateway;
    const framing = translation === null ? request.framing : 'sse';
    this.#reply = reply;
    this.#headers = headers;
    this.#isSse = framing === 'sse';
    this.#bytesMax = limits.answerBytesMax;
    this.#wantsUsageFrame = request.wantsUsageFrame;
    this.#splitter = this.#isSse
      ? new SseSplitter(limits.frameBytesMax)
      : new JsonArraySplitter(limits.frameBytesMax);
    this.#reader = protocol.openStream(asked.dialect, framing, request.facts.choices);
    this.#translator = translation?.openStream() ?? null;
  }

  get reading(): Reading {
    return this.#reader.reading;
  }

  get hasContent(): boolean {
    // An answer may have all of its content in its last frame, which is not relayed from here.
    return this.committed || this.reading.hasOutput;
  }

  read(chunk: Uint8Array): Outcome | null {
    this.callerIsSlow = false;
    if (!this.#splitter.push(chunk, this.#onFrame, this.#onStart))
      this.#outcome ??= this.#broken('a frame is larger than allowed');
    this.#writeRuns();
    return this.#outcome;
  }

  end(): Outcome {
    // Some servers forget the blank line behind their last event, and some put none there but an error. The rest of an
    // array is what closes it.
    const rest = this.#splitter.rest();
    if (rest.length > 0) this.#takeFrame(this.#isSse ? endedFrame(rest) : rest);
    this.#writeRuns();
    if (this.#outcome !== null) return this.#outcome;
    if (this.#reader.isWholeWithoutTerminal()) return this.#answered(this.#translator?.end() ?? noBytes);
    return this.#broken('the stream ended without its terminal frame');
  }

  #takeFrame(frame: Uint8Array): void {
    if (this.#outcome !== null) return;
    if (this.#translator !== null) this.#translatedBytes += frame.length;
    // A translator keeps what it cannot say yet, and some say everything again at the end: memory has a bound.
    if (this.#translatedBytes > this.#bytesMax) {
      this.#outcome = this.#broken('more than can be translated');
      return;
    }
    const role = this.#reader.read(frame);
    if (role === 'content') this.#takeContent(this.#toCaller(frame));
    else this.#takeRole(role, frame);
  }

  /** The frame as the caller gets it. */
  #toCaller(frame: Uint8Array): Uint8Array {
    if (this.#translator !== null) return this.#translator.frame(frame, this.#reader.plain);
    return this.#isSse ? withoutCommentText(frame) : frame;
  }

  #takeContent(bytes: Uint8Array): void {
    if (this.#reader.isWholeWithoutTerminal()) this.#hold(bytes);
    else if (this.committed) this.#relay(bytes);
    else this.#commit(bytes);
  }

  #takeRole(role: Exclude<FrameRole, 'content'>, frame: Uint8Array): void {
    switch (role) {
      case 'usage':
        if (this.#wantsUsageFrame || this.#translator !== null) this.#pass(this.#toCaller(frame));
        break;
      case 'foreign':
        break;
      case 'liveness':
        if (this.#translator === null) this.#pass(this.#toCaller(frame));
        break;
      case 'preamble':
      case 'finish':
        this.#pass(this.#toCaller(frame));
        break;
      case 'terminal':
        this.#outcome = this.#answered(this.#terminal(frame));
        break;
      case 'error':
      case 'garbled':
        this.#outcome = this.#refused();
        break;
      default:
        unreachable(role);
    }
  }

  /** Relays a frame that is not content if the caller has the beginning and this is not the end, and holds it if not. */
  #pass(frame: Uint8Array): void {
    if (this.committed && !this.#reader.isWholeWithoutTerminal()) this.#relay(frame);
    else this.#hold(frame);
  }

  /** Held frames outlive the chunk they came in. */
  #hold(frame: Uint8Array): void {
    this.#held.push(new Uint8Array(frame));
    this.#heldBytes += frame.length;
    if (this.#heldBytes > this.#bytesMax)
      this.#outcome = this.#broken('too much before the first content, or behind the last');
  }

  /** First content: from here on the answer is this one. */
  #commit(frame: Uint8Array): void {
    const first = this.#held.length === 0 ? frame : concatBytes([...this.#held, frame]);
    this.#held = [];
    this.#heldBytes = 0;
    this.committed = true;
    const reply = this.#reply;
    this.callerIsSlow = !(reply.begun ? reply.write(first) : reply.begin(200, this.#headers, first));
  }

  /** Bytes that end the stream for the caller. */
  #terminal(frame: Uint8Array): Uint8Array {
    const bytes = this.#toCaller(frame);
    return this.#translator === null ? bytes : concatBytes([bytes, this.#translator.end()]);
  }

  /** Frames that lie side by side are one run, and no object each. */
  #relay(bytes: Uint8Array): void {
    if (this.#held.length > 0) this.#releaseHeld();
    const run = this.#run;
    if (run !== null && run.buffer === bytes.buffer && this.#runEnd === bytes.byteOffset) {
      this.#runEnd += bytes.length;
      return;
    }
    this.#endRun();
    this.#run = bytes;
    this.#runEnd = bytes.byteOffset + bytes.length;
  }

  /** The held frames were taken for the last of the answer, and are not. */
  #releaseHeld(): void {
    this.#endRun();
    this.#runs.push(...this.#held);
    this.#held = [];
    this.#heldBytes = 0;
  }

  #endRun(): void {
    const run = this.#run;
    if (run === null) return;
    const length = this.#runEnd - run.byteOffset;
    this.#runs.push(length === run.length ? run : new Uint8Array(run.buffer, run.byteOffset, length));
    this.#run = null;
  }

  #writeRuns(): void {
    this.#endRun();
    if (this.#runs.length === 0) return;
    const bytes = concatBytes(this.#runs);
    this.#runs.length = 0;
    if (!this.#reply.write(bytes)) this.callerIsSlow = true;
  }

  #answered(terminal: Uint8Array): Outcome {
    if (!this.committed && isBlank(this.reading)) return refusedAs('blank', 'an empty answer');
    const bytes = this.#held.length === 0 ? new Uint8Array(terminal) : concatBytes([...this.#held, terminal]);
    this.ending = this.committed ? { kind: 'tail', bytes } : { kind: 'whole', headers: this.#headers, bytes };
    return { kind: 'answered', reading: this.reading };
  }

  #refused(): Outcome {
    const { refusal } = this.#reader;
    if (this.committed || refusal === null) return this.#broken(refusal?.message ?? 'an error in the stream');
    return { kind: 'refused', refusal, retryAfterMs: null };
  }

  #broken(detail: string): Outcome {
    return { kind: 'cut', committed: this.committed, detail, reading: this.reading };
  }
}

const noBytes = new Uint8Array(0);
