import type { FinishReason } from '../finish-reason.ts';
import { readFinishReason } from '../finish-reason.ts';
import type { Dialect } from '../inbound-request.ts';
import type { Reading, UpstreamRefusal } from '../protocol.ts';
import { answeredStatus, parseJson, readErrorValue, refusalOf } from '../refusal.ts';
import type { Usage } from '../usage.ts';
import type { ChunkWalk } from './chunk-walk.ts';
import { readUsage } from './meter.ts';

/** What has been read of one answer so far; a stream takes a chunk at a time, a JSON answer is one. */
export class RunningReading implements Reading {
  readonly #dialect: Dialect;
  usage: Usage | null = null;
  finishReasonRaw: string | null = null;
  modelServed: string | null = null;
  /** Of what can be seen; reasoning that is kept back shows in `usage` alone. */
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
export function refusalIn(chunk: ChunkWalk): UpstreamRefusal | null {
  if (chunk.hasError) return refusalOf({ error: chunk.error }, 'an error without words');
  const finish = chunk.finishReason;
  if (finish !== null && readFinishReason(finish) === 'error')
    return refusalOf({ error: { code: finish } }, finish);
  // Some servers put the error at the top, where an answer has its choices.
  return chunk.hasChoices || chunk.hasUsage ? null : readErrorValue(answeredStatus, chunk.value);
}

/** What text that is neither a chunk nor an answer says. */
export function refusalInPlaceOfAnswer(text: string): UpstreamRefusal {
  return refusalOf(parseJson(text), text);
}
