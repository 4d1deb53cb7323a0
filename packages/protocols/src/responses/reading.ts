import { type FinishReason, readFinishReason } from '../finish-reason.ts';
import type { Reading } from '../protocol.ts';
import type { Usage } from '../usage.ts';
import { readUsage } from './meter.ts';
import type { OutputCount } from './output-count.ts';
import type { ResponseWalk } from './response-walk.ts';

/** What has been read of one answer so far: the deltas and items of a stream, then the whole response at its end. */
export class RunningReading implements Reading {
  usage: Usage | null = null;
  finishReasonRaw: string | null = null;
  modelServed: string | null = null;
  answerId: string | null = null;
  hasOutput = false;
  outputBytes = 0;
  usageAtOutputBytes = 0;
  #hasCalls = false;
  #hasRefusal = false;

  /** Complete answers know no other word: what was produced says why. */
  get finishReason(): FinishReason | null {
    if (this.finishReasonRaw === null) return null;
    const reason = readFinishReason(this.finishReasonRaw);
    if (reason === 'stop' && this.#hasCalls) return 'tool-calls';
    if (reason === 'stop' && this.#hasRefusal) return 'refusal';
    return reason;
  }

  open(response: ResponseWalk | null): void {
    this.modelServed ??= response?.model ?? null;
    this.answerId ??= response?.id ?? null;
  }

  /** Output that has not been seen before. */
  take(output: OutputCount): void {
    this.hasOutput = true;
    this.outputBytes += output.bytes;
    this.know(output);
  }

  /** Output that may have been seen before, for what it says of the whole. */
  know(output: OutputCount): void {
    this.#hasCalls ||= output.hasCalls;
    this.#hasRefusal ||= output.hasRefusal;
  }

  /** The whole response: its items repeat what a stream has brought, unless it brought nothing. */
  close(response: ResponseWalk): void {
    const { output } = response;
    this.open(response);
    if (!this.hasOutput && (output.hasText || output.hasActs || output.hasSeals)) this.take(output);
    else this.know(output);
    this.finishReasonRaw = response.finishReason;
    this.usage = readUsage(response.usage);
    if (this.usage !== null) this.usageAtOutputBytes = this.outputBytes;
  }
}
