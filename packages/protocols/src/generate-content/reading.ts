import { type FinishReason, readFinishReason } from '../finish-reason.ts';
import type { Reading, UpstreamRefusal } from '../protocol.ts';
import { answeredStatus, parseJson, readErrorValue, refusalOf } from '../refusal.ts';
import type { Usage } from '../usage.ts';
import { recordOf } from '../wire-values.ts';
import type { ChunkWalk } from './chunk-walk.ts';
import { readUsage } from './meter.ts';
import { finishReasons } from './wire.ts';

/** What has been read of one answer so far; a stream takes a chunk at a time, a JSON answer is one. */
export class RunningReading implements Reading {
  usage: Usage | null = null;
  finishReasonRaw: string | null = null;
  modelServed: string | null = null;
  hasOutput = false;
  outputBytes = 0;
  usageAtOutputBytes = 0;
  #hasCalls = false;
  #isBlocked = false;

  take(chunk: ChunkWalk): void {
    this.finishReasonRaw = chunk.finishReason ?? this.finishReasonRaw;
    this.modelServed ??= chunk.model;
    this.hasOutput ||= chunk.hasOutput;
    this.outputBytes += chunk.outputBytes;
    this.#hasCalls ||= chunk.hasCalls;
    this.#takeUsage(chunk.usage);
    if (!chunk.hasCandidates) this.#takeFeedback(chunk.promptFeedback);
  }

  /** Calls finish with an ordinary stop. */
  get finishReason(): FinishReason | null {
    if (this.finishReasonRaw === null) return null;
    if (this.#isBlocked) return 'content-filter';
    const reason = finishReasons.get(this.finishReasonRaw) ?? readFinishReason(this.finishReasonRaw);
    return reason === 'stop' && this.#hasCalls ? 'tool-calls' : reason;
  }

  /** It is cumulative and repeated: the last one counts, and covers the chunk it came with if it counts output at all. */
  #takeUsage(wire: unknown): void {
    const counted = readUsage(wire);
    if (counted === null) return;
    this.usage = counted.usage;
    if (counted.countsOutput) this.usageAtOutputBytes = this.outputBytes;
  }

  /** A prompt that is blocked has no candidates: why, is in their place. */
  #takeFeedback(feedback: unknown): void {
    const reason = recordOf(feedback)['blockReason'];
    if (typeof reason !== 'string' || reason === '') return;
    this.#isBlocked = true;
    this.finishReasonRaw = reason;
  }
}

/** The error a chunk or an answer is in the place of content; null when it is none. */
export function refusalIn(chunk: ChunkWalk): UpstreamRefusal | null {
  const { error } = chunk;
  if (error !== undefined) return refusalOf({ error }, 'an error without words');
  const isAnswer = chunk.hasCandidates || chunk.usage !== undefined || chunk.promptFeedback !== undefined;
  return isAnswer ? null : readErrorValue(answeredStatus, chunk.value);
}

/** What text that is neither a chunk nor an answer says. */
export function refusalInPlaceOfAnswer(text: string): UpstreamRefusal {
  return refusalOf(parseJson(text), text);
}
