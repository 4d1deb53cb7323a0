import { connect as connectTcp, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { UpstreamFailure } from '../ports/upstream-client.ts';
import { checkLiteralAddress, guardedLookup, type Resolve } from './address-guard.ts';
import type { Destination } from './destination.ts';
import { connectFailure } from './socket-failure.ts';

export interface DialerOptions {
  /** From the look-up of the name to the end of the TLS handshake. */
  readonly connectTimeoutMs: number;
  readonly resolve: Resolve;
  /** Shared by all connections: building one for each costs a millisecond. Asked for with the first TLS connection. */
  readonly secureContext: () => SecureContext;
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

/** A socket that was given up may still report why it failed; nobody is waiting for that. */
function ignoreError(): void {}
