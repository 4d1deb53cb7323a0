import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { UpstreamFailure } from '../ports/upstream.ts';
import { checkLiteralAddress, ForbiddenAddressError, guardedLookup, type Resolve } from './address-guard.ts';

export const abortedFailure: UpstreamFailure = {
  kind: 'aborted',
  detail: 'the gateway let go of the request',
};
export const closedFailure: UpstreamFailure = { kind: 'aborted', detail: 'the upstream client is closed' };

/** The far end of connections, as sockets need it. */
export interface Destination {
  readonly secure: boolean;
  /** A name without a trailing dot, or an address, IPv6 without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** For the `host` header: the port only when it is not the scheme's own. */
  readonly authority: string;
  /** Name for TLS to ask for; null when the host is an address, for which SNI has no form. */
  readonly serverName: string | null;
  readonly allowPrivate: boolean;
}

/**
 * Reads an origin such as `https://api.example.com`. URL parsing turns decimal, octal and hexadecimal spellings of
 * addresses into dotted ones before the guard sees them. Anything beyond scheme, host and port is refused: user info
 * in particular makes one host look like another.
 */
export function readDestination(origin: string, allowPrivate: boolean): Result<Destination, UpstreamFailure> {
  const url = URL.parse(origin);
  if (url === null || !isBareOrigin(url)) {
    return fail({ kind: 'forbidden-address', detail: 'the origin is not a plain http or https origin' });
  }
  const secure = url.protocol === 'https:';
  const hostname = url.hostname.replace(/^\[|\]$|\.$/g, '');
  return succeed({
    secure,
    hostname,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    authority: url.host,
    serverName: isIP(hostname) === 0 ? hostname : null,
    allowPrivate,
  });
}

function isBareOrigin(url: URL): boolean {
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  return isHttp && url.href === `${url.origin}/`;
}

export interface DialerOptions {
  /** From the look-up of the name to the end of the TLS handshake. */
  readonly connectTimeoutMs: number;
  readonly resolve: Resolve;
  /** Shared by all connections: building one for each costs a millisecond. Asked for with the first TLS connection. */
  readonly secureContext: () => SecureContext;
}

/** @param extraAuthorities PEM certificates trusted beside those Node trusts. */
export function lazySecureContext(extraAuthorities: readonly string[]): () => SecureContext {
  let context: SecureContext | undefined;
  return () => {
    context ??=
      extraAuthorities.length === 0
        ? createSecureContext()
        : createSecureContext({ ca: [...getCACertificates('default'), ...extraAuthorities] });
    return context;
  };
}

type OnDialled = (result: Result<Socket, UpstreamFailure>) => void;

/** An idle peer behind a dead route is noticed by probes of the operating system. */
const probeAfterMs = 60_000;

/** Opens connections to one destination. TLS sessions are resumed: a full handshake costs both sides a signature. */
export class Dialer {
  readonly #destination: Destination;
  readonly #options: DialerOptions;
  #session: Buffer | undefined;

  constructor(destination: Destination, options: DialerOptions) {
    this.#destination = destination;
    this.#options = options;
  }

  get authority(): string {
    return this.#destination.authority;
  }

  /**
   * Connects, and calls `onDialled` once, never within this call.
   * @returns gives up: the socket is destroyed and `onDialled` is not called any more.
   */
  dial(onDialled: OnDialled, onread?: TcpNetConnectOpts['onread']): () => void {
    const forbidden = this.#destination.allowPrivate ? null : checkLiteralAddress(this.#destination.hostname);
    if (forbidden !== null) {
      const report = setImmediate(() => onDialled(fail(connectFailure(forbidden))));
      return () => clearImmediate(report);
    }
    return this.#watch(this.#open(onread), onDialled);
  }

  #open(onread: TcpNetConnectOpts['onread']): Socket {
    const { hostname, port, secure, serverName, allowPrivate } = this.#destination;
    const { resolve, secureContext } = this.#options;
    const tcp: TcpNetConnectOpts = {
      host: hostname,
      port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: probeAfterMs,
      autoSelectFamily: true,
      ...(allowPrivate ? {} : { lookup: guardedLookup(resolve) }),
      ...(onread === undefined ? {} : { onread }),
    };
    if (!secure) return connectTcp(tcp);
    const socket = connectTls({
      ...tcp,
      secureContext: secureContext(),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
      ...(serverName === null ? {} : { servername: serverName }),
      ...(this.#session === undefined ? {} : { session: this.#session }),
    });
    return socket.on('session', (session) => {
      this.#session = session;
    });
  }

  #watch(socket: Socket, onDialled: OnDialled): () => void {
    const connectedEvent = this.#destination.secure ? 'secureConnect' : 'connect';
    const stopWatching = () => {
      clearTimeout(timer);
      socket.off('error', onError).off(connectedEvent, onConnected);
    };
    const giveUp = () => {
      stopWatching();
      socket.on('error', ignoreError).destroy();
    };
    const onError = (error: Error) => {
      giveUp();
      onDialled(fail(connectFailure(error)));
    };
    const onConnected = () => {
      stopWatching();
      onDialled(succeed(socket));
    };
    const timer = setTimeout(() => {
      giveUp();
      const detail = `no connection within ${this.#options.connectTimeoutMs} ms`;
      onDialled(fail({ kind: 'connect-timeout', detail }));
    }, this.#options.connectTimeoutMs);
    socket.on('error', onError).on(connectedEvent, onConnected);
    return giveUp;
  }
}

/** Why no connection came about, from what the socket reported; with several addresses tried, of every one. */
function connectFailure(error: Error): UpstreamFailure {
  if (error instanceof ForbiddenAddressError) return { kind: 'forbidden-address', detail: error.message };
  const detail = error instanceof AggregateError ? error.errors.map(String).join('; ') : error.message;
  return { kind: 'unreachable', detail };
}

/** A socket that was given up may still report why it failed; nobody is waiting for that. */
function ignoreError(): void {}
