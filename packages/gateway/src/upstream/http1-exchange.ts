import type {
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from '../ports/upstream-client.ts';
import type { Carried, Http1Connection } from './http1-connection.ts';
import type { ResponseHead } from './response-head.ts';
import { abortedFailure } from './socket-failure.ts';

/** Finds a new connection for a request that lost a reused one. */
export type Redial = (exchange: Http1Exchange) => void;

/** One request under way, from `send` to its end. */
export class Http1Exchange implements UpstreamExchange, Carried {
  readonly request: UpstreamRequest;
  readonly #handler: UpstreamHandler;
  readonly #redial: Redial;
  #connection: Http1Connection | null = null;
  #stopDialling: (() => void) | null = null;
  #mayRetry = false;
  #paused = false;
  #finished = false;

  constructor(request: UpstreamRequest, handler: UpstreamHandler, redial: Redial) {
    this.request = request;
    this.#handler = handler;
    this.#redial = redial;
  }

  /** A connection is being opened for it. */
  waitFor(stopDialling: () => void): void {
    this.#stopDialling = stopDialling;
  }

  /** It travels on this connection from now on. */
  travelOn(connection: Http1Connection, isReused: boolean): void {
    this.#stopDialling = null;
    this.#connection = connection;
    this.#mayRetry = isReused;
    if (this.#paused) connection.pause();
  }

  pause(): void {
    this.#paused = true;
    this.#connection?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#connection?.resume();
  }

  abort(): void {
    this.fail(abortedFailure);
  }

  /** Ends the exchange, if it has not ended, closes its connection, and tells the handler soon. */
  fail(failure: UpstreamFailure): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#stopDialling?.();
    this.#connection?.destroy();
    this.#connection = null;
    setImmediate(() => this.#handler.onFailure(failure));
  }

  onHead(head: ResponseHead): void {
    this.#handler.onHead(head);
  }

  onData(chunk: Uint8Array): void {
    // An abort in the middle of a read: what is left of the read is not wanted any more.
    if (!this.#finished) this.#handler.onData(chunk);
  }

  onComplete(): void {
    this.#finished = true;
    this.#connection = null;
    this.#handler.onEnd();
  }

  onLost(failure: UpstreamFailure, answerBegan: boolean): void {
    this.#connection = null;
    if (failure.kind === 'reset' && !answerBegan && this.#mayRetry) this.#redial(this);
    else this.fail(failure);
  }
}
