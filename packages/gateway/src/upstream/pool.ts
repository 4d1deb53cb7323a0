import type { Socket } from 'node:net';
import type { UpstreamExchange, UpstreamFailure, UpstreamHandler } from '../ports/upstream.ts';
import {
  type Carried,
  Connection,
  type ConnectionKeeper,
  type Gathering,
  Intake,
  type SharedBuffers,
} from './connection.ts';
import { Decoding, decoded } from './decoding.ts';
import { abortedFailure, closedFailure, type Dialer } from './dial.ts';
import { keepAliveHintMs, type ResponseHead } from './parser.ts';

/** A connection is retired this long before its server would close it, for the time the server's close is under way. */
const hintMarginMs = 1_000;

export interface PoolSettings {
  readonly idleTimeoutMs: number;
  readonly maxConnections: number;
  readonly maxConnectionAgeMs: number;
}

/** The connections of one channel to one origin. The one used last is used next, so that a burst's surplus can age. */
export class Pool implements ConnectionKeeper {
  /** For the `host` header. */
  readonly authority: string;
  readonly #dialer: Dialer;
  readonly #settings: PoolSettings;
  readonly #buffers: SharedBuffers;
  readonly #gathering: Pick<Gathering, 'holds'>;
  readonly #connections = new Set<Connection>();
  readonly #dialling = new Set<Exchange>();
  /** In the order in which they became idle. One that dies stays until it is due to be used or swept. */
  #idle: Connection[] = [];
  #sweepTimer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #hint: string | null = null;
  #idleMs: number;

  constructor(
    dialer: Dialer,
    settings: PoolSettings,
    buffers: SharedBuffers,
    gathering: Pick<Gathering, 'holds'>,
  ) {
    this.authority = dialer.authority;
    this.#dialer = dialer;
    this.#settings = settings;
    this.#buffers = buffers;
    this.#gathering = gathering;
    this.#idleMs = settings.idleTimeoutMs;
  }

  /** @param head the whole of it, in latin-1. @param length bytes of the body's pieces together. */
  send(
    head: string,
    body: readonly Uint8Array[],
    length: number,
    fresh: boolean,
    handler: UpstreamHandler,
  ): UpstreamExchange {
    const exchange = new Exchange(this, handler, head, body, length);
    if (this.#isClosed) {
      exchange.fail(closedFailure);
      return exchange;
    }
    const connection = fresh ? null : this.#takeIdle();
    if (connection === null) this.dial(exchange);
    else exchange.travelOn(connection, true);
    return exchange;
  }

  /** Closes every connection; what is under way fails as aborted. */
  close(): void {
    this.#isClosed = true;
    for (const exchange of this.#dialling) exchange.fail(closedFailure);
    for (const connection of this.#connections) connection.shut(closedFailure);
    if (this.#sweepTimer !== null) clearTimeout(this.#sweepTimer);
  }

  onIdle(connection: Connection, { keepAlive }: ResponseHead): void {
    const now = performance.now();
    if (keepAlive !== this.#hint) {
      this.#hint = keepAlive;
      this.#idleMs = idleLifetimeMs(keepAlive, this.#settings.idleTimeoutMs);
    }
    connection.expiresAt = now + this.#idleMs;
    if (now - connection.openedAt > this.#settings.maxConnectionAgeMs) {
      connection.destroy();
      return;
    }
    this.#idle.push(connection);
    this.#sweepTimer ??= setTimeout(() => this.#sweep(), connection.expiresAt - now);
  }

  onGone(connection: Connection): void {
    this.#connections.delete(connection);
  }

  /** Opens a connection for an exchange, which travels on it or fails. */
  dial(exchange: Exchange): void {
    if (this.#connections.size + this.#dialling.size >= this.#settings.maxConnections) {
      exchange.fail({ kind: 'unreachable', detail: 'every allowed connection is in use' });
      return;
    }
    this.#dialling.add(exchange);
    const intake = new Intake(this.#buffers, this.#gathering);
    const giveUp = this.#dialer.dial((result) => {
      this.#dialling.delete(exchange);
      if (result.ok) exchange.travelOn(this.#keep(result.value, intake), false);
      else exchange.fail(result.error);
    }, intake.onread);
    exchange.stopDialling = () => {
      this.#dialling.delete(exchange);
      giveUp();
    };
  }

  #takeIdle(): Connection | null {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.isUsable && connection.expiresAt > performance.now()) return connection;
      connection.destroy();
    }
    return null;
  }

  #keep(socket: Socket, intake: Intake): Connection {
    const connection = new Connection(socket, intake, this.#buffers, this, performance.now());
    this.#connections.add(connection);
    return connection;
  }

  #sweep(): void {
    const now = performance.now();
    const expired = this.#idle.filter((connection) => connection.expiresAt <= now);
    this.#idle = this.#idle.filter((connection) => connection.expiresAt > now);
    for (const connection of expired) connection.destroy();
    const soonest = Math.min(...this.#idle.map((connection) => connection.expiresAt));
    this.#sweepTimer = this.#idle.length === 0 ? null : setTimeout(() => this.#sweep(), soonest - now);
  }
}

/** How long a connection may wait for its next request: our own limit, or less when the server keeps it less long. */
export function idleLifetimeMs(keepAlive: string | null, idleTimeoutMs: number): number {
  const hintMs = keepAliveHintMs(keepAlive);
  return hintMs === null ? idleTimeoutMs : Math.min(idleTimeoutMs, hintMs - hintMarginMs);
}

/** One request under way, from `send` to its end. */
class Exchange implements UpstreamExchange, Carried {
  stopDialling: (() => void) | null = null;
  readonly #pool: Pool;
  #handler: UpstreamHandler;
  /** Set where the answer came compressed. */
  #decoding: Decoding | null = null;
  readonly #head: string;
  readonly #body: readonly Uint8Array[];
  readonly #length: number;
  #connection: Connection | null = null;
  #mayRetry = false;
  #paused = false;
  #finished = false;

  constructor(
    pool: Pool,
    handler: UpstreamHandler,
    head: string,
    body: readonly Uint8Array[],
    length: number,
  ) {
    this.#pool = pool;
    this.#handler = handler;
    this.#head = head;
    this.#body = body;
    this.#length = length;
  }

  /** A connection that has served others may be dead without our knowing: then the request is sent once more. */
  travelOn(connection: Connection, isReused: boolean): void {
    this.stopDialling = null;
    this.#connection = connection;
    this.#mayRetry = isReused;
    connection.carry(this, this.#head, this.#body, this.#length);
    if (this.#paused) connection.pause();
  }

  /** While it dials, or is about to dial again, it is still to be sent. */
  get isSent(): boolean {
    return this.#finished || (this.#connection?.hasSent ?? false);
  }

  pause(): void {
    this.#paused = true;
    this.#connection?.pause();
    this.#decoding?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#decoding === null || this.#decoding.resume()) this.#connection?.resume();
  }

  gather(): void {
    this.#connection?.gather();
  }

  abort(): void {
    // All of a compressed answer may have come, and not all of it be decoded.
    if (this.#finished) setImmediate(() => this.#decoding?.onFailure(abortedFailure));
    else this.fail(abortedFailure);
  }

  /** Ends the exchange, if it has not ended, closes its connection, and tells the handler soon. */
  fail(failure: UpstreamFailure): void {
    if (this.#finished) return;
    this.#finished = true;
    this.stopDialling?.();
    this.#connection?.destroy();
    this.#connection = null;
    setImmediate(() => this.#handler.onFailure(failure));
  }

  onHead(head: ResponseHead): void {
    if (head.isCoded) this.#decode(head);
    this.#handler.onHead(head);
  }

  #decode(head: ResponseHead): void {
    const connection = this.#connection;
    const handler = decoded(head, this.#handler, {
      pause: () => connection?.pause(),
      resume: () => this.#connection?.resume(),
      fail: (failure) => this.fail(failure),
    });
    this.#handler = handler;
    if (handler instanceof Decoding) this.#decoding = handler;
  }

  onData(chunk: Uint8Array): void {
    // An abort in the middle of a read: the rest of the read is not wanted any more.
    if (!this.#finished) this.#handler.onData(chunk);
  }

  onComplete(): void {
    this.#finished = true;
    this.#connection = null;
    this.#handler.onEnd();
  }

  onLost(failure: UpstreamFailure, answerBegan: boolean): void {
    this.#connection = null;
    if (failure.kind === 'reset' && !answerBegan && this.#mayRetry) this.#pool.dial(this);
    else this.fail(failure);
  }
}
