import type { Socket } from 'node:net';
import type { UpstreamExchange, UpstreamHandler, UpstreamRequest } from '../ports/upstream-client.ts';
import type { ClientSettings } from './client-options.ts';
import type { Dialer } from './dialer.ts';
import { type ConnectionKeeper, Http1Connection } from './http1-connection.ts';
import { Http1Exchange } from './http1-exchange.ts';
import { encodeRequestHead } from './request-text.ts';
import { keepAliveHintMs, type ResponseHead } from './response-head.ts';
import type { Route } from './routed-client.ts';
import { closedFailure } from './socket-failure.ts';
import { SocketIntake } from './socket-intake.ts';

/** A connection is retired this long before its server would close it, for the time the server's close is under way. */
const hintMarginMs = 1_000;

/** The connections of one channel to one origin. The one used last is used next, so that a burst's surplus can age. */
export class Http1Pool implements Route, ConnectionKeeper {
  readonly #authority: string;
  readonly #dialer: Dialer;
  readonly #settings: ClientSettings;
  readonly #readBuffer: Buffer;
  readonly #connections = new Set<Http1Connection>();
  readonly #dialling = new Set<Http1Exchange>();
  /** In the order in which they became idle. One that dies stays until it is due to be used or swept. */
  #idle: Http1Connection[] = [];
  #sweepTimer: NodeJS.Timeout | null = null;

  /** @param readBuffer shared by all sockets; holds bytes only while one read is copied out of it. */
  constructor(authority: string, dialer: Dialer, settings: ClientSettings, readBuffer: Buffer) {
    this.#authority = authority;
    this.#dialer = dialer;
    this.#settings = settings;
    this.#readBuffer = readBuffer;
  }

  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamExchange {
    const exchange = new Http1Exchange(request, handler, (again) => this.#dial(again));
    const connection = request.fresh ? null : this.#takeIdle();
    if (connection === null) this.#dial(exchange);
    else this.#start(exchange, connection, true);
    return exchange;
  }

  /** Closes every connection; what is under way fails as aborted. */
  close(): void {
    for (const exchange of this.#dialling) exchange.fail(closedFailure);
    for (const connection of this.#connections) connection.shut(closedFailure);
    if (this.#sweepTimer !== null) clearTimeout(this.#sweepTimer);
  }

  onIdle(connection: Http1Connection, head: ResponseHead): void {
    const now = performance.now();
    connection.expiresAt = now + idleLifetimeMs(head, this.#settings.idleTimeoutMs);
    if (now - connection.openedAt > this.#settings.maxConnectionAgeMs) {
      connection.destroy();
      return;
    }
    this.#idle.push(connection);
    this.#sweepTimer ??= setTimeout(() => this.#sweep(), connection.expiresAt - now);
  }

  onGone(connection: Http1Connection): void {
    this.#connections.delete(connection);
  }

  #takeIdle(): Http1Connection | null {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.isUsable && connection.expiresAt > performance.now()) return connection;
      connection.destroy();
    }
    return null;
  }

  #dial(exchange: Http1Exchange): void {
    if (this.#connections.size + this.#dialling.size >= this.#settings.maxConnections) {
      exchange.fail({ kind: 'unreachable', detail: 'every allowed connection is in use' });
      return;
    }
    this.#dialling.add(exchange);
    const intake = new SocketIntake(this.#readBuffer);
    const giveUp = this.#dialer.dial((result) => {
      this.#dialling.delete(exchange);
      if (result.ok) this.#start(exchange, this.#keep(result.value, intake), false);
      else exchange.fail(result.error);
    }, intake.onread);
    exchange.waitFor(() => {
      this.#dialling.delete(exchange);
      giveUp();
    });
  }

  #keep(socket: Socket, intake: SocketIntake): Http1Connection {
    const connection = new Http1Connection(socket, intake, this, performance.now());
    this.#connections.add(connection);
    return connection;
  }

  #start(exchange: Http1Exchange, connection: Http1Connection, isReused: boolean): void {
    const { request } = exchange;
    connection.carry(exchange, encodeRequestHead(request, this.#authority), request.body);
    exchange.travelOn(connection, isReused);
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
export function idleLifetimeMs({ headers }: Pick<ResponseHead, 'headers'>, idleTimeoutMs: number): number {
  const hintMs = keepAliveHintMs(headers);
  return hintMs === null ? idleTimeoutMs : Math.min(idleTimeoutMs, hintMs - hintMarginMs);
}
