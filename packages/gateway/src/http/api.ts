import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Watchdog } from '../call/watchdog.ts';
import type { Clock } from '../ports/clock.ts';
import { BodyPlaces } from './body.ts';
import { answerClientError, answerUpgrade, writeFault } from './errors.ts';
import { Activity, type Exchange, type PortParts } from './exchange.ts';
import { Inlet, type InletOwner, readBytesMax } from './inlet.ts';
import { wasteBytes } from './lingering.ts';
import {
  type ListenAddress,
  type ListeningSocket,
  listen,
  originOf,
  socketOf,
  stopListening,
} from './listening.ts';
import { ModelLists } from './models.ts';
import { NodeExchange } from './node-exchange.ts';
import { NodeFeed } from './node-feed.ts';
import { PlainConnection } from './plain-connection.ts';
import type { LaneConnection, PlainLane } from './plain-lane.ts';
import { answerRequest, type RequestContext } from './requests.ts';
import { everyMillisecond, everyTurn, Rounds } from './rounds.ts';

export interface ApiOptions extends PortOptions, ListenAddress {}

export interface PortOptions {
  /** Who reads plain requests: we, or `node:http`, which reads all others. */
  readonly lane: 'plain' | 'node';
  readonly headerBytesMax: number;
  /** Idle connections are kept this long. Longer than the usual proxy in front of us, so that it closes first. */
  readonly keepAliveMs: number;
  readonly headersMs: number;
  /** A request's headers and body must have come by then. */
  readonly bodyMs: number;
  readonly connectionsMax: number;
}

/** The API origin while it serves. */
export interface Api {
  readonly origin: string;
  /** Calls under way. */
  readonly active: number;
  /** Listens, and may be given to a process that goes on in the place of this one; null where that cannot be. */
  readonly socket: ListeningSocket | null;
  /**
   * Takes no new connections, as another process does; those that are open are served until their callers leave them, or
   * have been idle for as long as they were promised. Resolves when the last is gone, or the time is over.
   */
  retire(timeoutMs: number): Promise<void>;
  /** Takes no new connections and no new requests; resolves when the last answer has left, or the time is over. */
  drain(timeoutMs: number): Promise<void>;
  /** Closes whatever is left. */
  close(): Promise<void>;
}

/** Answers one request; `expectation` is what its caller wants to be told before it sends the body. Never throws. */
export type Answer = (exchange: Exchange, expectation: string | null) => void;

/** Opens the API port. Rejects when the address cannot be had. */
export function startApi(options: ApiOptions, given: Omit<RequestContext, 'models'>): Promise<Api> {
  const { gateway, random, departure } = given;
  const context = { ...given, models: new ModelLists(gateway.catalogue, gateway.protocols) };
  const parts = { ...gateway, random, departure };
  const answer: Answer = (exchange, expectation) => answerRequest(exchange, expectation, context);
  return openPort(createPort(options, parts, answer), options);
}

/** A server that does not listen yet, and the connections and answers that are its business. */
export interface Port {
  readonly server: Server;
  readonly connections: Set<LaneConnection>;
  readonly activity: Activity;
}

/** Makes a port whose requests are answered by `answer`, whichever lane they come by. */
export function createPort(options: PortOptions, parts: PortParts, answer: Answer): Port {
  const activity = new Activity();
  const places = new BodyPlaces();
  const feeds = new WeakMap<Duplex, NodeFeed>();
  const server = createNodeServer(options, parts, activity, places, feeds, answer);
  const port = { server, connections: new Set<LaneConnection>(), activity };
  putLaneBefore(port, options, parts, places, feeds, answer);
  return port;
}

/** Lets a port be called. Rejects when the address cannot be had. */
export async function openPort(
  { server, connections, activity }: Port,
  address: ListenAddress,
): Promise<Api> {
  await listen(server, address);
  return {
    origin: originOf(server, address.host),
    get active() {
      return activity.count;
    },
    get socket() {
      return socketOf(server);
    },
    retire(timeoutMs) {
      const allGone = once(server, 'close');
      stopListening(server);
      return within(timeoutMs, allGone);
    },
    async drain(timeoutMs) {
      server.close();
      server.closeIdleConnections();
      for (const connection of connections) connection.closeIfIdle();
      await within(timeoutMs, activity.idle());
    },
    close: () => closeServer(server, connections),
  };
}

/** Waits for something, so long at the most. */
async function within(timeoutMs: number, event: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  const timeIsOver = delay(timeoutMs, undefined, { signal: patience.signal }).catch(() => undefined);
  await Promise.race([event, timeIsOver]);
  patience.abort();
}

function createNodeServer(
  options: PortOptions,
  parts: PortParts,
  activity: Activity,
  places: BodyPlaces,
  feeds: WeakMap<Duplex, NodeFeed>,
  answer: Answer,
): Server {
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
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    // Node's parser reads a head of HTTP/2.0, or 0.9, as if it were ours.
    if (request.httpVersionMajor !== 1)
      return answerClientError(new Error('no HTTP/1'), request.socket, parts);
    if (parts.departure.isLeaving) response.shouldKeepAlive = false;
    const feed = feeds.get(request.socket);
    feed?.requestBegun(request);
    follow(response, activity, feed);
    const exchange = new NodeExchange(request, response, parts.limits, places, feed);
    answer(exchange, exchange.expectation);
  };
  server.on('request', onRequest);
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => answerUpgrade(request, socket, parts));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    answerClientError(error, socket, parts),
  );
  return server;
}

function follow(response: ServerResponse, activity: Activity, feed: NodeFeed | undefined): void {
  response.on('close', () => feed?.requestEnded());
  const count = (): void => {
    activity.begin();
    response.on('close', () => activity.end());
  };
  // One that waits behind another on its connection does not close if the connection goes before its turn.
  if (response.socket === null) response.once('socket', count);
  else count();
}

/**
 * Node's server still owns the port. Its way of taking a connection becomes the second one, behind the plain lane or what
 * gives it a connection's bytes bit by bit.
 */
function putLaneBefore(
  { server, connections, activity }: Port,
  options: PortOptions,
  parts: PortParts,
  places: BodyPlaces,
  feeds: WeakMap<Duplex, NodeFeed>,
  answer: Answer,
): void {
  const takeOver = server.listeners('connection');
  server.removeAllListeners('connection');
  const rounds = new Rounds(everyTurn);
  const forgetting = new Rounds(everyMillisecond);
  const shared = Buffer.allocUnsafeSlow(readBytesMax);
  const lingering = { ...parts, rounds, forgetting, waste: Buffer.allocUnsafeSlow(wasteBytes) };
  const handOver = (inlet: Inlet, bytes: Buffer | null, refusals: number): void => {
    const { socket } = inlet;
    const feed = new NodeFeed(inlet, lingering, refusals);
    feeds.set(socket, feed);
    if (!inlet.isMoved) socket.pause();
    for (const listener of takeOver) listener.call(server, socket);
    feed.begin(bytes);
  };
  if (options.lane === 'node') {
    server.on('connection', (socket: Socket) => handOver(new Inlet(socket, nobody, shared), null, 0));
    return;
  }
  const lane: PlainLane = {
    ...lingering,
    bounds: {
      headerBytesMax: options.headerBytesMax,
      headersMs: options.headersMs,
      bodyMs: options.bodyMs,
      idleMs: options.keepAliveMs + idleGraceMs,
    },
    activity,
    connections,
    shared,
    places,
    lastLines: lastLinesOf(options.keepAliveMs, parts),
    answer: (exchange) => answer(exchange, null),
    handOver,
    refuse: (socket, failure) => writeFault(socket, failure, 'completions', parts),
  };
  server.on('connection', (socket: Socket) => new PlainConnection(socket, lane));
}

/** Nothing is read before its owner has a connection. */
const nobody: InletOwner = { onBytes: () => undefined, room: () => null };

/** The lines that end every head. The time is told to the second, so it is written once a second. */
function lastLinesOf(keepAliveMs: number, { clock, departure }: PortParts): PlainLane['lastLines'] {
  const kept = `connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`;
  let second = 0;
  let date = '';
  return (staysOpen) => {
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) {
      second = now;
      date = `date: ${new Date(now * 1000).toUTCString()}\r\n`;
    }
    return date + (staysOpen && !departure.isLeaving ? kept : 'connection: close\r\n');
  };
}

/** How much longer an idle connection is kept than its caller is told, so that it does not find it closed. */
const idleGraceMs = 1000;

function closeServer(server: Server, connections: ReadonlySet<LaneConnection>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
    for (const { socket } of connections) socket.destroy();
  });
}

/**
 * Looks at all deadlines so often, each time behind what had come by then: where the loop is late, or the machine stood still, bytes that
 * wait to be read are not missing. Returns how to end it.
 */
export function sweepOften(
  watchdog: Pick<Watchdog, 'sweep'>,
  clock: Pick<Clock, 'monotonic'>,
  intervalMs: number,
): () => void {
  const sweeping = setInterval(() => {
    const asOfMs = clock.monotonic();
    // The loop reads between its timers and this.
    setImmediate(() => watchdog.sweep(asOfMs));
  }, intervalMs);
  return () => clearInterval(sweeping);
}
