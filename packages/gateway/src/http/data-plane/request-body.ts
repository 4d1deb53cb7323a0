import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { type Fault, fail, fault, type Result, succeed } from '@headgate/protocols';

/** A chain of encodings is an attack, not a need; agents send one. */
const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
} as const;

type Encoding = keyof typeof decoders;

function isEncoding(name: string): name is Encoding {
  return Object.hasOwn(decoders, name);
}

/** Reads the body whole, decompressed, never holding more than `bytesMax` of it. Resolves; a failure is a fault. */
export function readBody(message: IncomingMessage, bytesMax: number): Promise<Result<Uint8Array, Fault>> {
  const announced = Number(message.headers['content-length'] ?? 0);
  if (announced > bytesMax) return Promise.resolve(fail(tooLarge(bytesMax)));
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === '' || encoding === 'identity') return collect(message, message, bytesMax);
  if (isEncoding(encoding)) return collect(message, message.pipe(decoders[encoding]()), bytesMax);
  const accepted = Object.keys(decoders).join(', ');
  return Promise.resolve(
    fail(
      fault('unsupported_media_type', {
        message: `The content encoding '${encoding.slice(0, 60)}' is not supported; send one of ${accepted}, or none.`,
        param: 'content-encoding',
      }),
    ),
  );
}

function tooLarge(bytesMax: number): Fault {
  return fault('payload_too_large', {
    message: `The request body is larger than the ${bytesMax.toLocaleString('en-US')} bytes allowed here, decompressed.`,
  });
}

function collect(
  message: IncomingMessage,
  source: Readable,
  bytesMax: number,
): Promise<Result<Uint8Array, Fault>> {
  return new Promise((resolve) => {
    const bytes = new GrowingBytes(Number(message.headers['content-length'] ?? 0), bytesMax);
    const refuse = (failure: Fault) => {
      discard(message, source);
      resolve(fail(failure));
    };
    source.on('data', (chunk: Buffer) => {
      if (bytes.length + chunk.length > bytesMax) refuse(tooLarge(bytesMax));
      else bytes.append(chunk);
    });
    source.on('end', () => resolve(succeed(bytes.all())));
    source.on('error', () => refuse(unreadable(source === message)));
    message.on('close', () => {
      // A body that came whole closes, too, before a decoder has given all of it.
      if (!message.complete) refuse(fault('request_timeout'));
    });
  });
}

/** Up to this size an announced length is believed before its bytes have come. */
const announcedBytesMax = 4 * 1024 * 1024;
const smallestCapacity = 16 * 1024;

/**
 * Bytes that come in pieces, in one place: a list of them would cost a hundred times its bytes if each piece is one.
 * The usual body is one piece, and stays as it came.
 */
class GrowingBytes {
  length = 0;
  #place: Uint8Array = new Uint8Array(0);
  readonly #announced: number;
  readonly #bytesMax: number;

  constructor(announced: number, bytesMax: number) {
    this.#announced = Math.min(announced, announcedBytesMax);
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
    return this.#place.subarray(0, this.length);
  }

  #grow(length: number): void {
    const doubled = Math.min(Math.max(2 * length, smallestCapacity), this.#bytesMax);
    const place = Buffer.allocUnsafeSlow(length <= this.#announced ? this.#announced : doubled);
    place.set(this.all());
    this.#place = place;
  }
}

/**
 * Reads the rest of a body and forgets it: a caller who is still sending gets to see the answer, and the connection can
 * carry another request.
 */
function discard(message: IncomingMessage, source: Readable): void {
  source.removeAllListeners('data');
  if (source !== message) {
    message.unpipe();
    source.destroy();
  }
  message.resume();
}

function unreadable(isPlain: boolean): Fault {
  if (isPlain) return fault('request_timeout');
  return fault('invalid_request', {
    message: 'The request body does not decompress as its content-encoding header says.',
    param: 'content-encoding',
  });
}
