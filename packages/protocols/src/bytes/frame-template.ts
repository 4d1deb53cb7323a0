import { type TextSpan, writtenBytes } from './json-text.ts';

/** Frames learnt before it is taken that this server's frames have too little in common. */
const lessonsMax = 16;
const quote = 0x22;
const backslash = 0x5c;
const lineFeed = 0x0a;
const colon = 0x3a;

/**
 * Recognises a frame that differs from an earlier one in nothing but its text, and in values beside it that say nothing of
 * the answer, such as padding or the event's number. Such a frame means what the earlier one meant and need not be walked through:
 * nearly all of a stream is such frames. It is recognised in the midst of others, so that they need not be cut apart before.
 */
export class FrameTemplate {
  /** The text of the last frame that was learnt or matched begins here, quotes included. */
  textStart = 0;
  textEnd = 0;
  /** The texts of the frame or the row that was matched last come to this. Bytes of UTF-8. */
  textBytes = 0;
  /** Tells if the last frame was matched, learnt from, or neither. */
  last: 'same' | 'lesson' | 'other' = 'other';
  #frame: Uint8Array = new Uint8Array(0);
  #values: readonly TextSpan[] = [];
  #textIndex = 0;
  #lessons = 0;

  /** `others`: values that may differ as well. A frame with a comment, or without a blank line of LF at its end, is no template. */
  learn(frame: Uint8Array, text: TextSpan, others: readonly TextSpan[]): void {
    if (this.#lessons === lessonsMax || frame.at(-1) !== lineFeed || hasComment(frame)) return;
    this.#lessons++;
    // A copy: the frame is a view of a much larger buffer, which must not live as long as the stream.
    this.#frame = frame.slice();
    this.#values = [...others, text].toSorted((a, b) => a.start - b.start);
    this.#textIndex = this.#values.indexOf(text);
    this.textStart = text.start;
    this.textEnd = text.end;
    this.last = 'lesson';
  }

  /** Says whether the whole frame is another one like it. */
  matches(frame: Uint8Array): boolean {
    const isSame = this.#match(frame, 0) === frame.length;
    this.last = isSame ? 'same' : 'other';
    this.textBytes = isSame ? writtenBytes(frame, this.textStart, this.textEnd) : 0;
    return isSame;
  }

  /** Matches one frame behind the other from `start` on, and says where the first one begins that is not like it. */
  matchRow(bytes: Uint8Array, start: number): number {
    this.textBytes = 0;
    let at = start;
    for (let end = this.#match(bytes, at); end !== -1; end = this.#match(bytes, at)) {
      this.textBytes += writtenBytes(bytes, this.textStart, this.textEnd);
      at = end;
    }
    return at;
  }

  /** The end of the frame that begins at `start`; -1 when it is another one, or not all of it is there. */
  #match(bytes: Uint8Array, start: number): number {
    const values = this.#values;
    let at = start;
    let from = 0;
    let textStart = 0;
    let textEnd = 0;
    for (let index = 0; index < values.length; index++) {
      const value = values[index];
      if (value === undefined) return -1;
      if (!this.#isSame(bytes, at, from, value.start)) return -1;
      at += value.start - from;
      const end = bytes[at] === quote ? skipText(bytes, at) : skipCount(bytes, at);
      if (end === -1) return -1;
      if (index === this.#textIndex) {
        if (end - at <= 2) return -1;
        textStart = at;
        textEnd = end;
      }
      at = end;
      from = value.end;
    }
    const { length } = this.#frame;
    if (length === 0 || !this.#isSame(bytes, at, from, length)) return -1;
    this.textStart = textStart;
    this.textEnd = textEnd;
    return at + length - from;
  }

  #isSame(bytes: Uint8Array, at: number, from: number, to: number): boolean {
    const frame = this.#frame;
    if (bytes.length - at < to - from) return false;
    const shift = at - from;
    for (let index = from; index < to; index++) if (bytes[index + shift] !== frame[index]) return false;
    return true;
  }
}

/** The position after the string at `at`; -1 where it does not end on its line. */
function skipText(bytes: Uint8Array, at: number): number {
  for (let end = at + 1; end < bytes.length; end++) {
    const byte = bytes[end] ?? 0;
    if (byte === quote) return end + 1;
    if (byte === backslash) end++;
    else if (byte < 0x20) return -1;
  }
  return -1;
}

/** The position after the whole number at `at`; -1 where there is none, or one that is not exact. */
function skipCount(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end < bytes.length && isDigit(bytes[end] ?? 0)) end++;
  return end > at && end - at <= 15 ? end : -1;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function hasComment(frame: Uint8Array): boolean {
  for (let at = 0; at < frame.length; at = frame.indexOf(lineFeed, at) + 1)
    if (frame[at] === colon) return true;
  return false;
}
