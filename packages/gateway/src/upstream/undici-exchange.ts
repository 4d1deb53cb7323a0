import { type Dispatcher, errors } from 'undici';
import type { UpstreamExchange, UpstreamFailure, UpstreamHandler } from '../ports/upstream-client.ts';
import { abortedFailure, describeError } from './socket-failure.ts';

/** What a dialer's failure travels in through undici, which only knows errors. */
export class DialError extends Error {
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure) {
    super(failure.detail);
    this.failure = failure;
  }
}

/** How often one undici connection has been used; undici itself does not tell. */
export interface ConnectionUse {
  requests: number;
}

/** One request under way in undici: its handler on the one side, our exchange on the other. */
export class UndiciExchange implements UpstreamExchange, Dispatcher.DispatchHandler {
  readonly #handler: UpstreamHandler;
  readonly #retry: () => void;
  #use: ConnectionUse = { requests: 0 };
  #controller: Dispatcher.DispatchController | null = null;
  #reused = false;
  #retried = false;
  #answerBegan = false;
  #paused = false;
  #finished = false;

  /** @param retry dispatches the exchange once more, on a connection of its own. */
  constructor(handler: UpstreamHandler, retry: () => void) {
    this.#handler = handler;
    this.#retry = retry;
  }

  /** Told by the connection that is going to carry it. */
  assignTo(use: ConnectionUse): void {
    this.#use = use;
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#controller?.resume();
  }

  abort(): void {
    this.fail(abortedFailure);
  }

  /** Ends the exchange, if it has not ended, and tells the handler soon. */
  fail(failure: UpstreamFailure): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#controller?.abort(new errors.RequestAbortedError());
    setImmediate(() => this.#handler.onFailure(failure));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#reused = this.#use.requests > 0;
    this.#use.requests += 1;
    if (this.#finished) controller.abort(new errors.RequestAbortedError());
    else if (this.#paused) controller.pause();
  }

  onResponseStarted(): void {
    this.#answerBegan = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#finished || status < 200) return;
    const joined = Object.entries(headers).map(([name, value]): [string, string] => [
      name,
      joinValues(value),
    ]);
    this.#handler.onHead({ status, headers: new Map(joined) });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (!this.#finished) this.#handler.onData(chunk);
  }

  onResponseEnd(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#handler.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#finished) return;
    const failure = this.#failureOf(error);
    if (this.#mayRetry(failure)) {
      this.#retried = true;
      this.#controller = null;
      this.#retry();
    } else {
      this.fail(failure);
    }
  }

  #mayRetry(failure: UpstreamFailure): boolean {
    return failure.kind === 'reset' && this.#reused && !this.#answerBegan && !this.#retried;
  }

  #failureOf(error: Error): UpstreamFailure {
    const detail = describeError(error);
    if (error instanceof DialError) return error.failure;
    if (error instanceof errors.ClientDestroyedError) return { kind: 'aborted', detail };
    return { kind: this.#answerBegan && !isSocketReset(error) ? 'garbled' : 'reset', detail };
  }
}

/** Undici leaves blanks behind a value, which are not part of it (RFC 9112, 5.1). */
function joinValues(values: string | string[] | undefined): string {
  return [values ?? '']
    .flat()
    .map((value) => value.trimEnd())
    .join(', ');
}

/** The operating system's word, as against undici's own for answers that break the rules or end early. */
function isSocketReset(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}
