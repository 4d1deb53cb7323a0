import { FrameTemplate } from './bytes/frame-template.ts';
import { readSseEvent, type SseEvent } from './bytes/sse.ts';
import type { AnswerReading, FrameRole, Reading, StreamReader, UpstreamRefusal } from './protocol.ts';
import { errorCharsMax, parseError, refusalOf } from './refusal.ts';
import { type FinishReason, readFinishReason } from './turn-event.ts';
import type { Usage, UsageTerms } from './usage.ts';

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const noBytes = new Uint8Array(0);

/** A sign of life that no client takes for an event. */
const bareComment = encoder.encode(':\n\n');

/** Tells if a line is no comment. */
const isField = (line: string): boolean => line !== '' && !line.startsWith(':');

/** Readers of streams share this: frames that are known by their likeness to an earlier one, and the first error. */
export abstract class FrameReader implements StreamReader {
  abstract readonly reading: Reading & { outputBytes: number };
  readonly plain = new FrameTemplate();
  refusal: UpstreamRefusal | null = null;
  retold: Uint8Array | null = null;
  skipped = 0;

  read(frame: Uint8Array): FrameRole {
    this.retold = null;
    if (!this.plain.matches(frame)) return this.readOther(frame);
    this.takePlain(frame, frame.length);
    return 'content';
  }

  takeTexts(chunk: Uint8Array, at: number): number {
    const end = this.plain.matchRow(chunk, at);
    if (end > at) this.takePlain(chunk, end);
    return end;
  }

  abstract isWholeWithoutTerminal(): boolean;

  mayHaveEnded(): boolean {
    return false;
  }

  missingEnd(): Uint8Array {
    return noBytes;
  }

  /** Takes a frame that is like no other. */
  protected abstract readOther(frame: Uint8Array): FrameRole;

  /** Takes the data of an event that is not of the usual shape: comments, several lines, and what has no data at all. */
  protected abstract readData(data: string, name: string | null, frame: Uint8Array): FrameRole;

  protected readUnusual(frame: Uint8Array): FrameRole {
    const { isWellFormed, name, data } = readSseEvent(frame);
    // An answer that is not framed: JSON or HTML under the name of an event stream.
    if (!isWellFormed) return this.skipOrFail(decoder.decode(frame));
    return this.readData(data?.trim() ?? '', name, frame);
  }

  /** Has the caller read the frame at hand as this event. */
  protected retell({ name, data }: Pick<SseEvent, 'name' | 'data'>): void {
    const named = name === null ? '' : `event: ${name}\n`;
    this.retold = encoder.encode(`${named}data: ${(data ?? '').replaceAll('\n', ' ')}\n\n`);
  }

  /**
   * Takes a frame that only says that the call lives. Clients parse the data of every event, also where there is none, and `[DONE]`
   * ends all they read.
   */
  protected liveness(frame: Uint8Array, data: string): FrameRole {
    const isEmpty = data === '' || data === '[DONE]';
    if (
      isEmpty &&
      decoder
        .decode(frame)
        .split(/[\r\n]+/)
        .some(isField)
    )
      this.retold = bareComment;
    return 'liveness';
  }

  /**
   * Passes over text that no client of the protocol sees, in the midst of an answer: before it another channel may do better,
   * and an error is one wherever it stands.
   */
  protected skipOrFail(text: string): FrameRole {
    const refusal = refusalOf(parseError(text), text);
    if (!this.reading.hasOutput || refusal.kind !== 'garbled') return this.fail(refusal);
    this.skipped++;
    return 'foreign';
  }

  /** Takes what `plain` has matched, of which the last frame ends at `end`. */
  protected takePlain(_bytes: Uint8Array, _end: number): void {
    this.reading.outputBytes += this.plain.textBytes;
  }

  /** Fails with text in the place of a frame. */
  protected failWith(text: string): FrameRole {
    return this.fail(refusalOf(parseError(text), text));
  }

  protected fail(refusal: UpstreamRefusal): FrameRole {
    this.refusal ??= refusal;
    return refusal.kind === 'garbled' ? 'garbled' : 'error';
  }
}

/** One answer as far as it has been read. */
export abstract class RunningReading implements Reading {
  abstract usage: Usage | null;
  abstract terms: UsageTerms;
  finishReasonRaw: string | null = null;
  modelServed: string | null = null;
  answerId: string | null = null;
  /** Counts output that can be seen; reasoning that is kept back shows in `usage` alone. */
  hasOutput = false;
  outputBytes = 0;
  usageAtOutputBytes = 0;
  statedCostUsd: string | null = null;
  protected hasCalls = false;
  protected hasRefusal = false;
  protected readonly readReason: (raw: string) => FinishReason = readFinishReason;

  /** Servers say `stop` for tool calls, too, and always for a refusal: what was produced knows better. */
  get finishReason(): FinishReason | null {
    const reason = this.finishReasonRaw === null ? null : this.readReason(this.finishReasonRaw);
    if (reason === 'stop' && this.hasCalls) return 'tool-calls';
    return reason === 'stop' && this.hasRefusal ? 'refusal' : reason;
  }

  /** Takes a word of the answer's on its terms; null is none. */
  protected takeTerm(name: 'service' | 'region' | 'searchContext', word: string | null): void {
    if (word !== null && word !== this.terms[name]) this.terms = { ...this.terms, [name]: word };
  }

  /** Usage is cumulative where it is repeated: the last one counts, and it covers the output it came with. */
  protected takeUsage(usage: Usage | null): void {
    if (usage === null) return;
    this.usage = usage;
    this.usageAtOutputBytes = this.outputBytes;
  }
}

/** The answers of one stream, told apart by their index, as far as they have finished. */
export class FinishedChoices {
  readonly #seen = new Map<number, boolean>();
  readonly #least: number;

  /** @param least so many have to come. */
  constructor(least = 1) {
    this.#least = least;
  }

  get areAll(): boolean {
    return this.#seen.size >= this.#least && this.#seen.values().every((isFinished) => isFinished);
  }

  take(open: readonly number[], finished: readonly number[]): void {
    for (const index of open) if (!this.#seen.has(index)) this.#seen.set(index, false);
    for (const index of finished) this.#seen.set(index, true);
  }
}

/** A body of status 200 that is no answer of the protocol: an error, or nothing that is known. */
export function notAnAnswer(body: Uint8Array): AnswerReading {
  // A byte more tells that it is too long to be read.
  const text = decoder.decode(body.subarray(0, errorCharsMax + 1));
  return { kind: 'refusal', refusal: refusalOf(parseError(text), text) };
}
