/**
 * The part a frame plays in an answer. `head` is the status line and headers; `preamble` opens a stream without
 * content; `terminal` is the last frame of a whole answer. A JSON answer is content and a terminal frame too.
 */
export type FrameRole = 'head' | 'preamble' | 'content' | 'finish' | 'usage' | 'terminal';

export interface Frame {
  readonly kind: 'frame';
  readonly role: FrameRole;
  /** The frame as it is sent, its own line ends included. */
  readonly text: string;
}

interface Pause {
  readonly kind: 'pause';
  /** Infinity for a silence without end. */
  readonly ms: number;
}

export type Item = Frame | Pause;

/** How an answer is left: its HTTP message whole, the connection closed inside it, or reset. */
export type Ending = 'end' | 'cut' | 'reset';

export type Items = Generator<Item, Ending, undefined>;

export function frame(role: FrameRole, text: string): Frame {
  return { kind: 'frame', role, text };
}
