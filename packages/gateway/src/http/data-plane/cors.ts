import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Random } from '../../ports/random.ts';

const exposedHeaders =
  'x-trace-id, x-request-id, request-id, retry-after, x-should-retry, x-headgate-attempts, x-headgate-losses';
const preflightSecondsMax = '600';

/**
 * Lets browsers of the configured origins read answers; off unless configured, since keys do not belong in client-side
 * code. Returns true when the request was a preflight and has been answered.
 */
export function applyCors(
  request: IncomingMessage,
  response: ServerResponse,
  origins: ReadonlySet<string>,
  random: Random,
): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !(origins.has(origin) || origins.has('*'))) return false;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('vary', 'origin');
  response.setHeader('access-control-expose-headers', exposedHeaders);
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
    return false;
  response.setHeader('x-trace-id', random.traceId());
  response.setHeader('access-control-allow-methods', 'GET, POST');
  response.setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '');
  response.setHeader('access-control-max-age', preflightSecondsMax);
  response.writeHead(204).end();
  return true;
}
