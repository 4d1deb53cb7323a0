import type { Complaint } from '../protocol.ts';

interface ErrorWords {
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
  readonly param?: string;
}

const invalid = 'invalid_request_error';

/** What an upstream of this protocol usually says with a status. */
const wordsByStatus: Readonly<Record<number, ErrorWords>> = {
  400: { type: invalid, code: 'invalid_value', message: 'Invalid value in the request.' },
  401: { type: invalid, code: 'invalid_api_key', message: 'Incorrect API key provided: sk-simul*****ated.' },
  402: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'The account has no credit left.' },
  403: { type: invalid, code: 'permission_denied', message: 'This project may not use this model.' },
  404: { type: invalid, code: 'model_not_found', message: 'The model does not exist.', param: 'model' },
  408: { type: 'timeout', code: null, message: 'The request took too long to arrive.' },
  409: { type: 'conflict', code: null, message: 'The request conflicts with another one.' },
  413: { type: invalid, code: 'request_too_large', message: 'The request body is too large.' },
  422: { type: invalid, code: null, message: 'The request could not be processed.' },
  429: {
    type: 'requests',
    code: 'rate_limit_exceeded',
    message: 'Rate limit reached for requests per minute.',
  },
  500: {
    type: 'server_error',
    code: null,
    message: 'The server had an error while processing your request.',
  },
  503: {
    type: 'server_error',
    code: null,
    message: 'The engine is currently overloaded, please try again later.',
  },
  529: { type: 'overloaded_error', code: null, message: 'Overloaded.' },
};

/** What it says with a code, where the code says more than the status. */
const wordsByCode: Readonly<Record<string, ErrorWords>> = {
  insufficient_quota: {
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  },
  context_length_exceeded: {
    type: invalid,
    code: 'context_length_exceeded',
    message:
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    param: 'messages',
  },
  content_policy_violation: {
    type: invalid,
    code: 'content_policy_violation',
    message: 'Your request was rejected by the safety system.',
  },
  rate_limit_exceeded: {
    type: 'requests',
    code: 'rate_limit_exceeded',
    message: 'Rate limit reached for requests per minute.',
  },
  model_not_found: {
    type: invalid,
    code: 'model_not_found',
    message: 'The model does not exist.',
    param: 'model',
  },
};

const serverWords: ErrorWords = { type: 'server_error', code: null, message: 'The upstream failed.' };
const callerWords: ErrorWords = { type: invalid, code: null, message: 'The request is not valid.' };

/** The error in the protocol's envelope. */
export function errorBody(complaint: Complaint): string {
  return JSON.stringify({ error: errorMembers(complaint) });
}

/** The four members of an error, nulls included: the vendor's other protocols have the same. */
export function errorMembers(complaint: Complaint) {
  const { status, code, param } = complaint;
  const words =
    wordsByCode[code ?? ''] ?? wordsByStatus[status] ?? (status >= 500 ? serverWords : callerWords);
  return {
    message: complaint.message ?? words.message,
    type: words.type,
    param: param ?? words.param ?? null,
    // The usual code of a status is about a certain member, and so not about another one.
    code: code ?? ((param ?? words.param) === words.param || words.param === undefined ? words.code : null),
  };
}

export function errorFrame(complaint: Complaint): string {
  return `data: ${errorBody(complaint)}\n\n`;
}
