import type { TextSpan } from '../bytes/json-text.ts';
import { skipSpace } from '../bytes/scan.ts';
import { dataStart } from '../bytes/sse.ts';
import type { FrameRole } from '../protocol.ts';
import type { StreamFraming } from '../request.ts';
import { FinishedChoices, FrameReader } from '../stream-reader.ts';
import { NativeReading, refusalIn } from './meter.ts';
import { ChunkWalk } from './walk.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const closingBracket = 0x5d;
const space = 0x20;
const lineFeed = 0x0a;

/** The place of the counts of a chunk that is content and no more, and whether they cover it. Bytes. */
interface PlainCounts {
  readonly behindText: number;
  readonly beforeEnd: number;
  readonly coverOutput: boolean;
}

/** Reads a stream of either framing: its chunks are the same objects. */
export class GenerateContentStreamReader extends FrameReader {
  readonly #framing: StreamFraming;
  readonly reading = new NativeReading();
  #chunk = new ChunkWalk(new Uint8Array(0), 0);
  readonly #candidates = new FinishedChoices(0);
  #isOpen = false;
  #counts: PlainCounts | null = null;

  constructor(framing: StreamFraming) {
    super();
    this.#framing = framing;
  }

  protected readOther(frame: Uint8Array): FrameRole {
    return this.#framing === 'sse' ? this.#readEvent(frame) : this.#readElement(frame);
  }

  /** Counts are cumulative: those of the last frame are taken. */
  protected override takePlain(bytes: Uint8Array, end: number): void {
    super.takePlain(bytes, end);
    const counts = this.#counts;
    if (counts === null) return;
    const usage = bytes.slice(this.plain.textEnd + counts.behindText, end - counts.beforeEnd);
    this.reading.takeCounts(usage, counts.coverOutput);
  }

  #learn(frame: Uint8Array): void {
    const text = this.#chunk.onlyText;
    if (text === null) return;
    const usage = this.#chunk.hasCounts ? this.#chunk.usageSpan : null;
    this.plain.learn(frame, text, usage === null ? [] : numbersIn(frame, usage));
    if (this.plain.last !== 'lesson') return;
    this.#counts = usage && {
      behindText: usage.start - text.end,
      beforeEnd: frame.length - usage.end,
      coverOutput: this.#chunk.countsCandidates,
    };
  }

  /** A stream of events has no last frame: it ends with the connection. An array ends with its bracket. */
  override mayHaveEnded(): boolean {
    return this.#framing === 'sse' && this.isWholeWithoutTerminal();
  }

  override missingEnd(): Uint8Array {
    return this.#framing === 'sse' ? super.missingEnd() : Uint8Array.of(closingBracket);
  }

  isWholeWithoutTerminal(): boolean {
    return this.reading.finishReasonRaw !== null && this.#candidates.areAll && this.refusal === null;
  }

  #readEvent(frame: Uint8Array): FrameRole {
    // The line end of the frame before may have been cut in two.
    const at = dataStart(frame, frame[0] === lineFeed ? 1 : 0);
    // Some clients of this protocol know no data without a space before it.
    if (at === -1 || frame[at] !== space || !this.#walk(frame, at)) return this.readUnusual(frame);
    const role = this.#takeChunk();
    if (role === 'content') this.#learn(frame);
    return role;
  }

  protected readData(data: string, name: string | null, frame: Uint8Array): FrameRole {
    // The end of the line end of the frame before.
    if (frame.every((byte) => byte <= 0x20)) return 'liveness';
    // Comments and `[DONE]`, which callers of this protocol do not know.
    if (data === '' || data === '[DONE]') return 'foreign';
    const isChunk = name !== 'error' && this.#walk(encoder.encode(data), 0);
    // Its clients look for data at the beginning of an event and nowhere else.
    if (isChunk) this.retell({ name: null, data });
    return isChunk ? this.#takeChunk() : this.failWith(data);
  }

  #readElement(frame: Uint8Array): FrameRole {
    const at = this.#elementStart(frame);
    // The line end of the last element.
    if (at === frame.length && this.#isOpen) return 'foreign';
    if (frame[at] === closingBracket) return this.#readClosing(frame, at);
    if (this.#walk(frame, at) && this.#isOpen) return this.#takeChunk();
    // An object by itself is an error, or an answer that nobody could read as a stream.
    return this.failWith(decoder.decode(frame));
  }

  /** Behind the bracket that opens the array, or the comma. */
  #elementStart(frame: Uint8Array): number {
    const at = skipSpace(frame, 0);
    const isOpening = frame[at] === 0x5b && !this.#isOpen;
    if (isOpening) this.#isOpen = true;
    return isOpening || (frame[at] === 0x2c && this.#isOpen) ? skipSpace(frame, at + 1) : at;
  }

  #readClosing(frame: Uint8Array, at: number): FrameRole {
    const isLast = skipSpace(frame, at + 1) === frame.length;
    if (isLast && this.#isOpen && this.isWholeWithoutTerminal()) return 'terminal';
    return this.failWith('the array ended before the answer did');
  }

  #walk(bytes: Uint8Array, at: number): boolean {
    this.#chunk = new ChunkWalk(bytes, at);
    return this.#chunk.isWhole;
  }

  #takeChunk(): FrameRole {
    const chunk = this.#chunk;
    const refusal = refusalIn(chunk);
    if (refusal !== null) return this.fail(refusal);
    this.reading.take(chunk);
    this.#candidates.take(chunk.openCandidates, chunk.finishedCandidates);
    if (chunk.hasOutput) return 'content';
    return this.reading.finishReasonRaw === null ? 'preamble' : 'finish';
  }
}

/** All whole numbers that stand in an object, at any depth; none where a character takes more than a byte. */
function numbersIn(bytes: Uint8Array, { start, end }: TextSpan): readonly TextSpan[] {
  const text = decoder.decode(bytes.subarray(start, end));
  if (text.length !== end - start) return [];
  return Array.from(text.matchAll(/(?<=[:[,]\s*)\d+(?=\s*[,\]}])/g), (found) => ({
    start: start + found.index,
    end: start + found.index + found[0].length,
  }));
}
