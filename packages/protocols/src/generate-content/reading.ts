import { decodeJson } from '../bytes/key-names.ts';
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
  finishReasonRaw: string | null = null;
  modelServed: string | null = null;
  hasOutput = false;
  outputBytes = 0;
  usageAtOutputBytes = 0;
  #usage: Usage | null = null;
  /** Of the usage that has not been read yet; null when there is none. */
  #usageBytes: Uint8Array | null = null;
  #countsOutput = false;
  #hasCalls = false;
  #isBlocked = false;

  take(chunk: ChunkWalk): void {
    this.finishReasonRaw = chunk.finishReason ?? this.finishReasonRaw;
    this.modelServed ??= chunk.model;
    this.hasOutput ||= chunk.hasOutput;
    this.outputBytes += chunk.outputBytes;
    this.#hasCalls ||= chunk.hasCalls;
    this.#takeUsage(chunk);
    if (!chunk.hasCandidates) this.#takeFeedback(chunk.promptFeedback);
  }

  /** Calls finish with an ordinary stop. */
  get finishReason(): FinishReason | null {
    if (this.finishReasonRaw === null) return null;
    if (this.#isBlocked) return 'content-filter';
    const reason = finishReasons.get(this.finishReasonRaw) ?? readFinishReason(this.finishReasonRaw);
    return reason === 'stop' && this.#hasCalls ? 'tool-calls' : reason;
  }

  /** Read when it is asked for: it is on every chunk, and only the last one counts. */
  get usage(): Usage | null {
    if (this.#usageBytes !== null) {
      this.#usage = readUsage(decodeJson(this.#usageBytes, 0, this.#usageBytes.length));
      this.#usageBytes = null;
    }
    return this.#usage;
  }

  /**
   * It is cumulative: the last one counts, and covers the chunk it came with if it counts output. The first ones of a stream
   * count the prompt alone. A count that is missing at the end, where thoughts are counted, is zero.
   */
  #takeUsage(chunk: ChunkWalk): void {
    const isLast = chunk.finishedCandidates.length > 0;
    const countsOutput = chunk.countsCandidates || (isLast && chunk.countsThoughts);
    if (!chunk.hasCounts || (this.#countsOutput && !countsOutput)) return;
    this.#usageBytes = chunk.usageBytes;
    this.#countsOutput = countsOutput;
    if (countsOutput) this.usageAtOutputBytes = this.outputBytes;
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
  const isAnswer = chunk.hasCandidates || chunk.hasUsage || chunk.promptFeedback !== undefined;
  return isAnswer ? null : readErrorValue(answeredStatus, chunk.value);
}

/** What text that is neither a chunk nor an answer says. */
export function refusalInPlaceOfAnswer(text: string): UpstreamRefusal {
  return refusalOf(parseJson(text), text);
}
