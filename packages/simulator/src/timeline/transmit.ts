import { Buffer } from 'node:buffer';
import type { Drip, Split } from '../command/values.ts';
import { seededRandom } from '../random.ts';
import type { Ending } from './frame.ts';
import type { TimedFrame } from './pace.ts';

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
