import { type ImageCount, type ImageKind, kindWord, noImageKind } from '../image-kind.ts';
import type { Reading } from '../protocol.ts';
import type { Usage } from '../usage.ts';
import type { Members } from './members.ts';
import { addImageUsage, readUsage } from './meter.ts';
import type { AnswerMember } from './wire.ts';

/** What has been read of one answer so far. Images are counted as pieces beside the tokens the upstream reports. */
export class RunningReading implements Reading {
  readonly finishReason = null;
  readonly finishReasonRaw = null;
  readonly outputBytes = 0;
  readonly usageAtOutputBytes = 0;
  modelServed: string | null = null;
  #tokens: Usage | null = null;
  #kind: ImageKind = noImageKind;
  #finished = 0;
  #drafts = 0;

  get usage(): Usage | null {
    return this.#tokens === null ? null : { ...this.#tokens, images: this.#finished };
  }

  get hasOutput(): boolean {
    return this.#finished + this.#drafts > 0;
  }

  get images(): ImageCount {
    return { finished: this.#finished, drafts: this.#drafts, kind: this.#kind };
  }

  takeDraft(): void {
    this.#drafts++;
  }

  takeImage(): void {
    this.#finished++;
    this.#drafts = 0;
  }

  /** What an answer, or the event that ends an image, says about itself. */
  takeTerms(members: Members<AnswerMember>): void {
    this.#kind = {
      size: kindWord(members.value('size')) ?? this.#kind.size,
      quality: kindWord(members.value('quality')) ?? this.#kind.quality,
    };
    const model = members.value('model');
    if (typeof model === 'string' && model !== '') this.modelServed = model;
    this.#tokens = addImageUsage(this.#tokens, readUsage(members.value('usage')));
  }
}
