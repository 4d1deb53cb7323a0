import {
  ByteRuns,
  concatBytes,
  endedFrame,
  type FrameRole,
  JsonArraySplitter,
  type Reading,
  SseSplitter,
  type StreamReader,
  type UpstreamRefusal,
  unreachable,
  withoutCommentText,
} from '@headgate/protocols';
import type { Wire } from '../catalogue/wire.ts';
import { type HeaderList, type MemoryShare, uncountedBytesMax } from '../ports/data-plane.ts';
import type { Outcome } from '../route/outcomes.ts';
import { mendedBy, mendsWith, openingOf } from './detours/odd-answer.ts';
import type { CallEnd } from './outcomes.ts';
import type { Errand } from './request.ts';

/** Reads the body of one answer as it comes, and relays what may be relayed. */
export interface Relay {
  /** Takes the next bytes, which are there only within the call. The attempt's outcome, once they decide it. */
  read(chunk: Uint8Array): Outcome | null;
  /** The upstream has ended the body. */
  end(): Outcome;
  /** To read it here would hold the event loop. */
  readonly isLong?: boolean;
  /** The same as `end` for one that is long: it is read in another thread, and `done` is called then. */
  endElsewhere?(done: (read: () => Outcome) => void): void;
  /** The meter's, so far; null before anything could be metered. */
  readonly reading: Reading | null;
  /** The model's own words have come, as against pings and roles. */
  readonly hasContent: boolean;
  /** Bytes of this answer have been handed to the caller. */
  readonly committed: boolean;
  /** The caller's connection is full: reading must pause until it is writable. */
  readonly callerIsSlow: boolean;
  /** Edits of the answer's bytes on the caller's behalf, by name. */
  readonly mends: readonly string[];
  /** The memory that it has asked for. */
  readonly heldBytes: number;
  /** The end of the call by an outcome `answered`, whose bytes are still to be sent; null otherwise. */
  readonly ending: Extract<CallEnd, { kind: 'answered' }> | null;
}

/** The outcome of an answer that is not of the protocol (`garbled`), or that says nothing at all (`blank`). */
export function refusedAs(kind: 'garbled' | 'blank', message: string): Outcome {
  const refusal: UpstreamRefusal = { kind, status: 200, message, type: null, code: null, param: null };
  return { kind: 'refused', refusal, retryAfterMs: null };
}

/** No output and no word on why it stopped, whatever it counts: an answer in form only, which another channel may do better. */
export function isBlank({ hasOutput, finishReason }: Reading): boolean {
  return !hasOutput && finishReason === null;
}

/** The bytes that are asked for once so many are kept, in steps that double; null when there is no room for them. */
export function heldFor(bytes: number, held: number, memory: MemoryShare): number | null {
  if (bytes <= uncountedBytesMax || bytes <= held) return held;
  const grown = Math.max(bytes, 2 * held);
  return memory.take(grown - held) ? grown : null;
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
  ending: Relay['ending'] = null;
  protected outcome: Outcome | null = null;
  protected readonly reader: StreamReader;
  readonly #errand: Errand;
  readonly #headers: HeaderList;
  readonly #splitter: SseSplitter | JsonArraySplitter;
  readonly #onFrame = (frame: Uint8Array): void => {
    if (this.outcome === null) this.takeFrame(frame);
  };
  readonly #onStart = (chunk: Uint8Array, at: number): number => this.takeTexts(chunk, at);
  heldBytes = 0;
  #mends: readonly string[] = nothingMended;
  #isBegun = false;
  /** The beginning of a byte order mark, whose end has not come. */
  #opening: Uint8Array = noBytes;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** Frames of the chunk at hand that are the caller's, to be relayed in one write. */
  readonly #runs = new ByteRuns();

  constructor(
    errand: Errand,
    { protocol, asked }: Wire,
    headers: HeaderList,
    framing = errand.request.framing,
  ) {
    const { limits, request } = errand;
    this.#errand = errand;
    this.#headers = headers;
    this.#splitter =
      framing === 'sse' ? new SseSplitter(limits.frameBytesMax) : new JsonArraySplitter(limits.frameBytesMax);
    this.reader = protocol.openStream(asked.dialect, framing, request.facts.choices);
  }

  get reading(): Reading {
    return this.reader.reading;
  }

  get mends(): readonly string[] {
    return mendsWith(this.#mends, this.reader.skipped ?? 0);
  }

  get hasContent(): boolean {
    // An answer may have all of its content in its last frame, which is not relayed from here.
    return this.committed || this.reading.hasOutput;
  }

  read(chunk: Uint8Array): Outcome | null {
    this.callerIsSlow = false;
    const isUsual = this.#isBegun || (chunk[0] !== markFirst && this.#opening.length === 0);
    const bytes = isUsual ? chunk : this.#begin(chunk);
    this.#isBegun ||= bytes.length > 0;
    if (!this.#splitter.push(bytes, this.#onFrame, this.#onStart))
      this.outcome ??= this.broken('a frame is larger than allowed');
    this.keep(this.#heldBytes + this.#splitter.restLength);
    this.#writeRuns();
    return this.outcome;
  }

  /** The beginning without a byte order mark, which may come in pieces. */
  #begin(chunk: Uint8Array): Uint8Array {
    const { bytes, opening, isMarked } = openingOf(concatBytes([this.#opening, chunk]));
    this.#opening = opening;
    if (isMarked) this.#mended('byte-order-mark');
    return bytes;
  }

  end(): Outcome {
    if (this.#opening.length > 0) this.#splitter.push(this.#opening, this.#onFrame);
    // Some servers forget the blank line behind their last event, and some put none there but an error. The rest of an
    // array is what closes it.
    const rest = this.#splitter.rest();
    if (rest.length > 0) this.#onFrame(this.#splitter instanceof SseSplitter ? endedFrame(rest) : rest);
    this.#writeRuns();
    if (this.outcome !== null) return this.outcome;
    if (this.reader.isWholeWithoutTerminal()) {
      const missing = this.missingEnd();
      if (missing.length > 0) this.#mended('stream-end');
      return this.#answered(missing);
    }
    return this.broken('the stream ended without its terminal frame');
  }

  protected takeFrame(frame: Uint8Array): void {
    const role = this.reader.read(frame);
    if (role === 'content') this.#takeContent(this.toCaller(frame));
    else this.#takeRole(role, frame);
  }

  /** Nearly all of a stream: frames of content that differ in their text, relayed without being cut apart. */
  protected takeTexts(chunk: Uint8Array, at: number): number {
    if (!this.committed || this.outcome !== null) return at;
    const end = this.reader.takeTexts?.(chunk, at) ?? at;
    if (end > at) this.#takeContent(end - at === chunk.length ? chunk : chunk.subarray(at, end));
    return end;
  }

  /** The frame as the caller gets it. */
  protected toCaller(frame: Uint8Array): Uint8Array {
    const { retold = null } = this.reader;
    if (retold !== null) {
      this.#mended('event-retold');
      return retold;
    }
    return this.#splitter instanceof SseSplitter ? withoutCommentText(frame) : frame;
  }

  /** Tells if frames that say nothing of the answer are relayed. */
  protected passes(role: 'usage' | 'liveness'): boolean {
    return role === 'liveness' || this.#errand.request.wantsUsageFrame;
  }

  /** The terminal frame that the upstream left out. */
  protected missingEnd(): Uint8Array {
    return this.reader.missingEnd();
  }

  /** Bytes of ours behind the last of the upstream's. */
  protected closingBytes(): Uint8Array {
    return noBytes;
  }

  #mended(name: string): void {
    this.#mends = mendedBy(this.#mends, name);
  }

  #takeContent(bytes: Uint8Array): void {
    if (this.reader.mayHaveEnded()) this.#hold(bytes);
    else if (this.committed) this.#relay(bytes);
    // A translator may have nothing to say yet.
    else if (bytes.length > 0) this.#commit(bytes);
  }

  #takeRole(role: Exclude<FrameRole, 'content'>, frame: Uint8Array): void {
    switch (role) {
      case 'usage':
      case 'liveness':
        if (this.passes(role)) this.#pass(this.toCaller(frame));
        break;
      case 'foreign':
        break;
      case 'preamble':
      case 'finish':
        this.#pass(this.toCaller(frame));
        break;
      case 'terminal':
        this.outcome = this.#answered(this.toCaller(frame));
        break;
      case 'error':
      case 'garbled':
        this.outcome = this.#refused();
        break;
      default:
        unreachable(role);
    }
  }

  /** Relays a frame that is not content if the caller has the beginning and this is not the end, and holds it if not. */
  #pass(frame: Uint8Array): void {
    if (this.committed && !this.reader.mayHaveEnded()) this.#relay(frame);
    else this.#hold(frame);
  }

  /** Held frames outlive the chunk they came in. */
  #hold(frame: Uint8Array): void {
    this.#held.push(new Uint8Array(frame));
    this.#heldBytes += frame.length;
    if (this.#heldBytes > this.#errand.limits.answerBytesMax)
      this.outcome = this.broken('too much before the first content, or behind the last');
  }

  /** First content: from here on the answer is this one. */
  #commit(frame: Uint8Array): void {
    const first = this.#held.length === 0 ? frame : concatBytes([...this.#held, frame]);
    this.#held = [];
    this.#heldBytes = 0;
    this.committed = true;
    const { reply } = this.#errand;
    this.callerIsSlow = !(reply.begun ? reply.write(first) : reply.begin(200, this.#headers, first));
  }

  #relay(bytes: Uint8Array): void {
    if (this.#held.length > 0) {
      // They were taken for the last of the answer, and are not.
      for (const frame of this.#held) this.#runs.add(frame);
      this.#held = [];
      this.#heldBytes = 0;
    }
    this.#runs.add(bytes);
  }

  #writeRuns(): void {
    const bytes = this.#runs.take();
    if (bytes.length > 0 && !this.#errand.reply.write(bytes)) this.callerIsSlow = true;
  }

  /** `terminal` is there only within the call. */
  #answered(terminal: Uint8Array): Outcome {
    if (!this.committed && isBlank(this.reading)) return refusedAs('blank', 'an empty answer');
    const bytes = concatBytes([...this.#held, terminal, this.closingBytes()]);
    this.ending = { kind: 'answered', headers: this.#headers, bytes };
    return { kind: 'answered', reading: this.reading };
  }

  #refused(): Outcome {
    const { refusal } = this.reader;
    if (this.committed || refusal === null) return this.broken(refusal?.message ?? 'an error in the stream');
    return { kind: 'refused', refusal, retryAfterMs: null };
  }

  /** Ends the answer when its call may not hold so many bytes of it. */
  protected keep(bytes: number): void {
    if (bytes <= uncountedBytesMax || bytes <= this.heldBytes) return;
    const held = heldFor(bytes, this.heldBytes, this.#errand.inbound.memory);
    if (held !== null) this.heldBytes = held;
    else this.outcome ??= { kind: 'crowded', committed: this.committed, reading: this.reading };
  }

  protected broken(detail: string): Outcome {
    return { kind: 'cut', committed: this.committed, detail, reading: this.reading };
  }
}

export const noBytes = new Uint8Array(0);
export const nothingMended: readonly string[] = [];
export const markFirst = 0xef;
