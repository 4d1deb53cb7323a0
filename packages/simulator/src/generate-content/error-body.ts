import type { Complaint } from '../protocol.ts';

interface ErrorWords {
  readonly status: string;
  readonly message: string;
  /** The reason of an `ErrorInfo` among the details. */
  readonly reason?: string;
}

const invalid = 'INVALID_ARGUMENT';
const exhausted = 'You exceeded your current quota, please check your plan and billing details.';

/** What an upstream of this protocol usually says with a status. */
const wordsByStatus: Readonly<Record<number, ErrorWords>> = {
  400: { status: invalid, message: 'Request contains an invalid argument.' },
  401: { status: 'UNAUTHENTICATED', message: 'Request had invalid authentication credentials.' },
  402: { status: 'FAILED_PRECONDITION', message: 'Billing is not enabled for this project.' },
  403: { status: 'PERMISSION_DENIED', message: 'This project may not use the API.' },
  404: { status: 'NOT_FOUND', message: modelMissing() },
  409: { status: 'ABORTED', message: 'The operation was aborted.' },
  413: { status: invalid, message: 'Request payload size exceeds the limit.' },
  429: { status: 'RESOURCE_EXHAUSTED', message: 'Resource has been exhausted (e.g. check quota).' },
  499: { status: 'CANCELLED', message: 'The operation was cancelled.' },
  500: { status: 'INTERNAL', message: 'An internal error has occurred.' },
  503: { status: 'UNAVAILABLE', message: 'The model is overloaded. Please try again later.' },
  504: { status: 'DEADLINE_EXCEEDED', message: 'The request timed out. Please try again.' },
};

/** This protocol's codes are statuses: what others say by code it says by words and details. */
const wordsByCode: Readonly<Record<string, ErrorWords>> = {
  invalid_api_key: {
    status: invalid,
    message: 'API key not valid. Please pass a valid API key.',
    reason: 'API_KEY_INVALID',
  },
  context_length_exceeded: {
    status: invalid,
    message: 'The input token count (210000) exceeds the maximum number of tokens allowed (200000).',
  },
  insufficient_quota: { status: 'RESOURCE_EXHAUSTED', message: exhausted },
  content_policy_violation: { status: invalid, message: 'The request was blocked by the content policy.' },
  model_not_found: { status: 'NOT_FOUND', message: modelMissing() },
};

const serverWords: ErrorWords = { status: 'INTERNAL', message: 'An internal error has occurred.' };
const callerWords: ErrorWords = { status: invalid, message: 'The request is not valid.' };

/** The error in the protocol's envelope. */
export function errorBody(complaint: Complaint): string {
  const { status, code, message } = complaint;
  const words =
    wordsByCode[code ?? ''] ?? wordsByStatus[status] ?? (status >= 500 ? serverWords : callerWords);
  const details = detailsOf(words, complaint);
  const error = {
    code: status,
    message: message ?? words.message,
    status: words.status,
    ...(details.length > 0 ? { details } : {}),
  };
  return JSON.stringify({ error });
}

function detailsOf({ reason }: ErrorWords, { retryDelayMs }: Complaint): readonly object[] {
  const details = [];
  if (reason !== undefined)
    details.push({ '@type': typeUrl('ErrorInfo'), reason, domain: 'googleapis.com', metadata: {} });
  if (retryDelayMs !== undefined && retryDelayMs !== null)
    details.push({ '@type': typeUrl('RetryInfo'), retryDelay: `${retryDelayMs / 1_000}s` });
  return details;
}

function typeUrl(name: string): string {
  return `type.googleapis.com/google.rpc.${name}`;
}

function modelMissing(): string {
  return 'models/simulated-model is not found for API version v1beta, or is not supported for generateContent.';
}
