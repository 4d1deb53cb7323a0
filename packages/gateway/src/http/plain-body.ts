import type { Fault } from '@headgate/protocols';
import type { MemoryShare } from '../ports/data-plane.ts';
import { crowded } from '../route/faults.ts';
import { type BodyPlaces, type BodyTaker, GrowingBytes, tooLarge } from './body.ts';

/** The body of one request of the plain lane while it comes, wanted or not. */
export class BodyIntake {
  taker: BodyTaker | null = null;
  progress: ChunkProgress = 'more';
  readonly #length: number;
  readonly #headText: string;
  readonly #places: BodyPlaces;
  #remaining: number;
  readonly #chunks: ChunkReader | null;
  /** Null while nobody wants them. */
  #bytes: GrowingBytes | null = null;
  #bytesMax = 0;

  /** `length` is -1 for a body in chunks; `headText` is the head without its empty line. */
  constructor(length: number, headText: string, places: BodyPlaces) {
    this.#length = length;
    this.#headText = headText;
    this.#places = places;
    this.#remaining = length;
    this.#chunks = length === -1 ? new ChunkReader((data) => this.#append(data)) : null;
  }

  /** From here on the bytes are kept, up to `bytesMax`. */
  give(taker: BodyTaker, bytesMax: number, memory: MemoryShare): void {
    this.taker = taker;
    this.#bytesMax = bytesMax;
    this.#bytes = new GrowingBytes(Math.max(0, this.#length), bytesMax, this.#places, memory);
  }

  /** Bytes that are still to come; less than nothing when that is not known. */
  get remaining(): number {
    return this.#remaining;
  }

  /** Asks where its next bytes belong: in `waste` when nobody wants them; null when chunks are around them. */
  room(waste: Buffer): Buffer | null {
    if (this.#bytes !== null) return this.#bytes.room();
    return this.#remaining > 0 ? waste.subarray(0, this.#remaining) : null;
  }

  /** Takes the next bytes. When `progress` says anything but `more`, the result is the index of the first byte not taken. */
  take(bytes: Buffer): number {
    if (this.#chunks !== null) {
      this.progress = this.#chunks.read(bytes);
      return this.#chunks.end;
    }
    const end = Math.min(bytes.length, this.#remaining);
    this.#remaining -= end;
    if (this.#remaining === 0) this.progress = 'whole';
    this.#append(end === bytes.length ? bytes : bytes.subarray(0, end));
    return end;
  }

  complete(): void {
    if (this.#bytes !== null) this.taker?.onBody(this.#bytes.all(), this.#bytes);
  }

  /** Gives up the request up to the first byte that is odd, to another parser: its data so far is one chunk. */
  asReceived(): Buffer {
    const data = this.#bytes?.all() ?? new Uint8Array(0);
    const size = data.length === 0 ? '' : `${data.length.toString(16)}\r\n`;
    const before = Buffer.from(`${this.#headText}\r\n${size}`, 'latin1');
    const received = Buffer.concat([before, data, Buffer.from(this.#chunks?.unread ?? '', 'latin1')]);
    this.#bytes?.giveBack();
    return received;
  }

  #append(data: Buffer): void {
    const bytes = this.#bytes;
    if (bytes === null) return;
    if (bytes.length + data.length > this.#bytesMax) this.#refuse(tooLarge(this.#bytesMax));
    else if (!bytes.append(data)) this.#refuse(crowded());
  }

  /** The rest of it is read, and not kept. */
  #refuse(failure: Fault): void {
    const { taker } = this;
    this.#bytes?.giveBack();
    this.#bytes = null;
    this.taker = null;
    taker?.onNoBody(failure);
  }
}

/** A line of a chunk's size, with the line end of the data before it; or the end of the body, without trailers. */
const sizeLine = /^\r\n(?:(0)\r\n\r\n|([1-9a-f][\da-f]{0,7})\r\n)/i;
/** Less of it than that. */
const sizeLineBeginning = /^\r(?:\n(?:0(?:\r(?:\n\r?)?)?|[1-9a-f][\da-f]{0,7}\r?)?)?$/i;
/** The longest of such lines. */
const lineLengthMax = 12;

/** Chunks that are read in one turn of the event loop: one by one they cost more than what is in them. */
const chunksMax = 64;

type ChunkProgress = 'more' | 'later' | 'whole' | 'odd';

/**
 * Takes the framing of `transfer-encoding: chunked` off where it is written as everybody writes it (RFC 9112 §7.1): a size
 * of up to eight digits without leading zeros, no extensions, no trailers. Anything else is odd, and not judged here.
 */
class ChunkReader {
  /** Bytes of a line whose end has not come. The first line has no data before it, whose line end is thought of. */
  #line = '\r\n';
  #isFirst = true;
  #remaining = 0;
  readonly #onData: (bytes: Buffer) => void;

  constructor(onData: (bytes: Buffer) => void) {
    this.#onData = onData;
  }

  /** The bytes after the last data that are not part of any yet. Meaningful when the body is odd. */
  get unread(): string {
    return this.#isFirst ? this.#line.slice(2) : this.#line;
  }

  /** Index of the first byte that `read` has not taken; when the body is odd, `unread` comes before it. */
  end = 0;

  /** Takes the next bytes. */
  read(bytes: Buffer): ChunkProgress {
    let at = 0;
    for (let chunks = 0; at < bytes.length; ) {
      if (this.#remaining > 0) {
        const end = Math.min(bytes.length, at + this.#remaining);
        this.#remaining -= end - at;
        this.#onData(bytes.subarray(at, end));
        at = end;
        continue;
      }
      if (chunks === chunksMax) {
        this.end = at;
        return 'later';
      }
      chunks += 1;
      const known = this.#line.length;
      const text =
        this.#line + bytes.toString('latin1', at, Math.min(bytes.length, at + lineLengthMax - known));
      const match = sizeLine.exec(text);
      this.end = match === null ? at : at + match[0].length - known;
      if (match === null) {
        if (!sizeLineBeginning.test(text)) return 'odd';
        this.#line = text;
        return 'more';
      }
      if (match[1] !== undefined) return 'whole';
      this.#remaining = Number.parseInt(match[2] ?? '', 16);
      this.#line = '';
      this.#isFirst = false;
      at = this.end;
    }
    return 'more';
  }
}
