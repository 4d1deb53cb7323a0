import type { Transform } from 'node:stream';
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzip,
  inflate,
  zstdDecompress,
} from 'node:zlib';
import { type Fault, fail, fault, type Result, succeed } from '@headgate/protocols';
import { type MemoryShare, uncountedBytesMax } from '../ports/data-plane.ts';
import { crowded } from '../route/faults.ts';

/** Memory that is lent. It is given back once nothing reads it any more, or never: then it is collected. */
export interface Loan {
  giveBack(): void;
}

/** A body that is the taker's for good. */
export const gift: Loan = { giveBack() {} };

/** Waits for the body of one request. Exactly one of the two is called, once. */
export interface BodyTaker {
  onBody(body: Uint8Array, loan: Loan): void;
  /** It does not come whole: it is too large, too late, or not framed as HTTP. */
  onNoBody(failure: Fault): void;
}

type Decoded = (error: NodeJS.ErrnoException | null, decoded: Buffer) => void;

interface Decoder {
  whole(body: Uint8Array, options: { readonly maxOutputLength: number }, done: Decoded): void;
  open(options: { readonly chunkSize: number }): Transform;
}

/** A chain of encodings is an attack, not a need; agents send one. */
const gzip: Decoder = { whole: gunzip, open: createGunzip };
const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', { whole: inflate, open: createInflate }],
  ['br', { whole: brotliDecompress, open: createBrotliDecompress }],
  ['zstd', { whole: zstdDecompress, open: createZstdDecompress }],
]);

/** How a body of this `content-encoding` becomes plain; null when it is. */
export function decoderOf(encoding: string | undefined): Result<Decoder | null, Fault> {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  if (name === '' || name === 'identity') return succeed(null);
  const decode = decoders.get(name);
  if (decode !== undefined) return succeed(decode);
  return fail(
    fault('unsupported_media_type', {
      message: `The content encoding '${name.slice(0, 60)}' is not supported; send one of ${[...decoders.keys()].join(', ')}, or none.`,
      param: 'content-encoding',
    }),
  );
}

/** Text becomes about so many times as long, agents' requests included. */
const usualRatio = 8;
/** Nothing that people write becomes longer than so many times what was sent, beyond the first megabyte. */
const ratioMax = 100;
const unsuspectedBytesMax = 1024 * 1024;

/**
 * Takes a body in the place of `taker`, which gets it as it was before it was compressed. Room is made for what is usual, and
 * for all that is allowed only where that was too little: few bytes must not hold much memory.
 */
export function decoding(
  taker: BodyTaker,
  decoder: Decoder,
  bytesMax: number,
  memory: MemoryShare,
): BodyTaker {
  const decodeInto = (body: Uint8Array, loan: Loan, room: number): void => {
    const believable = Math.max(unsuspectedBytesMax, ratioMax * body.length);
    const allowed = Math.min(bytesMax, believable);
    const maxOutputLength = Math.min(room, allowed);
    if (!memory.take(maxOutputLength)) {
      loan.giveBack();
      return taker.onNoBody(crowded());
    }
    decode(decoder, body, maxOutputLength, (error, decoded) => {
      const isTooLong = error?.code === tooLongCode;
      memory.giveBack(error === null ? maxOutputLength - decoded.length : maxOutputLength);
      if (isTooLong && maxOutputLength < allowed) return decodeInto(body, loan, allowed);
      loan.giveBack();
      if (error === null) taker.onBody(decoded, gift);
      else if (!isTooLong) taker.onNoBody(undecodable);
      else taker.onNoBody(believable < bytesMax ? unbelievable(believable) : tooLarge(bytesMax));
    });
  };
  return {
    onNoBody: (failure) => taker.onNoBody(failure),
    onBody: (body, loan) => decodeInto(body, loan, Math.max(uncountedBytesMax, usualRatio * body.length)),
  };
}

/** Bytes that are decompressed in one step where there may be many. */
const chunkSize = 256 * 1024;

/** A body that may become long is put together as it comes: in one step at the end, that would hold the event loop. */
function decode({ whole, open }: Decoder, body: Uint8Array, maxOutputLength: number, done: Decoded): void {
  if (maxOutputLength <= unsuspectedBytesMax) return whole(body, { maxOutputLength }, done);
  const place = Buffer.allocUnsafeSlow(maxOutputLength);
  let length = 0;
  const stream = open({ chunkSize });
  stream.on('data', (chunk: Buffer) => {
    if (length + chunk.length > maxOutputLength) {
      stream.destroy(Object.assign(new Error('too long'), { code: tooLongCode }));
      return;
    }
    place.set(chunk, length);
    length += chunk.length;
  });
  stream.on('error', (error) => done(error, place));
  stream.on('end', () => done(null, place.subarray(0, length)));
  stream.end(body);
}

const tooLongCode = 'ERR_BUFFER_TOO_LARGE';

function unbelievable(bytes: number): Fault {
  return fault('payload_too_large', {
    message: `The request body becomes more than ${ratioMax} times as long when it is decompressed, beyond ${bytes.toLocaleString('en-US')} bytes: send it with less compression, or none.`,
  });
}

export function tooLarge(bytesMax: number): Fault {
  return fault('payload_too_large', {
    message: `The request body is larger than the ${bytesMax.toLocaleString('en-US')} bytes allowed here, decompressed.`,
  });
}

const undecodable = fault('invalid_request', {
  message: 'The request body does not decompress as its content-encoding header says.',
  param: 'content-encoding',
});

/** Places for bodies are of sizes that double from here on; below it they are fresh each time. */
const placeBytesMin = 32 * 1024;
/** A larger place is not kept. */
const placeBytesMax = 8 * 1024 * 1024;
const keptBytesMax = 32 * 1024 * 1024;

/**
 * Places that large bodies are read into, one after the other: a fresh megabyte for each of them costs more, first in page
 * faults and then in the collector, than all else that is done with it.
 */
export class BodyPlaces {
  /** The one that has waited longest is first. */
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;

  /** A place of at least `wanted` bytes if one is there, else a new one of at least `believed`. */
  take(wanted: number, believed: number): Buffer {
    const size = sizeOfPlace(wanted);
    const at = this.#kept.findLastIndex((place) => place.length === size);
    const [found] = at === -1 ? [] : this.#kept.splice(at, 1);
    if (found === undefined)
      return Buffer.allocUnsafeSlow(believed < wanted ? sizeOfPlace(believed / 2) : size);
    this.#keptBytes -= size;
    return found;
  }

  /** Nothing may read or write it any more. */
  giveBack(place: Buffer): void {
    if (place.length > placeBytesMax) return;
    this.#kept.push(place);
    this.#keptBytes += place.length;
    while (this.#keptBytes > keptBytesMax) this.#keptBytes -= this.#kept.shift()?.length ?? 0;
  }
}

function sizeOfPlace(bytes: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(bytes, placeBytesMin)));
}

/** Up to this size an announced length is believed before its bytes have come. */
const believedBytesMax = 128 * 1024;
/** Beyond it, bytes that have come are believed to be at least this part of the whole. */
const growth = 16;
const smallestCapacity = 16 * 1024;
/** The system fills as much room as it is given, and fresh memory takes its time. */
export const roomBytesMax = 512 * 1024;

/**
 * Bytes that come in pieces, in one place: a list of them would cost a hundred times its bytes if each piece is one.
 * A body of one piece stays as it came. A larger one gets a place of the size that it announced, as soon as enough of it
 * has come to believe that, or such a place is there.
 */
export class GrowingBytes implements Loan {
  length = 0;
  #place: Buffer = Buffer.alloc(0);
  #isLent = false;
  /** The bytes of it that were asked for. */
  #counted = 0;
  readonly #announced: number;
  readonly #bytesMax: number;
  readonly #places: BodyPlaces;
  readonly #memory: MemoryShare;

  /** `announced` is 0 when the length is not known before the end. */
  constructor(announced: number, bytesMax: number, places: BodyPlaces, memory: MemoryShare) {
    this.#announced = announced;
    this.#bytesMax = bytesMax;
    this.#places = places;
    this.#memory = memory;
  }

  /** Asks where the next bytes belong; null when their number is not known, or there is no room for them. */
  room(): Buffer | null {
    const end = Math.min(this.#announced, this.#bytesMax);
    if (this.length >= end) return null;
    if (this.length === this.#place.length && !this.#grow(this.length + 1)) return null;
    return this.#place.subarray(this.length, Math.min(end, this.length + roomBytesMax));
  }

  /** A piece in the room that was asked for last is where it belongs. False: there is no room for it. */
  append(piece: Buffer): boolean {
    const length = this.length + piece.length;
    if (this.length === 0 && this.#place.length === 0 && length >= this.#announced) this.#place = piece;
    else if (!this.#isInRoom(piece)) {
      // A piece that was kept as it came fills its place to the end, so it is never written to.
      if (length > this.#place.length && !this.#grow(length)) return false;
      this.#place.set(piece, this.length);
    }
    this.length = length;
    return true;
  }

  all(): Buffer {
    return this.#place.length === this.length ? this.#place : this.#place.subarray(0, this.length);
  }

  giveBack(): void {
    if (this.#isLent) this.#places.giveBack(this.#place);
    this.#isLent = false;
    if (this.#counted > 0) this.#memory.giveBack(this.#counted);
    this.#counted = 0;
    this.#place = Buffer.alloc(0);
    this.length = 0;
  }

  #isInRoom({ buffer, byteOffset, length }: Buffer): boolean {
    const place = this.#place;
    // Small buffers lie side by side in one memory, so a piece may also begin where the place ends.
    if (buffer !== place.buffer || this.length + length > place.length) return false;
    return byteOffset === place.byteOffset + this.length;
  }

  #grow(length: number): boolean {
    const capacity = this.#capacityFor(length);
    const isLarge = capacity >= placeBytesMin;
    const place = isLarge
      ? this.#places.take(Math.max(this.#announced, capacity), capacity)
      : Buffer.allocUnsafeSlow(capacity);
    const before = this.#place;
    if (place.length > uncountedBytesMax) {
      const more = place.length - this.#counted;
      if (!this.#memory.take(more)) {
        this.#places.giveBack(place);
        return false;
      }
      this.#counted += more;
    }
    place.set(this.all());
    if (this.#isLent) this.#places.giveBack(before);
    this.#place = place;
    this.#isLent = isLarge;
    return true;
  }

  #capacityFor(length: number): number {
    if (length > this.#announced)
      return Math.min(Math.max(2 * length, smallestCapacity), Math.max(length, this.#bytesMax));
    return Math.min(this.#announced, Math.max(believedBytesMax, growth * length));
  }
}
