import { type ErrorCode, errorTable, type Fault, type Platform } from './error.ts';
import { unreachable } from './result.ts';

/** An error as a surface's SDK expects it. */
export interface EncodedError {
  readonly status: number;
  /** JSON in UTF-8. */
  readonly body: Uint8Array;
}

const encoder = new TextEncoder();

/** An error answer in the shape of its surface, with the trace id where that shape has room. */
export function encodeError(platform: Platform, fault: Fault, traceId: string): EncodedError {
  return {
    status: fault.status,
    body: encoder.encode(JSON.stringify(errorEnvelope(platform, fault, traceId))),
  };
}

/** The same error as an event within a stream that has begun. */
export function encodeStreamEnvelope(platform: Platform, fault: Fault, traceId: string): Uint8Array {
  const name = platform === 'messages' ? 'event: error\n' : '';
  return encoder.encode(`${name}data: ${JSON.stringify(errorEnvelope(platform, fault, traceId))}\n\n`);
}

/** The body of an error answer, before it is written. */
export function errorEnvelope(platform: Platform, fault: Fault, traceId: string): object {
  const code = codeOf(fault);
  const { message, param } = fault;
  switch (platform) {
    case 'completions':
      return { error: completionsError(fault, traceId) };
    case 'messages':
      return {
        type: 'error',
        error: {
          type: messagesType(fault),
          message,
          param,
          code,
          trace_id: traceId,
          ...messagesDetails(fault),
        },
        request_id: traceId,
      };
    case 'native':
      return { error: nativeError(fault, code, traceId) };
    default:
      return unreachable(platform);
  }
}

/** An error's members on the surface whose protocols share them, nulls included. */
export function completionsError(fault: Fault, traceId: string) {
  const { message, param } = fault;
  return { message, type: completionsType(fault), param, code: codeOf(fault), trace_id: traceId };
}

function codeOf({ upstreamCode, code }: Fault): string {
  return upstreamCode ?? code;
}

/** A wrong key has the same words on every surface; elsewhere `code` is this surface's HTTP status and `reason` the word. */
function nativeError(fault: Fault, reason: string, traceId: string): object {
  const { message } = fault;
  const status = nativeStatus(fault.status);
  if (fault.code === 'invalid_api_key') {
    return { code: reason, message, status, type: 'invalid_request_error', trace_id: traceId };
  }
  return { code: fault.status, message, status, reason, param: fault.param, trace_id: traceId };
}

function completionsType(fault: Fault): string {
  switch (fault.code) {
    case 'insufficient_balance':
      return 'insufficient_quota';
    case 'rate_limited':
    case 'upstream_rate_limited':
      return 'rate_limit_error';
    case 'overloaded':
    case 'store_unavailable':
    case 'no_available_channel':
      return 'service_unavailable_error';
    default:
      return isCallers(fault.code) ? 'invalid_request_error' : 'server_error';
  }
}

function messagesType(fault: Fault): string {
  if (fault.code === 'invalid_api_key') return 'invalid_request_error';
  switch (fault.status) {
    case 402:
      return 'billing_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 408:
    case 504:
      return 'timeout_error';
    case 409:
      return 'conflict_error';
    case 413:
      return 'request_too_large';
    case 429:
      return 'rate_limit_error';
    case 503:
    case 529:
      return 'overloaded_error';
    default:
      return fault.status < 500 ? 'invalid_request_error' : 'api_error';
  }
}

/** The members by which the official SDK knows to go on without the thread it asked for. */
function messagesDetails({ code }: Fault): object {
  return code === 'thread_unsupported_request'
    ? { details: { error_code: code, unsupported: ['thread'] } }
    : {};
}

/** The canonical status word for an HTTP status, as the native surface pairs them. */
function nativeStatus(status: number): string {
  switch (status) {
    case 401:
      return 'UNAUTHENTICATED';
    case 402:
    case 426:
      return 'FAILED_PRECONDITION';
    case 403:
      return 'PERMISSION_DENIED';
    case 404:
      return 'NOT_FOUND';
    case 405:
      return 'UNIMPLEMENTED';
    case 408:
    case 504:
      return 'DEADLINE_EXCEEDED';
    case 409:
      return 'ABORTED';
    case 429:
      return 'RESOURCE_EXHAUSTED';
    case 502:
    case 503:
    case 529:
      return 'UNAVAILABLE';
    default:
      return status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL';
  }
}

function isCallers(code: ErrorCode): boolean {
  return errorTable[code].fault === 'caller';
}

/** A comment, which every reader of server-sent events skips. */
export const commentFrame = encoder.encode(': keep-alive\n\n');

/** The event that the messages protocol has for it. */
export const pingFrame = encoder.encode('event: ping\ndata: {"type": "ping"}\n\n');
