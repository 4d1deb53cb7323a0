import type { HeaderList } from '../ports/data-plane.ts';

/** What goes upstream: our own headers and the protocol's; nothing else of the caller's. */
export function upstreamHeaders(ofProtocol: HeaderList, stream: boolean): HeaderList {
  return [
    'content-type',
    'application/json',
    'accept',
    stream ? 'text/event-stream' : 'application/json',
    'accept-encoding',
    'identity',
    ...ofProtocol,
  ];
}

/** The path at an upstream, with what the caller's query says to it; nothing else of the query goes there. */
export function upstreamPath(path: string, search: string, forwarded: readonly string[]): string {
  if (search === '' || forwarded.length === 0) return path;
  const given = new URLSearchParams(search);
  const members = forwarded.flatMap((name) => given.getAll(name).map((value) => [name, value]));
  if (members.length === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(members)}`;
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
