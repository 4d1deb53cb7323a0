import type { UpstreamFailure } from '../ports/upstream-client.ts';
import { ForbiddenAddressError } from './address-guard.ts';

/** Why no connection came about, from what the socket reported. */
export function connectFailure(error: Error): UpstreamFailure {
  if (error instanceof ForbiddenAddressError) return { kind: 'forbidden-address', detail: error.message };
  return { kind: 'unreachable', detail: describeError(error) };
}

/** The words of an error for the log; with several addresses tried, those of every one. */
export function describeError(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map(String).join('; ');
  return error.message;
}

export const abortedFailure: UpstreamFailure = {
  kind: 'aborted',
  detail: 'the gateway let go of the request',
};
export const closedFailure: UpstreamFailure = { kind: 'aborted', detail: 'the upstream client is closed' };
