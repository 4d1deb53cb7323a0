import {
  concatBytes,
  type FrameRole,
  JsonArraySplitter,
  type Reading,
  SseSplitter,
  type StreamReader,
  type StreamTranslator,
  unreachable,
  withoutCommentText,
} from '@headgate/protocols';
import type { Outcome } from '../core/route/outcome/outcome.ts';
import { type Answer, type AnswerContext, type Ending, isBlank, refusedAs } from './answer.ts';

/**
 * A stream, of server-sent events or of one array's elements. Frames are held until the first one with content, so that
 * a failure before it can be given to another channel; from then on they are relayed as they come and only observed. The
 * terminal frame is held until the entry is durable; where there is none, everything from the one after which the answer
 * may be whole.
 */
export class StreamAnswer implements Answer {
  committed = false;
  callerIsSlow = false;
  ending: Ending | null = null;
  readonly #context: AnswerContext;
  readonly #reader: StreamReader;
  readonly #splitter: SseSplitter | JsonArraySplitter;
  /** Null in the passthrough lane. */
  readonly #translator: StreamTranslator | null;
  readonly #onFrame = (frame: Uint8Array): void => this.#takeFrame(frame);
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #translatedBytes = 0;
  /** What the chunk at hand has for the caller, to be relayed in one write; frames that lie side by side are one piece. */
  #pending: Uint8Array[] = [];
  #outcome: Outcome | null = null;

  constructor(context: AnswerContext) {
    this.#context = context;
    const { lane, dialect, choices, frameBytesMax } = context;
    this.#splitter =
      lane.framing === 'sse' ? new SseSplitter(frameBytesMax) : new JsonArraySplitter(frameBytesMax);
    this.#reader = lane.protocol.openStream(dialect, lane.framing, choices);
    this.#translator = context.lane.openTranslator();
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
    if (!this.#splitter.push(chunk, this.#onFrame))
      this.#outcome ??= this.#broken('a frame is larger than allowed');
    this.#relayPending();
    return this.#outcome;
  }

  end(): Outcome {
    // Some servers forget the blank line behind their last event, and some put none there but an error. The rest of an
    // array is what closes it.
    const rest = this.#splitter.rest();
    if (rest.length > 0) this.#takeFrame(this.#context.lane.framing === 'sse' ? wholeFrame(rest) : rest);
    this.#relayPending();
    if (this.#outcome !== null) return this.#outcome;
    if (this.#reader.isWholeWithoutTerminal()) return this.#answered(this.#translator?.end() ?? noBytes);
    return this.#broken('the stream ended without its terminal frame');
  }

  #takeFrame(frame: Uint8Array): void {
    if (this.#outcome !== null) return;
    if (this.#translator !== null && !this.#mayTranslate(frame)) {
      this.#outcome = this.#broken('more than can be translated');
      return;
    }
    const role = this.#reader.read(frame);
    if (role === 'content') this.#takeContent(this.#toCaller(frame));
    else this.#takeRole(role, frame);
  }

  /** A translator keeps what it cannot say yet, and some say everything again at the end: memory has a bound. */
  #mayTranslate(frame: Uint8Array): boolean {
    this.#translatedBytes += frame.length;
    return this.#translatedBytes <= this.#context.bytesMax;
  }

  /** The frame as the caller gets it. */
  #toCaller(frame: Uint8Array): Uint8Array {
    if (this.#translator !== null) return this.#translator.frame(frame);
    return this.#context.lane.framing === 'sse' ? withoutCommentText(frame) : frame;
  }

  #takeContent(bytes: Uint8Array): void {
    if (this.#reader.isWholeWithoutTerminal()) this.#hold(bytes);
    else if (this.committed) this.#relay(bytes);
    else this.#commit(bytes);
  }

  #takeRole(role: Exclude<FrameRole, 'content'>, frame: Uint8Array): void {
    switch (role) {
      case 'usage':
        if (this.#context.wantsUsageFrame || this.#translator !== null) this.#pass(this.#toCaller(frame));
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

  #hold(frame: Uint8Array): void {
    this.#held.push(frame);
    this.#heldBytes += frame.length;
    if (this.#heldBytes > this.#context.bytesMax)
      this.#outcome = this.#broken('too much before the first content, or behind the last');
  }

  #commit(frame: Uint8Array): void {
    const first = concatBytes([...this.#held, frame]);
    this.#held = [];
    this.#heldBytes = 0;
    this.committed = true;
    const { reply, headers } = this.#context;
    this.callerIsSlow = !(reply.begun ? reply.write(first) : reply.begin(200, headers, first));
  }

  /** What ends the stream for the caller. */
  #terminal(frame: Uint8Array): Uint8Array {
    const bytes = this.#toCaller(frame);
    return this.#translator === null ? bytes : concatBytes([bytes, this.#translator.end()]);
  }

  #relay(bytes: Uint8Array): void {
    this.#releaseHeld();
    const last = this.#pending.at(-1);
    const isNext = last?.buffer === bytes.buffer && last.byteOffset + last.length === bytes.byteOffset;
    if (!isNext || last === undefined) this.#pending.push(bytes);
    else this.#pending[this.#pending.length - 1] = joined(last, bytes);
  }

  /** What was taken for the last of the answer was not. */
  #releaseHeld(): void {
    if (this.#held.length === 0) return;
    this.#pending.push(...this.#held);
    this.#held = [];
    this.#heldBytes = 0;
  }

  #relayPending(): void {
    if (this.#pending.length === 0) return;
    const bytes = concatBytes(this.#pending);
    this.#pending.length = 0;
    if (!this.#context.reply.write(bytes)) this.callerIsSlow = true;
  }

  #answered(terminal: Uint8Array): Outcome {
    if (!this.committed && isBlank(this.reading)) return refusedAs('blank', 'an empty answer');
    const bytes = concatBytes([...this.#held, terminal]);
    this.ending = this.committed
      ? { kind: 'tail', bytes }
      : { kind: 'whole', headers: this.#context.headers, bytes };
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

/** Two views that lie side by side as one. */
function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  return new Uint8Array(first.buffer, first.byteOffset, first.length + second.length);
}

const noBytes = new Uint8Array(0);
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Adds the line ends that a last frame lacks, in its own manner, so that what follows it is not taken for part of it. */
function wholeFrame(rest: Uint8Array): Uint8Array {
  // No more than the end of a line end that was cut in two: its frame was whole.
  if (rest.every((byte) => byte === lineFeed || byte === carriageReturn)) return rest;
  const last = rest.at(-1);
  if (last === carriageReturn) return concatBytes([rest, Uint8Array.of(lineFeed, carriageReturn, lineFeed)]);
  const lineEnd = rest.includes(carriageReturn) ? [carriageReturn, lineFeed] : [lineFeed];
  return concatBytes([rest, Uint8Array.from(last === lineFeed ? lineEnd : [...lineEnd, ...lineEnd])]);
}
