import { encodeError, errorTable, type Fault } from '@headgate/protocols';
import type { Reply } from '../ports/data-plane.ts';

/** Sends an error in the envelope of the surface, with the headers that tell SDKs whether to try again. */
export function sendFault(
  failure: Fault,
  attempts: number,
  traceId: string,
  reply: Reply,
  extra: readonly string[] = [],
): void {
  const { status, body } = encodeError(reply.platform, failure, traceId);
  const headers = [...faultHeaders(failure), ...extra];
  if (attempts > 0) headers.push('x-headgate-attempts', String(attempts));
  reply.send(status, headers, body);
}

/** What the head of every error says, whoever writes it. */
export function faultHeaders(failure: Fault): string[] {
  const headers = ['content-type', 'application/json'];
  if (!errorTable[failure.code].retry) headers.push('x-should-retry', 'false');
  if (failure.retryAfterMs !== null)
    headers.push('retry-after', String(Math.max(1, Math.ceil(failure.retryAfterMs / 1000))));
  return headers;
}
