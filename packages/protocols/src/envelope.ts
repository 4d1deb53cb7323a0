import { type ErrorCode, errorTable, type Fault, type FaultLimit, type Platform } from './error.ts';
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
  const details = nativeDetails(fault);
  const told = { code: fault.status, message, status, reason, param: fault.param, trace_id: traceId };
  return details.length === 0 ? told : { ...told, details };
}

/** This surface's clients read here, and not in a header, how long to wait, and whether a quota is one of days. */
function nativeDetails({ retryAfterMs, limit }: Fault): readonly object[] {
  const details: object[] = [];
  if (limit !== undefined)
    details.push({ '@type': detailType('QuotaFailure'), violations: [violationOf(limit)] });
  if (retryAfterMs !== null)
    details.push({ '@type': detailType('RetryInfo'), retryDelay: `${retryAfterSeconds(retryAfterMs)}s` });
  return details;
}

function detailType(name: string): string {
  return `type.googleapis.com/google.rpc.${name}`;
}

function violationOf({ kind, owner, model }: FaultLimit): object {
  const quotaId = kind
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
  return {
    subject: owner,
    quotaMetric: kind,
    quotaId,
    ...(model === null ? {} : { quotaDimensions: { model } }),
  };
}

/** Whole seconds, as `retry-after` has them: never none, and never too few. */
export function retryAfterSeconds(retryAfterMs: number): number {
  return Math.max(1, Math.ceil(retryAfterMs / 1000));
}

const completionsTypes: Partial<Record<ErrorCode, string>> = {
  insufficient_balance: 'insufficient_quota',
  rate_limited: 'rate_limit_error',
  upstream_rate_limited: 'rate_limit_error',
  overloaded: 'service_unavailable_error',
  store_unavailable: 'service_unavailable_error',
  no_available_channel: 'service_unavailable_error',
};

function completionsType({ code }: Fault): string {
  const isCallers = errorTable[code].fault === 'caller';
  return completionsTypes[code] ?? (isCallers ? 'invalid_request_error' : 'server_error');
}

const messagesTypes: Readonly<Record<number, string>> = {
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function messagesType({ code, status }: Fault): string {
  if (code === 'invalid_api_key') return 'invalid_request_error';
  return messagesTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

/** The members by which the official SDK knows to go on without the thread it asked for. */
function messagesDetails({ code }: Fault): object {
  return code === 'thread_unsupported_request'
    ? { details: { error_code: code, unsupported: ['thread'] } }
    : {};
}

/** The canonical status word for an HTTP status, as the native surface pairs them. */
const nativeStatuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  426: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
};

function nativeStatus(status: number): string {
  return nativeStatuses[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
}

/** A comment, which every reader of server-sent events skips. */
export const commentFrame = encoder.encode(': keep-alive\n\n');

/** The event that the messages protocol has for it. */
export const pingFrame = encoder.encode('event: ping\ndata: {"type": "ping"}\n\n');
