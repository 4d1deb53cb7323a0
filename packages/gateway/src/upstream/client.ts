import { fail, type Result, succeed } from '@headgate/protocols';
import type {
  UpstreamClient,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from '../ports/upstream.ts';
import { type Resolve, systemResolve } from './address-guard.ts';
import { Gathering, SharedBuffers } from './connection.ts';
import { Dialer, type DialerOptions, lazySecureContext, readDestination } from './dial.ts';
import { Pool, type PoolSettings } from './pool.ts';

/** Everything has a default. */
export interface UpstreamClientOptions {
  /** From the look-up of the name to the end of the TLS handshake. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /** How long an idle connection is kept; shorter than servers keep theirs, so that ours is never the stale one. Default 4,000. */
  readonly idleTimeoutMs?: number;
  /** Connections per channel and origin; a request beyond it fails as unreachable. Default 10,000. */
  readonly maxConnections?: number;
  /** Age beyond which a connection takes no new request, so that changes in DNS are followed. Default 600,000. */
  readonly maxConnectionAgeMs?: number;
  /** PEM certificates trusted beside those Node trusts. */
  readonly certificateAuthorities?: readonly string[];
  /** Default `dns.lookup`. */
  readonly resolve?: Resolve;
  /** Default: streams are held while the loop of this thread is late. */
  readonly gathering?: Pick<Gathering, 'holds'>;
}

/** The far end of a pool's connections, and the way they take. */
type PoolPlace = Pick<
  UpstreamRequest,
  'origin' | 'channelId' | 'allowPrivate' | 'proxy' | 'connectTimeoutMs'
>;

/**
 * Our own HTTP/1.1 client: nothing between the socket and the handler that a relay does not need. Every channel and origin
 * has a pool of its own, which stays: its TLS session is worth more than its memory.
 */
export class HttpClient implements UpstreamClient {
  readonly #dialerOptions: Omit<DialerOptions, 'proxy'>;
  readonly #poolSettings: PoolSettings;
  readonly #buffers = new SharedBuffers();
  readonly #gathering: Pick<Gathering, 'holds'>;
  /** By all that a `PoolPlace` says. */
  readonly #pools = new Map<string, Pool>();
  #closed = false;

  constructor(options: UpstreamClientOptions = {}) {
    this.#gathering = options.gathering ?? new Gathering(performance.eventLoopUtilization);
    this.#dialerOptions = {
      connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
      resolve: options.resolve ?? systemResolve,
      secureContext: lazySecureContext(options.certificateAuthorities ?? []),
    };
    this.#poolSettings = {
      idleTimeoutMs: options.idleTimeoutMs ?? 4_000,
      maxConnections: options.maxConnections ?? 10_000,
      maxConnectionAgeMs: options.maxConnectionAgeMs ?? 600_000,
    };
  }

  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamExchange {
    const { body, method, fresh } = request;
    const pool = this.pool(request);
    const opening = openingOf(method, request.path, pool.ok ? pool.value.authority : '', request.headers);
    if (!pool.ok) return refuseRequest(handler, pool.error);
    const length = bodyLength(body);
    return pool.value.send(opening + lengthLines(method, length), body, length, fresh, handler);
  }

  close(): Promise<void> {
    this.#closed = true;
    for (const pool of this.#pools.values()) pool.close();
    return Promise.resolve();
  }

  /** The connections of one channel to one origin, one way. */
  pool({
    origin,
    channelId,
    allowPrivate,
    proxy = null,
    connectTimeoutMs = null,
  }: PoolPlace): Result<Pool, UpstreamFailure> {
    const key = JSON.stringify([origin, channelId, allowPrivate, proxy, connectTimeoutMs]);
    const known = this.#pools.get(key);
    if (known !== undefined) return succeed(known);
    const destination = readDestination(origin, allowPrivate);
    if (!destination.ok) return fail(destination.error);
    const usual = this.#dialerOptions;
    const options = { ...usual, proxy, connectTimeoutMs: connectTimeoutMs ?? usual.connectTimeoutMs };
    const dialer = new Dialer(destination.value, options);
    const pool = new Pool(dialer, this.#poolSettings, this.#buffers, this.#gathering);
    if (this.#closed) pool.close();
    this.#pools.set(key, pool);
    return succeed(pool);
  }
}

/** Ends a request before anything was done for it; the handler hears of it after `send` has returned. */
export function refuseRequest(handler: UpstreamHandler, failure: UpstreamFailure): UpstreamExchange {
  setImmediate(() => handler.onFailure(failure));
  return nothingUnderWay;
}

const nothingUnderWay: UpstreamExchange = { isSent: true, pause() {}, resume() {}, gather() {}, abort() {} };

/** Anything that could end a line or smuggle a second one: header text is tab and visible latin-1 only. */
const unsafeInHeader = /[^\t\x20-\x7e\x80-\xff]/;
const unsafeInPath = /[^\x21-\x7e]/;

/**
 * The head of a request as it goes over the wire, in latin-1, but for the length of its body. Throws a TypeError for what
 * would break its own framing; hygiene is the business of whoever built it.
 */
export function openingOf(
  method: UpstreamRequest['method'],
  path: string,
  authority: string,
  headers: readonly string[],
): string {
  if (!path.startsWith('/') || unsafeInPath.test(path)) throw new TypeError('unsafe path');
  return `${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\nconnection: keep-alive\r\n${headerLines(headers)}`;
}

export function headerLines(headers: readonly string[]): string {
  let text = '';
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const line = `${headers[index]}: ${headers[index + 1]}`;
    if (unsafeInHeader.test(line)) throw new TypeError('unsafe header');
    text += `${line}\r\n`;
  }
  return text;
}

/** The end of a head. A POST without a body says so. */
export function lengthLines(method: UpstreamRequest['method'], length: number): string {
  return length > 0 || method === 'POST' ? `content-length: ${length}\r\n\r\n` : '\r\n';
}

/** Bytes of a body in pieces. */
export function bodyLength(pieces: readonly Uint8Array[]): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
}
