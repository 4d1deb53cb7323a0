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

/** What an answer carries beside its bytes. Nothing in it tells which channel gave it. */
export function answerHeaders(contentType: string, attempts: number): HeaderList {
  const headers = ['content-type', contentType, 'x-headgate-attempts', String(attempts)];
  if (contentType.startsWith('text/event-stream')) {
    // Proxies in front of us must neither store nor collect a stream.
    headers.push('cache-control', 'no-cache', 'x-accel-buffering', 'no');
  }
  return headers;
}
