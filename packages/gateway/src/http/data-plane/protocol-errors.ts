import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { encodeError, type Fault, fault, matchEndpoint } from '@headgate/protocols';
import type { Random } from '../../ports/random.ts';

/**
 * Refuses an upgrade to WebSocket on any path, at once: agents try it before they fall back to server-sent events.
 * It happens before authentication, because there is nothing behind it to protect.
 */
export function answerUpgrade(request: IncomingMessage, socket: Duplex, random: Random): void {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  const isKnown = matchEndpoint('GET', path).kind !== 'none' || matchEndpoint('POST', path).kind !== 'none';
  writeFault(socket, fault(isKnown ? 'websocket_not_supported' : 'not_found'), random.traceId());
}

/** Answers a request that is not HTTP we accept: too large a header block, a broken framing, a late header. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex, random: Random): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  writeFault(socket, faultOfParserError(error.code), random.traceId());
}

function faultOfParserError(code: string | undefined): Fault {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return fault('invalid_request', {
        status: 431,
        message: 'The header block of the request is too large.',
      });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return fault('request_timeout');
    default:
      return fault('invalid_request', { message: 'The request is not valid HTTP/1.1.' });
  }
}

function writeFault(socket: Duplex, failure: Fault, traceId: string): void {
  const { status, body } = encodeError('completions', failure, traceId);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    `x-trace-id: ${traceId}`,
    `x-request-id: ${traceId}`,
    'x-should-retry: false',
    'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.end(body);
}
