import { concatBytes, type Reading } from '@headgate/protocols';
import type { Outcome } from '../core/route/outcome/outcome.ts';
import { type Answer, type AnswerContext, type Ending, isBlank, refusedAs } from './answer.ts';

/**
 * A JSON answer. It is held until it is whole, so that an error inside a 200, a page of HTML or a body that breaks off can
 * still be given to another channel, and so that its entry is durable before the caller sees its last byte.
 */
export class WholeAnswer implements Answer {
  readonly committed = false;
  readonly callerIsSlow = false;
  reading: Reading | null = null;
  hasContent = false;
  ending: Ending | null = null;
  readonly #context: AnswerContext;
  readonly #streamExpected: boolean;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  /** `streamExpected`: the caller asked for a stream, so even a well-formed answer is not what was asked for. */
  constructor(context: AnswerContext, streamExpected: boolean) {
    this.#context = context;
    this.#streamExpected = streamExpected;
  }

  read(chunk: Uint8Array): Outcome | null {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    return this.#length > this.#context.bytesMax
      ? refusedAs('garbled', 'the answer is larger than allowed')
      : null;
  }

  end(): Outcome {
    const body = concatBytes(this.#chunks);
    const { work, lane, dialect, headers } = this.#context;
    const answer = lane.protocol.readAnswer(body, dialect, work);
    if (answer.kind === 'refusal') return { kind: 'refused', refusal: answer.refusal, retryAfterMs: null };
    if (this.#streamExpected) return refusedAs('garbled', 'a whole answer where a stream was asked for');
    if (isBlank(answer.reading)) return refusedAs('blank', 'an empty answer');
    this.reading = answer.reading;
    this.hasContent = answer.reading.hasOutput;
    this.ending = { kind: 'whole', headers, bytes: lane.whole(body) };
    return { kind: 'answered', reading: answer.reading };
  }
}
