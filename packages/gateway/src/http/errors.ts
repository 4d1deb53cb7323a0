import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  encodeError,
  type Fault,
  fault,
  matchEndpoint,
  type Platform,
  platformOfPath,
} from '@headgate/protocols';
import { faultHeaders } from '../call/reply.ts';
import { identityHeaders, type PortParts } from './exchange.ts';

/** A refusal without a request still needs a name, and somebody to hear of it. */
type RefusalParts = Pick<PortParts, 'observer' | 'random'>;

/**
 * Refuses an upgrade to WebSocket on any path, at once: agents try it before they fall back to server-sent events.
 * It happens before authentication, because there is nothing behind it to protect. The answer has no `upgrade` header,
 * which RFC 9110 §15.5.22 asks for: it would have to name a protocol to change to, and we offer none.
 */
export function answerUpgrade(request: IncomingMessage, socket: Duplex, parts: RefusalParts): void {
  // Node has let go of the socket: nobody else hears of a reset, and nobody else reads.
  socket.on('error', () => socket.destroy());
  socket.resume();
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  const isKnown = matchEndpoint('GET', path).kind !== 'none' || matchEndpoint('POST', path).kind !== 'none';
  const failure = fault(isKnown ? 'websocket_not_supported' : 'not_found');
  writeFault(socket, failure, platformOfPath(path), parts);
}

/** Answers a request that is not HTTP we accept: too large a header block, a broken framing, a late header. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex, parts: RefusalParts): void {
  // A fault has been written to it already: what still comes is the rest of what was refused.
  if (socket.writableEnded && !socket.destroyed) return;
  if (error.code === 'ECONNRESET' || !socket.writable || hasBegunAnswer(socket)) socket.destroy();
  else writeFault(socket, faultOfParserError(error.code), 'completions', parts);
}

/** True when the caller has a part of an answer, behind which another one would read as its continuation. */
function hasBegunAnswer(socket: Duplex & { readonly _httpMessage?: ServerResponse | null }): boolean {
  // Not a public member, but the one by which Node's own handler of this event decides the same.
  return socket._httpMessage?.headersSent === true;
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
      return invalidHttp();
  }
}

/** How long a refused caller may take to stop sending. */
export const lingerMs = 1000;

export function invalidHttp(): Fault {
  return fault('invalid_request', { message: 'The request is not valid HTTP/1.1.' });
}

/** Answers with a fault where no request could be read, and closes. */
export function writeFault(socket: Duplex, failure: Fault, platform: Platform, parts: RefusalParts): void {
  const traceId = parts.random.traceId();
  const { status, body } = encodeError(platform, failure, traceId);
  parts.observer.refused({ platform, code: failure.code, status, traceId });
  const headers = [...identityHeaders(platform, traceId), ...faultHeaders(failure), 'connection', 'close'];
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n`;
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
  socket.write(`${head}content-length: ${body.length}\r\n\r\n`);
  socket.end(body);
  // Closing with bytes of the caller unread is a reset, and that can overtake the answer.
  const patience = setTimeout(() => socket.destroy(), lingerMs).unref();
  // One that the caller has closed before is not kept as long.
  socket.once('close', () => clearTimeout(patience));
}
