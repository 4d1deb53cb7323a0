import type { Exchange } from './exchange.ts';

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
