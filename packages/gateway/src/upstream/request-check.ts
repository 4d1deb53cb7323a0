import type { UpstreamRequest } from '../ports/upstream-client.ts';

/** Anything that could end a line or smuggle a second one: header text is tab and visible latin-1 only. */
const unsafeInHeader = /[^\t\x20-\x7e\x80-\xff]/;
const unsafeInPath = /[^\x21-\x7e]/;

/** Throws a TypeError for a request that would break its own framing; hygiene is the business of whoever built it. */
export function assertSendable(request: UpstreamRequest): void {
  if (!request.path.startsWith('/') || unsafeInPath.test(request.path)) throw new TypeError('unsafe path');
  if (unsafeInHeader.test(request.headers.join(''))) throw new TypeError('unsafe header');
}
