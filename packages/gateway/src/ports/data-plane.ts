import type { Platform, RequestInput } from '@headgate/protocols';

/** One request as the data plane received it. */
export interface Inbound extends RequestInput {
  readonly traceId: string;
  /** Wall clock in milliseconds since the epoch, when the last byte of the request had come. */
  readonly receivedAtMs: number;
  /** The same moment on the clock that never jumps. */
  readonly receivedAt: number;
  readonly memory: MemoryShare;
}

/**
 * The memory that a call takes of what there is for all calls. Small things are not counted: a call asks before it holds more
 * than `uncountedBytesMax` in one place. All is given back when the caller has taken the answer, or has gone.
 */
export interface MemoryShare {
  /** False, and nothing is taken, when the call's caller holds its share already. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

export const uncountedBytesMax = 32 * 1024;

/** For what no caller can make grow. */
export const uncounted: MemoryShare = { take: () => true, giveBack() {} };

/** Name, value, name, value …, in lower case. */
export type HeaderList = readonly string[];

/** The way back to the caller. After `gone` every method is harmless and does nothing. */
export interface Reply {
  readonly platform: Platform;
  /** True when the caller has closed its connection. */
  readonly gone: boolean;
  /** True when the head of an answer has been sent. */
  readonly begun: boolean;
  /** The answer, whatever it will be, has these headers beside its own. */
  addHeaders(headers: HeaderList): void;
  /** A whole answer: head and body in one write. */
  send(status: number, headers: HeaderList, body: Uint8Array): void;
  /**
   * Head and first bytes of a stream in one write. The bytes are there only within the call, as those of `write`: a reply
   * that cannot send them at once copies them. False: the caller reads slowly; wait for `onCallerWritable`.
   */
  begin(status: number, headers: HeaderList, bytes: Uint8Array): boolean;
  /** False: as for `begin`. */
  write(bytes: Uint8Array): boolean;
  /** Ends a stream that has begun, cleanly. */
  end(bytes: Uint8Array): void;
  /** Ends a stream that has begun so that nobody can take it for whole: the bytes, then a close without HTTP's own end. */
  breakOff(bytes: Uint8Array): void;
  /** Gives up on a caller who has stopped reading: closes its connection at once, with whatever is unsent. */
  abandon(): void;
  /** The attempt under way, which hears of the caller's side; null when there is none. */
  listener: CallerListener | null;
}

/**
 * Hears what happens on the caller's side. One object, not two closures: closures kept in a field of a reply made V8
 * carry whole calls into the old generation, which cost more than the rest of garbage collection together.
 */
export interface CallerListener {
  /** Bytes may flow again. */
  onCallerWritable(): void;
  /** The caller has closed its connection early. Called once. */
  onCallerGone(): void;
}

/**
 * Hears of a call's end, last; an object for the same reason. `isBodyRead`: nothing reads its body any more. Of one that is
 * read on without its caller it hears twice: when that one leaves, and when nothing more is held for it; `isOver`: its entry is written, or never will be.
 */
export interface EndListener {
  onCallEnded(isBodyRead: boolean, isOver: boolean): void;
}
