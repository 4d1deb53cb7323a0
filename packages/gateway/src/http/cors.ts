import type { HeaderList } from '../ports/data-plane.ts';
import type { Exchange } from './exchange.ts';

const exposedHeaders =
  'x-trace-id, x-request-id, request-id, retry-after, x-should-retry, x-headgate-attempts, x-headgate-losses';
const preflightSecondsMax = '600';

/**
 * The headers by which browsers of the configured origins may read an answer; none unless configured, since keys do not
 * belong in client-side code.
 */
export function corsHeaders(exchange: Exchange, origins: ReadonlySet<string>): HeaderList {
  if (origins.size === 0) return [];
  const origin = exchange.header('origin');
  if (origin === undefined || !(origins.has(origin) || origins.has('*'))) return [];
  return [
    'access-control-allow-origin',
    origin,
    'vary',
    'origin',
    'access-control-expose-headers',
    exposedHeaders,
  ];
}

/** True when a browser asks if it may send the request that it means. */
export function isPreflight(exchange: Exchange): boolean {
  return exchange.method === 'OPTIONS' && exchange.header('access-control-request-method') !== undefined;
}

export function answerPreflight(exchange: Exchange): void {
  const headers = [
    'access-control-allow-methods',
    'GET, POST',
    'access-control-allow-headers',
    exchange.header('access-control-request-headers') ?? '',
    'access-control-max-age',
    preflightSecondsMax,
  ];
  exchange.send(204, headers, new Uint8Array(0));
}
