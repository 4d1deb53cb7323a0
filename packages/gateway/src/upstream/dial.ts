import { connect as connectTcp, isIP, type OnReadOpts, type Socket, type TcpNetConnectOpts } from 'node:net';
import {
  type ConnectionOptions,
  connect as connectTls,
  createSecureContext,
  getCACertificates,
  type SecureContext,
} from 'node:tls';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { ProxyServer } from '../catalogue/catalogue.ts';
import type { UpstreamFailure } from '../ports/upstream.ts';
import {
  checkBehindProxy,
  checkLiteralAddress,
  type ForbiddenAddressError,
  guardedLookup,
  type Resolve,
} from './address-guard.ts';
import { connectFailure, connectionOf, type OnDialled, tcpOptions } from './socket.ts';
import { nameOfProxy, openTunnel } from './tunnel.ts';

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
  /** Null where connections go directly. */
  readonly proxy: ProxyServer | null;
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
    const forbidden = this.#forbidden();
    if (forbidden !== null) {
      const report = setImmediate(() => onDialled(fail(connectFailure(forbidden))));
      return () => clearImmediate(report);
    }
    const { connectTimeoutMs, proxy } = this.#options;
    const timer = setTimeout(() => {
      giveUp();
      const way = proxy === null ? '' : `, through ${nameOfProxy(proxy)}`;
      onDialled(
        fail({ kind: 'connect-timeout', detail: `no connection within ${connectTimeoutMs} ms${way}` }),
      );
    }, connectTimeoutMs);
    const finish: OnDialled = (result) => {
      clearTimeout(timer);
      onDialled(result);
    };
    const giveUp =
      proxy === null ? this.#connect(onread, finish) : this.#connectThrough(proxy, onread, finish);
    return () => {
      clearTimeout(timer);
      giveUp();
    };
  }

  #forbidden(): ForbiddenAddressError | null {
    const { hostname, secure, allowPrivate } = this.#destination;
    if (allowPrivate) return null;
    return this.#options.proxy === null ? checkLiteralAddress(hostname) : checkBehindProxy(hostname, secure);
  }

  #connect(onread: TcpNetConnectOpts['onread'], onDialled: OnDialled): () => void {
    const { hostname, port, secure, allowPrivate } = this.#destination;
    const tcp: TcpNetConnectOpts = {
      ...tcpOptions(hostname, port),
      ...(allowPrivate ? {} : { lookup: guardedLookup(this.#options.resolve) }),
      ...(onread === undefined ? {} : { onread }),
    };
    return secure
      ? connectionOf(this.#secure(tcp), 'secureConnect', onDialled)
      : connectionOf(connectTcp(tcp), 'connect', onDialled);
  }

  #connectThrough(proxy: ProxyServer, onread: TcpNetConnectOpts['onread'], onDialled: OnDialled): () => void {
    const { hostname, port, secure } = this.#destination;
    const { secureContext } = this.#options;
    const authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
    let giveUp = openTunnel(proxy, authority, secureContext, secure ? undefined : onread, (tunnel) => {
      if (!tunnel.ok || !secure) return onDialled(tunnel);
      giveUp = connectionOf(this.#secure({ socket: tunnel.value }), 'secureConnect', (secured) => {
        if (secured.ok && onread !== undefined) readInto(secured.value, onread);
        onDialled(secured);
      });
    });
    return () => giveUp();
  }

  #secure(options: ConnectionOptions): Socket {
    const { serverName } = this.#destination;
    const socket = connectTls({
      ...options,
      secureContext: this.#options.secureContext(),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
      ...(serverName === null ? { host: this.#destination.hostname } : { servername: serverName }),
      ...(this.#session === undefined ? {} : { session: this.#session }),
    });
    return socket.on('session', (session) => {
      this.#session = session;
    });
  }
}

/** A socket that is laid over another one does not read into the buffer that it is given: its bytes are copied there. */
function readInto(socket: Socket, { buffer, callback }: OnReadOpts): void {
  const place = buffer instanceof Uint8Array ? buffer : buffer();
  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; at += place.length) {
      const piece = chunk.subarray(at, at + place.length);
      place.set(piece);
      if (!callback(piece.length, place)) socket.pause();
    }
  });
}
