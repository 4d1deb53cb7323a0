import type { Protocol } from '@headgate/protocols';
import type { HeaderList, Inbound } from '../ports/data-plane.ts';

/** What goes upstream: our own headers and those of the caller's that belong to the protocol; nothing else of the caller's. */
export function upstreamHeaders(inbound: Inbound, protocol: Protocol, stream: boolean): string[] {
  const headers = [
    'content-type',
    'application/json',
    'accept',
    stream ? 'text/event-stream' : 'application/json',
    'accept-encoding',
    'identity',
  ];
  for (const name of protocol.forwardedHeaders) {
    const value = inbound.header(name);
    if (value !== undefined) headers.push(name, value);
  }
  return headers;
}

/**
 * What a whole answer carries beside its bytes. Nothing in it tells which channel gave it. Where an upstream calls its
 * answer by a strange name, ours is the one that libraries need to read it.
 */
export function wholeHeaders(contentType: string, attempts: number): HeaderList {
  const type = /json/i.test(contentType) ? contentType : 'application/json';
  return ['content-type', type, 'x-headgate-attempts', String(attempts)];
}

/** The same for a stream, which proxies in front of us must neither store nor collect. */
export function streamHeaders(contentType: string, attempts: number): HeaderList {
  const type = /event-stream/i.test(contentType) ? contentType : 'text/event-stream; charset=utf-8';
  const attempted = ['x-headgate-attempts', String(attempts)];
  return ['content-type', type, ...attempted, 'cache-control', 'no-cache', 'x-accel-buffering', 'no'];
}
