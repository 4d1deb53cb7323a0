import type { UpstreamRequest } from '../ports/upstream-client.ts';

/** Anything that could end a line or smuggle a second one: header text is tab and visible latin-1 only. */
const unsafeInHeader = /[^\t\x20-\x7e\x80-\xff]/;
const unsafeInPath = /[^\x21-\x7e]/;

/** Throws a TypeError for a request that would break its own framing; hygiene is the business of whoever built it. */
export function assertSendable(request: UpstreamRequest): void {
  if (!request.path.startsWith('/') || unsafeInPath.test(request.path)) throw new TypeError('unsafe path');
  for (const text of request.headers) if (unsafeInHeader.test(text)) throw new TypeError('unsafe header');
}

/** The head of a request as it goes over the wire, in latin-1. A POST without a body says so. */
export function encodeRequestHead(request: UpstreamRequest, authority: string): string {
  const { method, path, headers, body } = request;
  const length = bodyLength(body);
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\nconnection: keep-alive\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  }
  if (length > 0 || method === 'POST') text += `content-length: ${length}\r\n`;
  return `${text}\r\n`;
}

/** Bytes of a body in pieces. */
export function bodyLength(pieces: readonly Uint8Array[]): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
}
