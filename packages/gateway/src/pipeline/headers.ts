import type { EncodedRequest, StreamFraming } from '@headgate/protocols';
import type { HeaderList } from '../ports/data-plane.ts';
import type { Lane } from './lane.ts';
import { lossesHeader } from './losses.ts';

/** What goes upstream: our own headers and the protocol's; nothing else of the caller's. */
export function upstreamHeaders({ contentType, headers }: EncodedRequest, stream: boolean): HeaderList {
  return [
    'content-type',
    contentType,
    'accept',
    stream ? 'text/event-stream' : 'application/json',
    'accept-encoding',
    'identity',
    ...headers,
  ];
}

/** What the head of an answer is made from. */
interface Told {
  readonly lane: Lane;
  /** The upstream's. */
  readonly contentType: string;
  readonly attempts: number;
}

/**
 * What a whole answer carries beside its bytes. Nothing in it tells which channel gave it. Where an upstream calls its
 * answer by a strange name, ours is the one that libraries need to read it.
 */
export function wholeHeaders(told: Told): HeaderList {
  const contentType = relayedType(told);
  const type = /json/i.test(contentType) ? contentType : 'application/json';
  return ['content-type', type, ...explanation(told)];
}

/** The same for a stream, which proxies in front of us must neither store nor collect. */
export function streamHeaders(told: Told, framing: StreamFraming): HeaderList {
  const type = streamType(relayedType(told), framing);
  return ['content-type', type, ...explanation(told), 'cache-control', 'no-cache', 'x-accel-buffering', 'no'];
}

/** What we wrote ourselves is ours in name, too. */
function relayedType({ lane, contentType }: Told): string {
  return lane.kind === 'passthrough' ? contentType : '';
}

function streamType(contentType: string, framing: StreamFraming): string {
  if (framing === 'json-array') return /json/i.test(contentType) ? contentType : 'application/json';
  return /event-stream/i.test(contentType) ? contentType : 'text/event-stream; charset=utf-8';
}

function explanation({ lane, attempts }: Told): HeaderList {
  const attempted = ['x-headgate-attempts', String(attempts)];
  if (lane.losses.length === 0) return attempted;
  return [...attempted, 'x-headgate-losses', lossesHeader(lane.losses)];
}
