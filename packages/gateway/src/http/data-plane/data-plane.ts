import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { applyCors } from './cors.ts';
import { answerClientError, answerUpgrade } from './protocol-errors.ts';
import { handleRequest, type RequestContext } from './request-handler.ts';

export interface DataPlaneOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly headerBytesMax: number;
  /** Idle connections are kept this long. Longer than the usual proxy in front of us, so that it closes first. */
  readonly keepAliveMs: number;
  readonly headersMs: number;
  /** A request's headers and body must have come by then. */
  readonly bodyMs: number;
  readonly connectionsMax: number;
  /** Origins whose browsers may read answers; none by default. */
  readonly corsOrigins: ReadonlySet<string>;
}

/** The API origin while it serves. */
export interface DataPlane {
  readonly origin: string;
  /** Calls under way. */
  readonly active: number;
  /** Takes no new connections and no new requests; resolves when the last answer has left, or the time is over. */
  drain(timeoutMs: number): Promise<void>;
  /** Closes whatever is left. */
  close(): Promise<void>;
}

/** Opens the API port. Rejects when the address cannot be had. */
export async function startDataPlane(options: DataPlaneOptions, context: RequestContext): Promise<DataPlane> {
  const server = createServer({
    maxHeaderSize: options.headerBytesMax,
    keepAliveTimeout: options.keepAliveMs,
    headersTimeout: options.headersMs,
    requestTimeout: options.headersMs + options.bodyMs,
    connectionsCheckingInterval: 1000,
    noDelay: true,
    // A request without a host is answered like any other: we never look at it.
    requireHostHeader: false,
    // Some HTTP clients offer HTTP/2 on every request; only WebSocket is answered as an upgrade.
    shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
  });
  server.maxConnections = options.connectionsMax;
  const activity = new Activity();
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    if (context.isDraining()) response.shouldKeepAlive = false;
    activity.follow(response);
    if (options.corsOrigins.size > 0 && applyCors(request, response, options.corsOrigins, context.random))
      return;
    void handleRequest(request, response, context);
  };
  server.on('request', onRequest);
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => answerUpgrade(request, socket, context));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    answerClientError(error, socket, context),
  );
  await listen(server, options);
  return {
    origin: originOf(server, options.host),
    get active() {
      return activity.count;
    },
    async drain(timeoutMs) {
      server.close();
      server.closeIdleConnections();
      const patience = new AbortController();
      const timeIsOver = delay(timeoutMs, undefined, { signal: patience.signal }).catch(() => undefined);
      await Promise.race([activity.idle(), timeIsOver]);
      patience.abort();
    },
    close: () => closeServer(server),
  };
}

/** Counts answers under way and tells when there are none. */
class Activity {
  count = 0;
  #waiting: (() => void)[] = [];

  follow(response: ServerResponse): void {
    // One that waits behind another on its connection does not close if the connection goes before its turn.
    if (response.socket === null) response.once('socket', () => this.#add(response));
    else this.#add(response);
  }

  idle(): Promise<void> {
    if (this.count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #add(response: ServerResponse): void {
    this.count += 1;
    response.on('close', () => {
      this.count -= 1;
      if (this.count > 0) return;
      for (const resolve of this.#waiting) resolve();
      this.#waiting = [];
    });
  }
}

function listen(server: Server, { host, port }: DataPlaneOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 4096 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function originOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo; // A listening TCP server has no other kind of address.
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
