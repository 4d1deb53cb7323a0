import { readStatedCost, serviceOf } from '../billing.ts';
import { dataStart } from '../bytes/sse.ts';
import type { AnswerReading, FrameRole, UpstreamRefusal } from '../protocol.ts';
import { answeredStatus, readErrorValue, refusalOf } from '../refusal.ts';
import type { Dialect } from '../request.ts';
import { FinishedChoices, FrameReader, notAnAnswer, RunningReading } from '../stream-reader.ts';
import { readFinishReason } from '../turn-event.ts';
import { noTerms, termWord, type Usage, type UsageTerms, usualTerms } from '../usage.ts';
import { isRecord } from '../wire-values.ts';
import { readUsage } from './meter.ts';
import { ChunkWalk } from './walk.ts';

const encoder = new TextEncoder();
const doneFrame = encoder.encode('data: [DONE]\n\n');

export class ChatStreamReader extends FrameReader {
  readonly #dialect: Dialect;
  readonly reading: ChatReading;
  #chunk = new ChunkWalk(new Uint8Array(0), 0);
  readonly #choices: FinishedChoices;

  constructor(dialect: Dialect, choices = 1) {
    super();
    this.#dialect = dialect;
    this.#choices = new FinishedChoices(choices);
    this.reading = new ChatReading(dialect);
  }

  protected readOther(frame: Uint8Array): FrameRole {
    const at = dataStart(frame);
    if (at === -1 || !this.#walk(frame, at)) return this.readUnusual(frame);
    const role = this.#takeChunk();
    const text = role === 'content' ? this.#chunk.onlyText : null;
    if (text !== null) this.plain.learn(frame, text, this.#chunk.padding);
    return role;
  }

  isWholeWithoutTerminal(): boolean {
    return (
      this.#dialect.streamEnd === 'finish-reason' &&
      this.reading.finishReasonRaw !== null &&
      this.#choices.areAll &&
      this.refusal === null
    );
  }

  override missingEnd(): Uint8Array {
    return doneFrame;
  }

  protected readData(data: string, name: string | null, frame: Uint8Array): FrameRole {
    if (data === '[DONE]') return 'terminal';
    if (data === '' || name === 'ping') return this.liveness(frame, data);
    const isChunk = name !== 'error' && this.#walk(encoder.encode(data), 0);
    return isChunk ? this.#takeChunk() : this.failWith(data);
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
    this.#choices.take(chunk.openChoices, chunk.finishedChoices);
    if (chunk.hasOutput) return 'content';
    if (chunk.finishReason !== null) return 'finish';
    return chunk.choices === 0 && chunk.hasUsage ? 'usage' : 'preamble';
  }
}

/** A stream takes a chunk at a time; a JSON answer is one. */
class ChatReading extends RunningReading {
  usage: Usage | null = null;
  terms: UsageTerms = noTerms;
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    super();
    this.#dialect = dialect;
  }

  take(chunk: ChunkWalk): void {
    this.finishReasonRaw = chunk.finishReason ?? this.finishReasonRaw;
    this.modelServed ??= chunk.model;
    this.hasOutput ||= chunk.hasOutput;
    this.outputBytes += chunk.outputBytes;
    if (chunk.hasUsage) this.#takeUsageOf(chunk.usage);
    if (chunk.isUsualService && this.terms === noTerms) this.terms = usualTerms;
    else if (chunk.hasService) this.takeTerm('service', serviceOf(chunk.service));
    this.hasCalls ||= chunk.hasToolCalls;
    this.hasRefusal ||= chunk.hasRefusal;
  }

  #takeUsageOf(wire: unknown): void {
    this.takeUsage(readUsage(wire, this.#dialect));
    const { statedCost } = this.#dialect;
    if (statedCost !== null) this.statedCostUsd = readStatedCost(wire, statedCost) ?? this.statedCostUsd;
    if (isRecord(wire) && 'search_context_size' in wire)
      this.takeTerm('searchContext', termWord(wire['search_context_size']));
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

/** Whatever its usage says: there is nothing to be read. */
const withoutChoices: UpstreamRefusal = {
  kind: 'blank',
  status: answeredStatus,
  message: 'an answer without choices',
  type: null,
  code: null,
  param: null,
};

/** Reads a whole JSON answer of status 200, which may be an error all the same. */
export function readAnswer(body: Uint8Array, dialect: Dialect): AnswerReading {
  const answer = new ChunkWalk(body, 0);
  if (!answer.isWhole) return notAnAnswer(body);
  const refusal = refusalIn(answer);
  if (refusal !== null) return { kind: 'refusal', refusal };
  if (!answer.hasChoices) return notAnAnswer(body);
  if (answer.choices === 0) return { kind: 'refusal', refusal: withoutChoices };
  const reading = new ChatReading(dialect);
  reading.take(answer);
  return { kind: 'answer', reading };
}
