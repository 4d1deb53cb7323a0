import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { type Fault, fail, fault, type Result, succeed } from '@headgate/protocols';

/** Waits for the body of one request. Exactly one of the two is called, once. */
export interface BodyTaker {
  onBody(body: Uint8Array): void;
  /** It does not come whole: it is too large, too late, or not framed as HTTP. */
  onNoBody(failure: Fault): void;
}

type Decode = (
  body: Uint8Array,
  options: { readonly maxOutputLength: number },
  done: (error: NodeJS.ErrnoException | null, decoded: Buffer) => void,
) => void;

/** A chain of encodings is an attack, not a need; agents send one. */
const decoders: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotliDecompress],
  ['zstd', zstdDecompress],
]);

/** How a body of this `content-encoding` becomes plain; null when it is. */
export function decoderOf(encoding: string | undefined): Result<Decode | null, Fault> {
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

/** Takes a body in the place of `taker`, which gets it as it was before it was compressed. */
export function decoding(taker: BodyTaker, decode: Decode, bytesMax: number): BodyTaker {
  return {
    onNoBody: (failure) => taker.onNoBody(failure),
    onBody: (body) =>
      decode(body, { maxOutputLength: bytesMax }, (error, decoded) => {
        if (error === null) taker.onBody(decoded);
        else taker.onNoBody(error.code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(bytesMax) : undecodable);
      }),
  };
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

/** Up to this size an announced length is believed before its bytes have come. */
const believedBytesMax = 128 * 1024;
/** Beyond it, bytes that have come are believed to be at least this part of the whole. */
const growth = 16;
const smallestCapacity = 16 * 1024;

/**
 * Bytes that come in pieces, in one place: a list of them would cost a hundred times its bytes if each piece is one.
 * The usual body is one piece, and stays as it came; a large one is copied once, into a place of the size it announced
 * as soon as enough of it has come to believe that.
 */
export class GrowingBytes {
  length = 0;
  #place: Uint8Array = new Uint8Array(0);
  readonly #announced: number;
  readonly #bytesMax: number;

  /** `announced` is 0 when the length is not known before the end. */
  constructor(announced: number, bytesMax: number) {
    this.#announced = announced;
    this.#bytesMax = bytesMax;
  }

  append(piece: Uint8Array): void {
    const length = this.length + piece.length;
    if (this.length === 0) this.#place = piece;
    else {
      // The first piece fills its place to the end, so it is never written to.
      if (length > this.#place.length) this.#grow(length);
      this.#place.set(piece, this.length);
    }
    this.length = length;
  }

  all(): Uint8Array {
    return this.#place.length === this.length ? this.#place : this.#place.subarray(0, this.length);
  }

  #grow(length: number): void {
    const place = Buffer.allocUnsafeSlow(this.#capacityFor(length));
    place.set(this.all());
    this.#place = place;
  }

  #capacityFor(length: number): number {
    if (length > this.#announced)
      return Math.min(Math.max(2 * length, smallestCapacity), Math.max(length, this.#bytesMax));
    return Math.min(this.#announced, Math.max(believedBytesMax, growth * length));
  }
}
