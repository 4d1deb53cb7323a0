import { concatBytes, type Protocol, readRetryDelayMs } from '@headgate/protocols';
import type { Outcome } from '../core/route/outcome/outcome.ts';
import type { Answer } from './answer.ts';

/** An error page may be long; this much of it tells all there is to know. */
const refusalBytesMax = 64 * 1024;

/** An answer with an error status. Nothing of it reaches the caller as it is. */
export class RefusalAnswer implements Answer {
  readonly reading = null;
  readonly hasContent = false;
  readonly committed = false;
  readonly callerIsSlow = false;
  readonly ending = null;
  readonly #protocol: Protocol;
  readonly #status: number;
  readonly #retryAfterMs: number | null;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(protocol: Protocol, status: number, retryAfterMs: number | null) {
    this.#protocol = protocol;
    this.#status = status;
    this.#retryAfterMs = retryAfterMs;
  }

  read(chunk: Uint8Array): Outcome | null {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    return this.#length >= refusalBytesMax ? this.end() : null;
  }

  end(): Outcome {
    const body = concatBytes(this.#chunks);
    const refusal = this.#protocol.readRefusal(this.#status, body);
    return { kind: 'refused', refusal, retryAfterMs: this.#retryAfterMs ?? readRetryDelayMs(body) };
  }
}
