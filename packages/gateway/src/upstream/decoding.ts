import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import type { UpstreamFailure, UpstreamHandler, UpstreamHead, UpstreamHeaders } from '../ports/upstream.ts';

/** An answer that becomes more than so many times as long, beyond the bytes below, is an attack or an accident. */
const ratioMax = 100;
const unboundedBytes = 1024 * 1024;

/**
 * Zstandard keeps a window of what it has decoded, as large as the answer says, 128 MiB unless bounded, and nothing counts it: the system
 * gives memory to as much of it as is used. On the web it is 8 MiB at most (RFC 9659).
 */
const zstdBounds = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

type Decoder = ReturnType<typeof createGunzip>;

/** An answer under way, whose reading can be held up, and which can be ended before its end. */
export interface Coded {
  pause(): void;
  resume(): void;
  fail(failure: UpstreamFailure): void;
}

/** A decoder for the first bytes of an answer; null for codings that we do not know. */
function decoderFor(coding: string, first: number): Decoder | null {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress(zstdBounds);
    case 'deflate':
      // Half of the servers that say so leave the envelope out (RFC 9110, 8.4.1.2), whose first byte is known.
      return (first & 0x0f) === 8 ? createInflate() : createInflateRaw();
    default:
      return null;
  }
}

const known = /^(?:x-)?gzip$|^br$|^zstd$|^deflate$/;

/** The handler of an answer that came compressed although nobody had asked for it; its own where the coding is not known. */
export function decoded(head: UpstreamHead, handler: UpstreamHandler, source: Coded): UpstreamHandler {
  const coding = (head.headers.get('content-encoding') ?? '').toLowerCase();
  return known.test(coding) ? new Decoding(coding, handler, source) : handler;
}

/**
 * Decodes an answer as it comes, a piece at a time. What waits to be decoded, or to be taken by the handler, is no more than the
 * decoder's own buffers hold: beyond that the upstream is not read.
 */
export class Decoding implements UpstreamHandler {
  readonly #coding: string;
  readonly #handler: UpstreamHandler;
  readonly #source: Coded;
  #decoder: Decoder | null = null;
  #bytesIn = 0;
  #bytesOut = 0;
  #isPaused = false;
  #isFull = false;
  /** All of it has come. */
  #hasEnded = false;
  #isOver = false;

  constructor(coding: string, handler: UpstreamHandler, source: Coded) {
    this.#coding = coding;
    this.#handler = handler;
    this.#source = source;
  }

  onHead(head: UpstreamHead): void {
    this.#handler.onHead({ ...decodedHead(head), decodedFrom: this.#coding });
  }

  onData(chunk: Uint8Array): void {
    if (this.#isOver || chunk.length === 0) return;
    this.#decoder ??= this.#open(chunk[0] ?? 0);
    this.#bytesIn += chunk.length;
    // The bytes are lent: the decoder reads them later.
    this.#isFull = this.#decoder?.write(Buffer.from(chunk)) === false;
    if (this.#isFull) this.#source.pause();
  }

  onEnd(): void {
    this.#hasEnded = true;
    if (this.#decoder === null) this.#over(() => this.#handler.onEnd());
    else this.#decoder.end();
  }

  onFailure(failure: UpstreamFailure): void {
    this.#over(() => this.#handler.onFailure(failure));
  }

  pause(): void {
    this.#isPaused = true;
    this.#decoder?.pause();
  }

  /** Says whether the upstream may be read on. */
  resume(): boolean {
    this.#isPaused = false;
    this.#decoder?.resume();
    return !this.#isFull;
  }

  #open(first: number): Decoder | null {
    const decoder = decoderFor(this.#coding, first);
    decoder?.on('data', (bytes: Buffer) => this.#take(bytes));
    decoder?.on('drain', () => {
      this.#isFull = false;
      if (!this.#isPaused) this.#source.resume();
    });
    decoder?.on('end', () => this.#over(() => this.#handler.onEnd()));
    decoder?.on('error', ({ message }) => this.#break(`the answer cannot be decoded: ${message}`));
    return decoder;
  }

  #take(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#bytesOut += bytes.length;
    if (this.#bytesOut > unboundedBytes && this.#bytesOut > ratioMax * this.#bytesIn)
      return this.#break(`the answer becomes more than ${ratioMax} times as long when it is decoded`);
    this.#handler.onData(bytes);
  }

  #break(detail: string): void {
    const failure = { kind: 'garbled', detail } as const;
    if (this.#hasEnded) this.onFailure(failure);
    else if (!this.#isOver) this.#source.fail(failure);
  }

  #over(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#decoder?.destroy();
    tell();
  }
}

/** The head of the answer as it would have come. */
function decodedHead({ status, headers, tellsLimits }: UpstreamHead): UpstreamHead {
  const kept = new Map(
    [...headers].filter(([name]) => name !== 'content-encoding' && name !== 'content-length'),
  );
  const plain: UpstreamHeaders = kept;
  return { status, headers: plain, ...(tellsLimits === undefined ? {} : { tellsLimits }) };
}
