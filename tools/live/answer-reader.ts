import type { Surface } from './surface.ts';

/** How a call ended for its caller: `cut` after content had come, `failed` before any. */
export type Ending = 'answered' | 'cut' | 'failed';

/** The answer that a caller got for a call. */
export interface SeenAnswer {
  readonly ending: Ending;
  /** 0 when no head came. */
  readonly status: number;
  /** As the head told it. */
  readonly traceId: string | null;
  /** Null where none was stated. */
  readonly usage: { readonly input: number; readonly output: number } | null;
  /** It says that a second channel went on with what a first one had begun. */
  readonly isRescued: boolean;
}

/** The first word of everything a simulator says: what comes before it is no content. */
const firstWord = 'This';
const lastChunk = '\r\n0\r\n\r\n';

/** Reads the bytes of one HTTP answer as they come. */
export class AnswerReader {
  /** True once the model's words have begun to come. */
  hasContent = false;
  /** True once the HTTP message is complete, so that the connection may be used again. */
  isWhole = false;
  readonly #surface: Surface;
  readonly #chunks: Buffer[] = [];
  #head = '';
  #bodyBytesLeft: number | null = null;

  constructor(surface: Surface) {
    this.#surface = surface;
  }

  read(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.hasContent ||= this.#latest(firstWord.length).includes(firstWord);
    if (this.#head === '') this.#readHead();
    else if (this.#bodyBytesLeft !== null) this.#bodyBytesLeft -= chunk.length;
    if (this.#head !== '')
      this.isWhole = this.#bodyBytesLeft === null ? this.#endsInLastChunk() : this.#bodyBytesLeft <= 0;
  }

  /** The answer until now, as the caller understands it. */
  seen(): SeenAnswer {
    const text = Buffer.concat(this.#chunks).toString('latin1');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
    const { endMark, usage } = this.#surface;
    const isAnswered = status === 200 && this.isWhole && this.hasContent && text.includes(endMark);
    const [input, output] = [lastNumber(text, usage.input), lastNumber(text, usage.output)];
    return {
      ending: isAnswered ? 'answered' : status === 200 && this.hasContent ? 'cut' : 'failed',
      status,
      traceId: /\r\nx-trace-id: *([0-9a-f]+)/i.exec(this.#head)?.[1] ?? null,
      usage: input === null || output === null ? null : { input, output },
      isRescued: text.includes('"headgate":{"rescued":true}'),
    };
  }

  #readHead(): void {
    const received = Buffer.concat(this.#chunks);
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    this.#head = received.toString('latin1', 0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head)?.[1];
    if (length !== undefined) this.#bodyBytesLeft = Number(length) - (received.length - headEnd - 4);
  }

  /** No event of a stream and no JSON has a carriage return of its own. */
  #endsInLastChunk(): boolean {
    return this.#latest(lastChunk.length).toString('latin1').endsWith(lastChunk);
  }

  /** The latest bytes, with as much before them as a mark of so many bytes may have begun in. */
  #latest(markBytes: number): Buffer {
    return Buffer.concat(this.#chunks.slice(-markBytes));
  }
}

/** Counts grow while a stream goes on: the last one said is the one that holds. */
function lastNumber(text: string, pattern: RegExp): number | null {
  const last = [...text.matchAll(new RegExp(pattern, 'g'))].at(-1)?.[1];
  return last === undefined ? null : Number(last);
}
