import { skipString } from './json-skip.ts';

/** A string within a frame, its quotes included. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** Frames learnt before it is taken that this server's frames have too little in common. */
const lessonsMax = 16;

/**
 * Recognises a frame that differs from an earlier one in nothing but its text, and the padding behind it where the
 * server pads. Such a frame means what the earlier one meant and need not be walked through: nearly all of a stream
 * is such frames.
 */
export class FrameTemplate {
  #frame: Uint8Array = new Uint8Array(0);
  #text: TextSpan = { start: 0, end: 0 };
  #padding: TextSpan | null = null;
  #lessons = 0;

  learn(frame: Uint8Array, text: TextSpan, padding: TextSpan | null): void {
    if (this.#lessons === lessonsMax) return;
    this.#lessons++;
    // A copy: the frame is a view of a much larger buffer, which must not live as long as the stream.
    this.#frame = frame.slice();
    this.#text = text;
    this.#padding = padding !== null && padding.start > text.end ? padding : null;
  }

  /** The end of the frame's text, which begins at `textStart`; -1 when the frame is another one. */
  match(frame: Uint8Array): number {
    const { start, end } = this.#text;
    if (end === 0 || !this.#isSame(frame, 0, 0, start + 1)) return -1;
    const textEnd = skipString(frame, start);
    const isEmpty = textEnd === start + 2;
    return textEnd > 0 && !isEmpty && this.#matchTail(frame, textEnd, end) ? textEnd : -1;
  }

  get textStart(): number {
    return this.#text.start;
  }

  /** Whether the frame from `at` is the template from `from`, but for the padding. */
  #matchTail(frame: Uint8Array, at: number, from: number): boolean {
    const padding = this.#padding;
    if (padding === null) return this.#isSameToTheEnd(frame, at, from);
    if (!this.#isSame(frame, at, from, padding.start + 1)) return false;
    const end = skipString(frame, at + padding.start - from);
    return end > 0 && this.#isSameToTheEnd(frame, end, padding.end);
  }

  #isSameToTheEnd(frame: Uint8Array, at: number, from: number): boolean {
    const template = this.#frame;
    return frame.length - at === template.length - from && this.#isSame(frame, at, from, template.length);
  }

  #isSame(frame: Uint8Array, at: number, from: number, to: number): boolean {
    const template = this.#frame;
    if (frame.length - at < to - from) return false;
    for (let offset = 0; offset < to - from; offset++) {
      if (frame[at + offset] !== template[from + offset]) return false;
    }
    return true;
  }
}
