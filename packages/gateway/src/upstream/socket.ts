import type { Socket, TcpNetConnectOpts } from 'node:net';
import { fail, type Result, succeed } from '@headgate/protocols';
import type { UpstreamFailure } from '../ports/upstream.ts';
import { ForbiddenAddressError } from './address-guard.ts';

export type OnDialled = (result: Result<Socket, UpstreamFailure>) => void;

/** An idle peer behind a dead route is noticed by probes of the operating system. */
const probeAfterMs = 60_000;

/** The options that all our connections have. */
export function tcpOptions(host: string, port: number): TcpNetConnectOpts {
  return {
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: probeAfterMs,
    autoSelectFamily: true,
  };
}

/**
 * Waits for a socket to be connected, and calls `onDialled` once, never within this call.
 * @returns gives up: the socket is destroyed and `onDialled` is not called any more.
 */
export function connectionOf(
  socket: Socket,
  connectedEvent: 'connect' | 'secureConnect',
  onDialled: OnDialled,
): () => void {
  const stopWatching = () =>
    socket.off('error', onError).off(connectedEvent, onConnected).off('close', onClose);
  const giveUp = () => {
    stopWatching();
    socket.on('error', ignoreError).destroy();
  };
  const onError = (error: Error) => {
    giveUp();
    onDialled(fail(connectFailure(error)));
  };
  const onClose = () => onError(new Error('the connection was closed'));
  const onConnected = () => {
    stopWatching();
    onDialled(succeed(socket));
  };
  socket.on('error', onError).on(connectedEvent, onConnected).on('close', onClose);
  return giveUp;
}

/** Says why no connection came about, from what the socket reported; with several addresses tried, of every one. */
export function connectFailure(error: Error): UpstreamFailure {
  if (error instanceof ForbiddenAddressError) return { kind: 'forbidden-address', detail: error.message };
  const detail = error instanceof AggregateError ? error.errors.map(String).join('; ') : error.message;
  return { kind: 'unreachable', detail };
}

/** A socket that was given up may still report why it failed; nobody is waiting for that. */
export function ignoreError(): void {}
