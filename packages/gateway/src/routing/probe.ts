import { concatBytes, type Protocol, type SmallestCall } from '@headgate/protocols';
import type { Target } from '../core/catalogue.ts';
import type { Outcome } from '../core/route/outcome/outcome.ts';
import { retryAfterMs } from '../core/route/outcome/retry-after.ts';
import type { Flight } from '../core/route/router.ts';
import { alertBug } from '../pipeline/alert-bug.ts';
import { isBlank, refusedAs } from '../pipeline/answer.ts';
import { RefusalAnswer } from '../pipeline/refusal-answer.ts';
import { type Guard, guard, type Watchdog } from '../pipeline/watchdog.ts';
import type { Clock } from '../ports/clock.ts';
import type { Observer } from '../ports/observer.ts';
import type { Upstream } from '../ports/upstream.ts';
import type {
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamHead,
} from '../ports/upstream-client.ts';

/** An answer of one token is no longer. */
const answerBytesMax = 256 * 1024;

export interface ProbeParts {
  readonly upstream: Upstream;
  readonly watchdog: Watchdog;
  readonly clock: Clock;
  readonly observer: Observer;
}

/** What is asked of whom. */
export interface ProbeQuestion {
  readonly target: Target;
  readonly protocol: Protocol;
  readonly call: SmallestCall;
  readonly flight: Flight;
}

/** One request for one token, read as strictly as a caller's: a page, a fault or nothing inside a 200 is a failure. */
export class Probe implements UpstreamHandler {
  readonly #parts: ProbeParts;
  readonly #question: ProbeQuestion;
  readonly #onOutcome: (outcome: Outcome) => void;
  readonly #guard: Guard;
  #exchange: UpstreamExchange | null = null;
  #refusal: RefusalAnswer | null = null;
  #hasHead = false;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;
  #done = false;

  constructor(parts: ProbeParts, question: ProbeQuestion, onOutcome: (outcome: Outcome) => void) {
    this.#parts = parts;
    this.#question = question;
    this.#onOutcome = onOutcome;
    const expiresAt = parts.clock.monotonic() + question.flight.firstContentMs;
    this.#guard = guard(expiresAt, () => this.#expire());
  }

  start(): void {
    this.#safely(() => this.#send());
  }

  #send(): void {
    const { target, call, flight } = this.#question;
    this.#parts.watchdog.watch(this.#guard);
    this.#exchange = this.#parts.upstream.send(
      {
        channel: target.channel,
        credential: flight.credential,
        method: 'POST',
        path: call.path,
        headers: call.headers,
        body: [call.body],
        fresh: false,
      },
      this,
    );
  }

  /** Our process stops: that says nothing of the target. */
  abort(): void {
    this.#finish({ kind: 'shut-down', committed: false, reading: null });
  }

  onHead(head: UpstreamHead): void {
    this.#safely(() => this.#takeHead(head));
  }

  onData(chunk: Uint8Array): void {
    this.#safely(() => this.#takeChunk(chunk));
  }

  onEnd(): void {
    this.#safely(() => this.#finish(this.#refusal?.end() ?? this.#read()));
  }

  #takeHead(head: UpstreamHead): void {
    this.#hasHead = true;
    const nowMs = this.#parts.clock.now();
    this.#question.flight.told(head.headers, nowMs);
    if (head.status >= 200 && head.status <= 299) return;
    this.#refusal = new RefusalAnswer(this.#question.protocol, head.status, retryAfterMs(head, nowMs));
  }

  onFailure({ kind, detail }: UpstreamFailure): void {
    if (kind === 'connect-timeout') this.#finish(timedOut('connect'));
    else if (this.#hasHead) this.#finish({ kind: 'cut', committed: false, detail, reading: null });
    else this.#finish({ kind: 'unreachable', detail: `${kind}: ${detail}`, sent: true });
  }

  /** What is thrown in a step is a bug, and the probe's outcome. */
  #safely(step: () => void): void {
    if (this.#done) return;
    try {
      step();
    } catch (error) {
      alertBug(error, 'probe', this.#parts.observer);
      this.#finish({ kind: 'bug', committed: false, reading: null });
    }
  }

  #takeChunk(chunk: Uint8Array): void {
    const outcome = this.#refusal === null ? this.#collect(chunk) : this.#refusal.read(chunk);
    if (outcome !== null) this.#finish(outcome);
  }

  #collect(chunk: Uint8Array): Outcome | null {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    return this.#length > answerBytesMax ? refusedAs('garbled', 'more than one token can be') : null;
  }

  #read(): Outcome {
    const { protocol, target } = this.#question;
    const answer = protocol.readAnswer(concatBytes(this.#chunks), target.channel.provider.dialect);
    if (answer.kind === 'refusal') return { kind: 'refused', refusal: answer.refusal, retryAfterMs: null };
    // A model that has only begun to think says nothing, and why it stopped.
    if (isBlank(answer.reading)) return refusedAs('blank', 'an empty answer');
    return { kind: 'answered', reading: answer.reading };
  }

  #expire(): void {
    this.#finish(timedOut('first-content'));
  }

  /** The connection is let go of unless the answer has been read to its end. */
  #finish(outcome: Outcome): void {
    if (this.#done) return;
    this.#done = true;
    this.#parts.watchdog.release(this.#guard);
    this.#question.flight.ended(outcome, this.#parts.clock.now());
    this.#exchange?.abort();
    this.#onOutcome(outcome);
  }
}

function timedOut(phase: 'connect' | 'first-content'): Outcome {
  return { kind: 'timed-out', phase, committed: false, reading: null };
}
