import { Buffer } from 'node:buffer';
import type { FaultAct, FaultPlace } from './command/command.ts';
import type { Drip, Split } from './command/words.ts';
import { seededRandom } from './fault-gate.ts';

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

export interface Pacing {
  /** From the request's arrival to the first frame. */
  readonly ttftMs: number;
  /** Between content frames. */
  readonly intervalMs: number;
  /** Silence after which a comment is sent; null never. With it the head is sent at once. */
  readonly keepAliveMs: number | null;
  /** Puts a comment before every frame. */
  readonly comments: boolean;
}

export interface TimedFrame {
  /** Since the request's arrival; Infinity for what never comes. Never less than the frame before it. */
  readonly atMs: number;
  readonly role: FrameRole | 'comment';
  readonly text: string;
}

const comment = ': simulated\n\n';

/** Gives every frame its time and fills silences with comments, for ever if the silence lasts for ever. */
export function* pace(items: Items, pacing: Pacing): Generator<TimedFrame, Ending, undefined> {
  const headMs = pacing.keepAliveMs === null ? pacing.ttftMs : 0;
  let atMs = headMs;
  let lastMs = Number.POSITIVE_INFINITY;
  for (;;) {
    const next = items.next();
    if (next.done === true) return next.value;
    const item = next.value;
    if (item.kind === 'pause') {
      atMs += item.ms;
      continue;
    }
    if (pacing.keepAliveMs !== null) yield* keepAlive(lastMs, atMs, pacing.keepAliveMs);
    if (pacing.comments && item.role !== 'head') yield { atMs, role: 'comment', text: comment };
    yield { atMs, role: item.role, text: item.text };
    lastMs = atMs;
    if (item.role === 'head') atMs += pacing.ttftMs - headMs;
    if (item.role === 'content') atMs += pacing.intervalMs;
  }
}

/** Before the head `fromMs` is Infinity, and nothing is sent. */
function* keepAlive(fromMs: number, toMs: number, everyMs: number): Generator<TimedFrame, void, undefined> {
  for (let atMs = fromMs + everyMs; atMs < toMs; atMs += everyMs)
    yield { atMs, role: 'comment', text: comment };
}

export interface PlacedFault {
  readonly act: FaultAct;
  readonly place: FaultPlace;
  /** Content frames before a mid-stream fault; a shorter answer meets it after its last content. */
  readonly at: number;
  readonly stallMs: number;
  /** The error as a frame of the stream, for `error`; streams that number their frames ask how many went before. */
  readonly errorText: (framesSent: number) => string;
  /** Bytes that are no frame of the protocol, for `garble`. */
  readonly garbledText: string;
}

/** Plays the frames and strikes once, at the fault's place. Without a fault the frames pass as they are. */
export function* misbehave(frames: Iterable<Frame>, fault: PlacedFault | null): Items {
  let contentCount = 0;
  let framesSent = 0;
  let isStruck = fault === null;
  for (const next of frames) {
    if (fault !== null && !isStruck && isPlace(fault, next, contentCount)) {
      isStruck = true;
      const ending = yield* strike(fault, framesSent);
      if (ending !== null) return ending;
    }
    if (next.role === 'content') contentCount++;
    if (next.role !== 'head') framesSent++;
    yield next;
  }
  return 'end';
}

function isPlace(fault: PlacedFault, next: Frame, contentCount: number): boolean {
  const isOpening = next.role === 'head' || next.role === 'preamble';
  switch (fault.place) {
    case 'before-head':
      return true;
    case 'before-content':
      return !isOpening;
    case 'mid-stream':
      return !isOpening && (next.role !== 'content' || contentCount >= fault.at);
    case 'before-done':
      return next.role === 'terminal';
  }
}

const notHttp = 'SSH-2.0-simulated\r\nthis is not the protocol you are looking for\r\n';

/** Returns how the answer ends here, or null when it goes on after the fault. */
function* strike(fault: PlacedFault, framesSent: number): Generator<Item, Ending | null, undefined> {
  const isBeforeHead = fault.place === 'before-head';
  switch (fault.act) {
    case 'reset':
      return 'reset';
    case 'cut':
      return 'cut';
    case 'end':
      // Without a head there is no message that could end cleanly.
      return isBeforeHead ? 'cut' : 'end';
    case 'stall':
      yield { kind: 'pause', ms: fault.stallMs };
      return null;
    case 'garble':
      yield isBeforeHead ? frame('head', notHttp) : frame('content', fault.garbledText);
      return isBeforeHead ? 'cut' : null;
    case 'error':
      yield frame('content', fault.errorText(framesSent));
      return 'end';
  }
}

/** Bytes due at a time, in milliseconds since the request's arrival. */
export interface Step {
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

/** Everything one answer puts on the wire, in order, and how the connection is left. */
export type Transmission = Iterator<Step, Ending, undefined>;

export interface Framing {
  readonly chunked: boolean;
  readonly crlf: boolean;
  readonly split: Split | null;
  readonly drip: Drip | null;
}

/** Turns timed frames into the bytes of an HTTP message; each piece of a split is a chunk of its own. */
export function* transmit(
  frames: Generator<TimedFrame, Ending, undefined>,
  framing: Framing,
): Generator<Step, Ending, undefined> {
  const cut = cutter(framing);
  const dripMs = framing.drip?.everyMs ?? 0;
  let freeMs = 0;
  for (;;) {
    const next = frames.next();
    if (next.done === true) {
      if (framing.chunked && next.value === 'end') yield { atMs: freeMs, bytes: lastChunk };
      return next.value;
    }
    const timed = next.value;
    const isHead = timed.role === 'head';
    for (const bytes of isHead ? [Buffer.from(timed.text)] : bodyPieces(timed.text, framing, cut)) {
      const atMs = Math.max(timed.atMs, freeMs);
      yield { atMs, bytes };
      freeMs = isHead ? atMs : atMs + dripMs;
    }
  }
}

const lastChunk = Buffer.from('0\r\n\r\n');

function bodyPieces(text: string, framing: Framing, cut: Cutter | null): readonly Uint8Array[] {
  const shaped = framing.crlf ? text.replaceAll(/\r?\n/g, '\r\n') : text;
  if (cut !== null) return cut(Buffer.from(shaped)).map((piece) => (framing.chunked ? chunk(piece) : piece));
  if (!framing.chunked) return [Buffer.from(shaped)];
  return [Buffer.from(`${Buffer.byteLength(shaped).toString(16)}\r\n${shaped}\r\n`)];
}

function chunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

type Cutter = (bytes: Uint8Array) => readonly Uint8Array[];

const randomPieceBytesMax = 32;

function cutter(framing: Framing): Cutter | null {
  const nextSize = pieceSizes(framing);
  if (nextSize === null) return null;
  return (bytes) => {
    const pieces: Uint8Array[] = [];
    for (let start = 0; start < bytes.length; ) {
      const end = start + nextSize();
      pieces.push(bytes.subarray(start, end));
      start = end;
    }
    return pieces;
  };
}

function pieceSizes({ split, drip }: Framing): (() => number) | null {
  if (drip !== null) return () => drip.bytes;
  if (split === null) return null;
  if (split.kind === 'every') return () => split.bytes;
  const random = seededRandom(split.seed);
  return () => 1 + Math.floor(random() * randomPieceBytesMax);
}
