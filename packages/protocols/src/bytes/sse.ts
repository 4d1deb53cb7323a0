import { concatBytes } from './splice.ts';

const noBytes = new Uint8Array(0);

/** The beginning of a frame whose end has not come. A frame that grows beyond `bytesMax` is not waited for any longer. */
export class FrameBuffer {
  isTooLong = false;
  #bytes: Uint8Array = noBytes;
  #length = 0;
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The buffer doubles as it grows, so that a frame in many small chunks is not copied for each of them. */
  keep(chunk: Uint8Array, start: number, end: number): void {
    const length = this.#length + end - start;
    this.isTooLong ||= length > this.#bytesMax;
    if (this.isTooLong) return;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(chunk.subarray(start, end), this.#length);
    this.#length = length;
  }

  /** Hands on the frame that ends here: a view of `chunk` where possible, theirs to keep. */
  emit(chunk: Uint8Array, start: number, end: number, onFrame: (frame: Uint8Array) => void): void {
    if (this.#length === 0) {
      if (end - start > this.#bytesMax) this.isTooLong = true;
      else onFrame(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end));
      return;
    }
    this.keep(chunk, start, end);
    const frame = this.bytes;
    this.#bytes = noBytes;
    this.#length = 0;
    if (!this.isTooLong) onFrame(frame);
  }
}

/** How long a frame may be unless told otherwise. Bytes. */
const frameBytesMaxDefault = 4 * 1024 * 1024;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;

/**
 * Cuts a stream of server-sent events into frames: an event's lines with the blank line that ends them, whatever their
 * line ends (LF, CRLF, CR, mixed). Nothing is changed or lost: all frames in a row, and `rest`, are the stream. When
 * CR ends a chunk and LF begins the next one, that LF opens the next frame.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class SseSplitter {
  readonly #partial: FrameBuffer;
  /** The line at hand has no byte yet. */
  #lineIsEmpty = true;
  /** The last byte was CR, so that LF would belong to it. */
  #afterReturn = false;

  /** A frame that grows beyond `frameBytesMax` bytes is not waited for any longer. */
  constructor(frameBytesMax = frameBytesMaxDefault) {
    this.#partial = new FrameBuffer(frameBytesMax);
  }

  /**
   * Hands every frame that is now whole to `onFrame`: a view of `chunk` where possible. False once a frame was longer than
   * `frameBytesMax`; nothing is taken after that. Where a frame begins in `chunk`, `onStart` may take it and those behind it
   * by itself: it is told the place and says where the first frame begins that it has not taken.
   */
  push(
    chunk: Uint8Array,
    onFrame: (frame: Uint8Array) => void,
    onStart: (chunk: Uint8Array, at: number) => number = (_, at) => at,
  ): boolean {
    let at = this.#isBetweenFrames() ? onStart(chunk, 0) : 0;
    let start = at;
    let feed = -1;
    let carriage = -1;
    while (at < chunk.length && !this.#partial.isTooLong) {
      if (feed < at) feed = find(chunk, lineFeed, at);
      if (carriage < at) carriage = find(chunk, carriageReturn, at);
      const lineEnd = Math.min(feed, carriage);
      const endsFrame = this.#takeLine(chunk, at, lineEnd);
      at = lineEnd + 1;
      if (!endsFrame) continue;
      if (this.#afterReturn && chunk[at] === lineFeed) {
        this.#afterReturn = false;
        at++;
      }
      this.#partial.emit(chunk, start, at, onFrame);
      if (at < chunk.length && !this.#afterReturn) at = onStart(chunk, at);
      start = at;
    }
    if (start < chunk.length) this.#partial.keep(chunk, start, chunk.length);
    return !this.#partial.isTooLong;
  }

  #isBetweenFrames(): boolean {
    return this.#partial.isEmpty && this.#lineIsEmpty && !this.#afterReturn;
  }

  /** All that came after the last whole frame; empty at the end of a well-formed stream. */
  rest(): Uint8Array {
    return this.#partial.bytes;
  }

  /** Bytes of `rest`. */
  get restLength(): number {
    return this.#partial.length;
  }

  /** Notes the line (or the part of one, when `end` is the chunk's) from `start`; true when it is a blank one. */
  #takeLine(chunk: Uint8Array, start: number, end: number): boolean {
    if (end > start) {
      this.#lineIsEmpty = false;
      this.#afterReturn = false;
    }
    if (end === chunk.length) return false;
    const endsReturn = this.#afterReturn && chunk[end] === lineFeed;
    this.#afterReturn = chunk[end] === carriageReturn;
    if (endsReturn) return false;
    const isBlank = this.#lineIsEmpty;
    this.#lineIsEmpty = true;
    return isBlank;
  }
}

/** The chunk's length when there is none. */
function find(chunk: Uint8Array, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at === -1 ? chunk.length : at;
}

/**
 * The frame with its comments emptied: the same event, and as much a sign of life, but nothing that a server says beside its
 * answer. The frame itself where it has none. Lines that end in CR alone are not looked for.
 */
export function withoutCommentText(frame: Uint8Array): Uint8Array {
  const kept: Uint8Array[] = [];
  let keptTo = 0;
  for (let at = 0; at < frame.length; at = find(frame, lineFeed, at) + 1) {
    if (frame[at] !== colon) continue;
    kept.push(frame.subarray(keptTo, at + 1));
    keptTo = endOfText(frame, at);
  }
  return keptTo === 0 ? frame : concatBytes([...kept, frame.subarray(keptTo)]);
}

/** A last frame with the line ends that it lacks, in its own manner, so that what follows it is not taken for part of it. */
export function endedFrame(rest: Uint8Array): Uint8Array {
  // No more than the end of a line end that was cut in two: its frame was whole.
  if (rest.every((byte) => byte === lineFeed || byte === carriageReturn)) return rest;
  const last = rest.at(-1);
  if (last === carriageReturn) return concatBytes([rest, Uint8Array.of(lineFeed, carriageReturn, lineFeed)]);
  const lineEnd = rest.includes(carriageReturn) ? [carriageReturn, lineFeed] : [lineFeed];
  return concatBytes([rest, Uint8Array.from(last === lineFeed ? lineEnd : [...lineEnd, ...lineEnd])]);
}

/** Finds the end of the line that this place is in. */
function endOfText(frame: Uint8Array, at: number): number {
  return Math.min(find(frame, lineFeed, at), find(frame, carriageReturn, at));
}

/** An event as its frame spells it. */
export interface SseEvent {
  /** Null when the frame names none. */
  readonly name: string | null;
  /** The `data` lines, joined by LF; null when there are none, as in a comment. */
  readonly data: string | null;
  /** It has a line the format knows, or none at all. Unknown fields are ignored; other text has nothing else. */
  readonly isWellFormed: boolean;
}

const lenientUtf8 = new TextDecoder();

/** Nothing before the colon is a comment. */
const knownFields: readonly string[] = ['', 'data', 'event', 'id', 'retry'];

/** Reads a frame in full; for the frames that are not of the usual shape. A byte order mark is ignored. */
export function readSseEvent(frame: Uint8Array): SseEvent {
  let name: string | null = null;
  const data: string[] = [];
  let isKnown = false;
  let isStrange = false;
  for (const line of lenientUtf8.decode(frame).split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') data.push(value);
    else if (field === 'event') name = value;
    if (line === '') continue;
    if (knownFields.includes(field)) isKnown = true;
    else isStrange = true;
  }
  return { name, data: data.length === 0 ? null : data.join('\n'), isWellFormed: isKnown || !isStrange };
}

const dataField = [0x64, 0x61, 0x74, 0x61, 0x3a];

/** Finds the data of a usual frame, whose line begins at `from`; -1 when that is another field. */
export function dataStart(frame: Uint8Array, from = 0): number {
  return dataField.every((byte, offset) => frame[from + offset] === byte) ? from + dataField.length : -1;
}
