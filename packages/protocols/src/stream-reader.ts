import { FrameTemplate } from './bytes/frame-template.ts';
import type { FrameRole, Reading, StreamReader, UpstreamRefusal } from './protocol.ts';

/** Readers of streams share this: frames that are known by their likeness to an earlier one, and the first error. */
export abstract class FrameReader implements StreamReader {
  abstract readonly reading: Reading & { outputBytes: number };
  readonly plain = new FrameTemplate();
  refusal: UpstreamRefusal | null = null;

  read(frame: Uint8Array): FrameRole {
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

  /** Takes a frame that is like no other. */
  protected abstract readOther(frame: Uint8Array): FrameRole;

  /** Takes what `plain` has matched, of which the last frame ends at `end`. */
  protected takePlain(_bytes: Uint8Array, _end: number): void {
    this.reading.outputBytes += this.plain.textBytes;
  }

  protected fail(refusal: UpstreamRefusal): FrameRole {
    this.refusal ??= refusal;
    return refusal.kind === 'garbled' ? 'garbled' : 'error';
  }
}
