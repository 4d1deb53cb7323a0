import { dataStart, readSseEvent } from '../bytes/sse.ts';
import type { AnswerReading, FrameRole, Reading, UpstreamRefusal } from '../protocol.ts';
import { answeredStatus, parseJson, readErrorValue, refusalOf } from '../refusal.ts';
import type { Dialect } from '../request.ts';
import { FrameReader } from '../stream-reader.ts';
import { type FinishReason, readFinishReason } from '../turn-event.ts';
import type { Usage } from '../usage.ts';
import { readUsage } from './meter.ts';
import { ChunkWalk } from './walk.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class ChatStreamReader extends FrameReader {
  readonly #dialect: Dialect;
  readonly reading: RunningReading;
  #chunk = new ChunkWalk(new Uint8Array(0), 0);
  /** Tells of each choice seen so far, by its index, if it has finished. */
  readonly #choices = new Map<number, boolean>();

  constructor(dialect: Dialect) {
    super();
    this.#dialect = dialect;
    this.reading = new RunningReading(dialect);
  }

  protected readOther(frame: Uint8Array): FrameRole {
    const at = dataStart(frame);
    if (at === -1 || !this.#walk(frame, at)) return this.#readUnusual(frame);
    const role = this.#takeChunk();
    const text = role === 'content' ? this.#chunk.onlyText : null;
    if (text !== null) this.plain.learn(frame, text, this.#chunk.padding);
    return role;
  }

  isWholeWithoutTerminal(): boolean {
    return (
      this.#dialect.streamEnd === 'finish-reason' &&
      this.reading.finishReasonRaw !== null &&
      this.#choices.values().every((isFinished) => isFinished) &&
      this.refusal === null
    );
  }

  /** Comments, `[DONE]`, named events, data over several lines, and what is no event stream at all. */
  #readUnusual(frame: Uint8Array): FrameRole {
    const event = readSseEvent(frame);
    // An answer that is not framed: JSON or HTML under the name of an event stream.
    if (!event.isWellFormed) return this.fail(refusalInPlaceOfAnswer(decoder.decode(frame)));
    const data = event.data?.trim() ?? '';
    if (data === '[DONE]') return 'terminal';
    if (data === '' || event.name === 'ping') return 'liveness';
    const isChunk = event.name !== 'error' && this.#walk(encoder.encode(data), 0);
    return isChunk ? this.#takeChunk() : this.fail(refusalInPlaceOfAnswer(data));
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
    for (const index of chunk.openChoices) this.#choices.set(index, this.#choices.get(index) ?? false);
    for (const index of chunk.finishedChoices) this.#choices.set(index, true);
    if (chunk.hasOutput) return 'content';
    if (chunk.finishReason !== null) return 'finish';
    return chunk.choices === 0 && chunk.hasUsage ? 'usage' : 'preamble';
  }
}

/** One answer as far as it has been read; a stream takes a chunk at a time, a JSON answer is one. */
export class RunningReading implements Reading {
  readonly #dialect: Dialect;
  usage: Usage | null = null;
  finishReasonRaw: string | null = null;
  modelServed: string | null = null;
  /** Counts output that can be seen; reasoning that is kept back shows in `usage` alone. */
  hasOutput = false;
  outputBytes = 0;
  usageAtOutputBytes = 0;
  #hasToolCalls = false;
  #hasRefusal = false;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  take(chunk: ChunkWalk): void {
    this.finishReasonRaw = chunk.finishReason ?? this.finishReasonRaw;
    this.modelServed ??= chunk.model;
    this.hasOutput ||= chunk.hasOutput;
    this.outputBytes += chunk.outputBytes;
    if (chunk.hasUsage) this.#takeUsage(chunk.usage);
    this.#hasToolCalls ||= chunk.hasToolCalls;
    this.#hasRefusal ||= chunk.hasRefusal;
  }

  /** Usage is cumulative where it is repeated: the last one counts, and it covers the chunk it came with. */
  #takeUsage(wire: unknown): void {
    const usage = readUsage(wire, this.#dialect);
    if (usage === null) return;
    this.usage = usage;
    this.usageAtOutputBytes = this.outputBytes;
  }

  /** Servers say `stop` for tool calls, too, and always for a refusal: what was produced knows better. */
  get finishReason(): FinishReason | null {
    if (this.finishReasonRaw === null) return null;
    const reason = readFinishReason(this.finishReasonRaw);
    if (reason === 'stop' && this.#hasToolCalls) return 'tool-calls';
    if (reason === 'stop' && this.#hasRefusal) return 'refusal';
    return reason;
  }
}

/** The error a chunk or an answer carries in the place of content; null when it is none. */
function refusalIn(chunk: ChunkWalk): UpstreamRefusal | null {
  if (chunk.hasError) return refusalOf({ error: chunk.error }, 'an error without words');
  const finish = chunk.finishReason;
  if (finish !== null && readFinishReason(finish) === 'error')
    return refusalOf({ error: { code: finish } }, finish);
  // Some servers put the error at the top, where an answer has its choices.
  return chunk.hasChoices || chunk.hasUsage ? null : readErrorValue(answeredStatus, chunk.value);
}

/** Reads text that is neither a chunk nor an answer. */
function refusalInPlaceOfAnswer(text: string): UpstreamRefusal {
  return refusalOf(parseJson(text), text);
}

/** Reads a whole JSON answer of status 200, which may be an error all the same. */
export function readAnswer(body: Uint8Array, dialect: Dialect): AnswerReading {
  const answer = new ChunkWalk(body, 0);
  if (!answer.isWhole) return refuse(body);
  const refusal = refusalIn(answer);
  if (refusal !== null) return { kind: 'refusal', refusal };
  if (!answer.hasChoices) return refuse(body);
  const reading = new RunningReading(dialect);
  reading.take(answer);
  return { kind: 'answer', reading };
}

function refuse(body: Uint8Array): AnswerReading {
  return { kind: 'refusal', refusal: refusalInPlaceOfAnswer(decoder.decode(body)) };
}
