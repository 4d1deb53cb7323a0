/** The surfaces' families. A key belongs to exactly one of them, through its group. */
export type Platform = 'completions' | 'messages' | 'native';

export type FaultOf = 'caller' | 'gateway' | 'upstream';

interface ErrorRow {
  readonly status: number;
  readonly fault: FaultOf;
  /** The same request may succeed later; `false` is announced as `x-should-retry: false`. */
  readonly retry: boolean;
  /** The text a caller sees when the place that fails has nothing more precise to say. */
  readonly text: string;
  /** When it is used, for docs/errors.md. */
  readonly when: string;
}

/**
 * Every error a caller can see. `docs/errors.md` is generated from this table and a test keeps them equal.
 * `content_refused` and `upstream_invalid_request` carry the upstream's own status and words.
 */
export const errorTable = {
  invalid_api_key: {
    status: 401,
    fault: 'caller',
    retry: false,
    text: 'The API key is missing or not valid.',
    when: 'a missing, malformed, unknown, disabled, expired or revoked key, or a key in the wrong place',
  },
  address_not_allowed: {
    status: 403,
    fault: 'caller',
    retry: false,
    text: 'This key may not be used from this address.',
    when: 'a key that is bound to addresses is used from another one, which the message names',
  },
  endpoint_not_on_platform: {
    status: 404,
    fault: 'caller',
    retry: false,
    text: "This endpoint does not belong to the platform of this key's group.",
    when: "a key used on another platform's endpoint",
  },
  not_found: {
    status: 404,
    fault: 'caller',
    retry: false,
    text: 'There is no such path.',
    when: 'no such path or action',
  },
  model_not_found: {
    status: 404,
    fault: 'caller',
    retry: false,
    text: 'The model does not exist or this key may not use it.',
    when: 'the key cannot call that model (unknown and forbidden look the same)',
  },
  invalid_request: {
    status: 400,
    fault: 'caller',
    retry: false,
    text: 'The request is not valid.',
    when: 'malformed JSON, a wrong type, a duplicate member that is read, an option no channel of the model can honour',
  },
  upstream_invalid_request: {
    status: 400,
    fault: 'caller',
    retry: false,
    text: 'The model refused the request as not valid.',
    when: "the upstream refused the request itself (400, 413, 422): its status and its words, in the surface's shape",
  },
  thread_unsupported_request: {
    status: 400,
    fault: 'caller',
    retry: false,
    text: 'Conversations are not kept here: send all of the messages and no thread.',
    when: 'a request wants its conversation kept by the server (`thread`); SDKs then go on without',
  },
  websocket_not_supported: {
    status: 426,
    fault: 'caller',
    retry: false,
    text: 'WebSocket is not offered here; use HTTP with server-sent events.',
    when: 'an upgrade to WebSocket is asked for, so that clients fall back to server-sent events',
  },
  method_not_allowed: {
    status: 405,
    fault: 'caller',
    retry: false,
    text: 'This path does not accept that method.',
    when: 'the path exists for other methods, which `allow` lists',
  },
  payload_too_large: {
    status: 413,
    fault: 'caller',
    retry: false,
    text: 'The request body is too large.',
    when: 'the body, plain or decompressed, is over the limit',
  },
  unsupported_media_type: {
    status: 415,
    fault: 'caller',
    retry: false,
    text: 'The content type or content encoding of the body is not supported.',
    when: 'a content type or content encoding the endpoint does not read',
  },
  request_timeout: {
    status: 408,
    fault: 'caller',
    retry: true,
    text: 'The request body did not arrive in time.',
    when: 'the body arrives too slowly',
  },
  insufficient_balance: {
    status: 402,
    fault: 'caller',
    retry: false,
    text: 'The balance or budget of this key is exhausted.',
    when: 'the balance of the account, or a budget of the key, its group or account, does not cover the call; says which, and when it begins anew',
  },
  call_in_progress: {
    status: 409,
    fault: 'caller',
    retry: true,
    text: 'A call with this idempotency key is being made; ask again when it is over.',
    when: 'a call is repeated under its `idempotency-key` while the first one runs, or before it is known what came of it; `retry-after` says when to ask again',
  },
  idempotency_key_reused: {
    status: 422,
    fault: 'caller',
    retry: false,
    text: 'This idempotency key was used for another request in the last 24 hours; send a new key.',
    when: 'an `idempotency-key` comes with another path or body than before',
  },
  rate_limited: {
    status: 429,
    fault: 'caller',
    retry: true,
    text: 'A rate limit of this key is exceeded.',
    when: 'a limit of ours on requests, tokens, images or concurrent calls; says which, with `retry-after` and [headers](callers.md#rate-limits)',
  },
  upstream_rate_limited: {
    status: 429,
    fault: 'upstream',
    retry: true,
    text: 'Every channel of this model is rate limited at the moment.',
    when: 'every channel is rate limited; `retry-after` is the soonest',
  },
  no_available_channel: {
    status: 503,
    fault: 'gateway',
    retry: true,
    text: 'No channel is available for this model at the moment.',
    when: 'nothing to try; `retry-after` when known',
  },
  upstream_error: {
    status: 502,
    fault: 'upstream',
    retry: true,
    text: 'The model did not give a usable answer.',
    when: 'all attempts failed, or an answer broke off after it had begun',
  },
  upstream_timeout: {
    status: 504,
    fault: 'upstream',
    retry: true,
    text: 'The model did not answer in time.',
    when: 'all attempts timed out, the answer stalled, or the deadline passed',
  },
  content_refused: {
    status: 400,
    fault: 'caller',
    retry: false,
    text: "The provider's content policy refused the request.",
    when: "the upstream's content policy refused: its status and words, never retried elsewhere by default",
  },
  overloaded: {
    status: 503,
    fault: 'gateway',
    retry: true,
    text: 'The gateway is overloaded or shutting down; try again shortly.',
    when: 'load is shed, or the process is draining',
  },
  store_unavailable: {
    status: 503,
    fault: 'gateway',
    retry: true,
    text: "The gateway's own store is not reachable; try again shortly.",
    when: 'our own store cannot be reached, or an entry not be written: its disk is full, or files of it are gone (never shown as a 401)',
  },
  internal: {
    status: 500,
    fault: 'gateway',
    retry: true,
    text: 'Something went wrong inside the gateway.',
    when: 'a bug; nothing private in the text',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

/** The limit of ours that a fault is about, as its caller may be told of it. */
export interface FaultLimit {
  /** Kinds have names such as `tokens-per-minute`. */
  readonly kind: string;
  /** Its owner: the key, or the group or account that it belongs to. */
  readonly owner: string;
  /** Null where it is counted for all models together. */
  readonly model: string | null;
}

/** One failure on its way to a caller. Everything in it is fit for the caller's eyes. */
export interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
  /** The member of the request that is to blame, as a path such as `messages[0].role`. */
  readonly param: string | null;
  /** Overrides the table's status; only for errors passed through from an upstream. */
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** The upstream's own code word, where a client knows it (`context_length_exceeded`). */
  readonly upstreamCode: string | null;
  /** Absent where it is about none. */
  readonly limit?: FaultLimit;
}

export type FaultDetail = Partial<Omit<Fault, 'code'>>;

/** Builds a fault; what is not given comes from the table. */
export function fault(code: ErrorCode, detail: FaultDetail = {}): Fault {
  const row = errorTable[code];
  return {
    code,
    message: detail.message ?? row.text,
    param: detail.param ?? null,
    status: detail.status ?? row.status,
    retryAfterMs: detail.retryAfterMs ?? null,
    upstreamCode: detail.upstreamCode ?? null,
    ...(detail.limit === undefined ? {} : { limit: detail.limit }),
  };
}
