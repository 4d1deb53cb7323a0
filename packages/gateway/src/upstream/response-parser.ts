import { unreachable } from '@headgate/protocols';
import { ChunkedDecoder } from './chunked-decoder.ts';
import { maxHeadBytes, type ResponseHead, readResponseHead } from './response-head.ts';

/** Receives an answer as it is read. */
export interface ResponseSink {
  onHead(head: ResponseHead): void;
  onData(chunk: Uint8Array): void;
}

/** `more`: the answer goes on · `complete`: it ended within these bytes · `garbled`: it is not HTTP; see `problem`. */
export type Progress = 'more' | 'complete' | 'garbled';

const headEnd = '\r\n\r\n';
const extensionBytesMax = 4_096;

/** Reads one answer to a GET or POST. Takes possession of the bytes it is given, and may rearrange them. */
export class ResponseParser {
  readonly #sink: ResponseSink;
  /** Bytes of a head that has not ended yet. */
  #partialHead: Buffer | null = null;
  /** Of all heads, the interim ones included. */
  #headBytes = 0;
  #head: ResponseHead | null = null;
  #remaining = 0;
  #chunked: ChunkedDecoder | null = null;
  #problem = '';
  #hasSurplus = false;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** What is wrong, once `read` has said `garbled`. */
  get problem(): string {
    return this.#problem;
  }

  /** Final head; null while none has come. */
  get head(): ResponseHead | null {
    return this.#head;
  }

  /** Whether bytes followed the end of the answer: the connection is out of step and must not be used again. */
  get hasSurplus(): boolean {
    return this.#hasSurplus;
  }

  read(bytes: Buffer): Progress {
    return this.#head === null ? this.#readHead(bytes) : this.#readBody(this.#head, bytes, 0);
  }

  /** The connection ended in an orderly way: whether that is the end of the answer. */
  endsWithConnection(): boolean {
    return this.#head?.framing.kind === 'until-close';
  }

  #readHead(arrived: Buffer): Progress {
    const bytes = this.#partialHead === null ? arrived : Buffer.concat([this.#partialHead, arrived]);
    let start = 0;
    while (true) {
      const end = bytes.indexOf(headEnd, start, 'latin1');
      const isTooLong = (end === -1 ? bytes.length : end) - start + this.#headBytes > maxHeadBytes;
      if (isTooLong) return this.#fail(`a head of more than ${maxHeadBytes} bytes`);
      if (end === -1) return this.#keepPartialHead(bytes.subarray(start));
      const head = readResponseHead(bytes.toString('latin1', start, end));
      if (!head.ok) return this.#fail(head.error);
      this.#headBytes += end - start;
      start = end + headEnd.length;
      if (head.value.status === 101) return this.#fail('an upgrade that was not asked for');
      if (head.value.status >= 200) return this.#begin(head.value, bytes, start);
    }
  }

  #keepPartialHead(bytes: Buffer): Progress {
    const opening = 'HTTP/1.';
    if (!opening.startsWith(bytes.toString('latin1', 0, opening.length)))
      return this.#fail('no HTTP/1 status line');
    this.#partialHead = bytes;
    return 'more';
  }

  #begin(head: ResponseHead, bytes: Buffer, bodyStart: number): Progress {
    this.#head = head;
    this.#partialHead = null;
    if (head.framing.kind === 'length') this.#remaining = head.framing.length;
    this.#sink.onHead(head);
    return this.#readBody(head, bytes, bodyStart);
  }

  #readBody({ framing }: ResponseHead, bytes: Buffer, start: number): Progress {
    switch (framing.kind) {
      case 'none':
        return this.#complete(bytes, start);
      case 'length':
        return this.#readCounted(bytes, start);
      case 'chunked':
        return this.#readChunked(bytes, start);
      case 'until-close':
        this.#deliver(bytes, start, bytes.length);
        return 'more';
      default:
        return unreachable(framing);
    }
  }

  #readCounted(bytes: Buffer, start: number): Progress {
    const end = Math.min(bytes.length, start + this.#remaining);
    this.#remaining -= end - start;
    this.#deliver(bytes, start, end);
    return this.#remaining === 0 ? this.#complete(bytes, end) : 'more';
  }

  #readChunked(bytes: Buffer, start: number): Progress {
    this.#chunked ??= new ChunkedDecoder({ lineBytesMax: extensionBytesMax, trailerBytesMax: maxHeadBytes });
    const decoder = this.#chunked;
    const end = decoder.decode(bytes, start);
    this.#deliver(bytes, decoder.dataStart, decoder.dataEnd);
    if (decoder.isGarbled) return this.#fail('a malformed chunk');
    return decoder.isComplete ? this.#complete(bytes, end) : 'more';
  }

  #deliver(bytes: Buffer, start: number, end: number): void {
    if (end > start) this.#sink.onData(bytes.subarray(start, end));
  }

  #complete(bytes: Buffer, end: number): Progress {
    this.#hasSurplus = end < bytes.length;
    return 'complete';
  }

  #fail(problem: string): Progress {
    this.#problem = problem;
    return 'garbled';
  }
}
