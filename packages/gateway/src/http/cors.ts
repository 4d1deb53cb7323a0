import type { HeaderList } from '../ports/data-plane.ts';
import type { Exchange } from './exchange.ts';

/** Rates, in the spelling of each surface. */
const exposedRates = ['requests', 'tokens', 'images'].flatMap((word) =>
  ['limit', 'remaining', 'reset'].flatMap((part) => [
    `x-ratelimit-${part}-${word}`,
    `neutral-ratelimit-${word}-${part}`,
    `anthropic-ratelimit-${word}-${part}`,
  ]),
);
const exposedHeaders = [
  ...['x-trace-id', 'x-request-id', 'request-id', 'retry-after', 'x-should-retry'],
  ...['x-headgate-attempts', 'x-headgate-losses', 'x-headgate-idempotent-replay'],
  ...exposedRates,
].join(', ');

/**
 * The headers by which pages of these origins may read an answer. Beside the console, where people hold their own key, there are none unless
 * configured, since keys do not belong in client-side code.
 */
export function corsHeaders(page: string, origins: ReadonlySet<string>): HeaderList {
  if (!(origins.has(page) || origins.has('*'))) return [];
  return [
    ...['access-control-allow-origin', page],
    ...['vary', 'origin'],
    ...['access-control-expose-headers', exposedHeaders],
  ];
}

/**
 * The origins that the console's pages have, which call the API with a key that a person holds. Where nobody has named one, it is where the console
 * listens; by which of its names a person calls this machine cannot be known.
 */
export function consoleOrigins(named: string | null, listening: string): readonly string[] {
  if (named !== null) return [named];
  const { hostname, port } = new URL(listening);
  const isHere = ['127.0.0.1', '[::1]', 'localhost', '0.0.0.0', '[::]'].includes(hostname);
  const names = isHere ? ['127.0.0.1', 'localhost', '[::1]'] : [hostname];
  return names.map((name) => new URL(`http://${name}:${port}`).origin);
}

const secondsMax = '600';

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
    secondsMax,
  ];
  exchange.send(204, headers, new Uint8Array(0));
}
