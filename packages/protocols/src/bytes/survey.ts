import { closingQuoteWithin, isNextEscaped } from './large-container.ts';
import { LongTexts } from './long-texts.ts';
import { DelimiterSearch } from './multipart.ts';

/** Bytes that one step looks at: some tenths of a millisecond. */
const sliceBytes = 256 * 1024;
/** Texts from here on are noted. Bytes. */
const longBytesMin = 2_048;
/** All that a body may have beside its long texts: it is read in one turn of the event loop. Bytes. */
const piecesBytesMax = 8 * 1024 * 1024;

const quote = 0x22;
const backslash = 0x5c;

/**
 * Looks through a large body a slice at a time, before it is read: whoever reads it then passes over what is long without looking.
 * `step` says whether there is more to be done; it does as little as fits between two others' requests.
 */
export interface BodySurvey {
  step(): boolean;
  /** Null of a form. */
  readonly longTexts: LongTexts | null;
  /** Null of JSON. */
  readonly delimiters: DelimiterSearch | null;
}

/** Finds the long strings: outside of them nothing is understood but quotes, so that what is no JSON fails where it is read. */
export class JsonSurvey implements BodySurvey {
  readonly longTexts = new LongTexts();
  readonly delimiters = null;
  readonly #bytes: Uint8Array;
  #at = 0;
  #longBytes = 0;
  /** The opening quote of the string at hand; -1 outside of strings. */
  #start = -1;
  #isEscaped = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  step(): boolean {
    const end = Math.min(this.#at + sliceBytes, this.#bytes.length);
    while (this.#at < end) {
      if (this.#start === -1) this.#passPieces(end);
      else this.#passLong();
    }
    if (this.#at - this.#longBytes > piecesBytesMax && this.#start === -1) this.longTexts.isCrumbled = true;
    if (this.#at < this.#bytes.length) return !this.longTexts.isCrumbled;
    if (this.#start !== -1) this.longTexts.note(this.#start, ~this.#bytes.length);
    return false;
  }

  /** Short strings, and what is between them. */
  #passPieces(end: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    while (at < end) {
      if (bytes[at++] !== quote) continue;
      const start = at - 1;
      const near = Math.min(at + longBytesMin, end);
      while (at < near && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
      if (at < near) at++;
      else {
        // The second half of an escape at the end of a slice is the next one's.
        this.#isEscaped = at > near;
        this.#start = start;
        at = near;
        break;
      }
    }
    this.#at = at;
  }

  #passLong(): void {
    // Whole steps of the compiled code, but for the last one.
    const end = Math.min(this.#at + sliceBytes, this.#bytes.length);
    const found = closingQuoteWithin(this.#bytes, this.#at, end, this.#isEscaped);
    this.#isEscaped = isNextEscaped();
    this.#at = end;
    if (found === end) return;
    this.#at = found + 1;
    this.longTexts.note(this.#start, this.#at);
    this.#longBytes += this.#at - this.#start;
    this.#start = -1;
  }
}

/** Finds where the parts of a form end. */
export class FormSurvey implements BodySurvey {
  readonly longTexts = null;
  readonly delimiters: DelimiterSearch;

  constructor(bytes: Uint8Array, boundary: string) {
    this.delimiters = new DelimiterSearch(bytes, boundary);
  }

  step(): boolean {
    return this.delimiters.step(sliceBytes);
  }
}
