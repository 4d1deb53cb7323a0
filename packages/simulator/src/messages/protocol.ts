import {
  type Complaint,
  type ErrorTable,
  eventStream,
  type SimulatedProtocol,
  wordsFor,
} from '../protocol.ts';
import { answerBody, answerFrames } from './answer.ts';
import { readAsk, readPrompt } from './read-ask.ts';

export const messages: SimulatedProtocol = {
  id: 'messages',
  requestIdHeader: 'request-id',
  streamType: eventStream,
  promptEndpoints: [
    {
      at: (path) => path === '/v1/messages/count_tokens',
      readAsk: readPrompt,
      answerBody: ({ answer }) => JSON.stringify({ input_tokens: answer.usage.prompt }),
    },
  ],
  generatesAt: (path) => path === '/v1/messages',
  readAsk,
  answerBody,
  answerFrames,
  errorBody,
  errorFrame,
};

interface ErrorWords {
  readonly type: string;
  readonly message: string;
}

function words(type: string, message: string): ErrorWords {
  return { type, message };
}

const invalid = 'invalid_request_error';
const modelMissing = words('not_found_error', 'model: simulated-model');
const overloaded = words('overloaded_error', 'Overloaded');

/** This protocol has no codes: what others say by code it says by type and message. */
const errors: ErrorTable<ErrorWords> = {
  byStatus: {
    400: words(invalid, 'messages: the request is not valid'),
    401: words('authentication_error', 'invalid x-api-key'),
    402: words('billing_error', 'Your credit balance is too low.'),
    403: words('permission_error', 'This key may not use the resource.'),
    404: modelMissing,
    409: words('conflict_error', 'The request conflicts with another one.'),
    413: words('request_too_large', 'Request exceeds the maximum size'),
    429: words('rate_limit_error', 'This request would exceed your rate limit.'),
    503: overloaded,
    504: words('timeout_error', 'The request timed out.'),
    529: overloaded,
  },
  byCode: {
    context_length_exceeded: words(invalid, 'prompt is too long: 210000 tokens > 200000 maximum'),
    insufficient_quota: words('billing_error', 'Your credit balance is too low to access the API.'),
    content_policy_violation: words(invalid, 'Output blocked by content filtering policy'),
    model_not_found: modelMissing,
  },
  server: words('api_error', 'Internal server error'),
  caller: words(invalid, 'The request is not valid.'),
};

/** The error in the protocol's envelope. */
function errorBody(complaint: Complaint): string {
  const { type, message } = wordsFor(errors, complaint);
  const error = { type, message: complaint.message ?? message };
  return JSON.stringify({ type: 'error', error, request_id: null });
}

function errorFrame(complaint: Complaint): string {
  return `event: error\ndata: ${errorBody(complaint)}\n\n`;
}
