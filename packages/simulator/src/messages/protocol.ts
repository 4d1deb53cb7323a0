import { stringOf } from '../json.ts';
import { type Complaint, eventStream, type SimulatedProtocol } from '../protocol.ts';
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
  modelOf: (_path, body) => stringOf(body['model']),
  readAsk,
  answerBody,
  answerFrames,
  errorBody,
  errorFrame,
  // The list of models is at the path of chat completions, with the members of both.
  lookUp: () => null,
};

interface ErrorWords {
  readonly type: string;
  readonly message: string;
}

const invalid = 'invalid_request_error';

/** The usual words of an upstream of this protocol with a status. */
const wordsByStatus: Readonly<Record<number, ErrorWords>> = {
  400: { type: invalid, message: 'messages: the request is not valid' },
  401: { type: 'authentication_error', message: 'invalid x-api-key' },
  402: { type: 'billing_error', message: 'Your credit balance is too low.' },
  403: { type: 'permission_error', message: 'This key may not use the resource.' },
  404: { type: 'not_found_error', message: 'model: simulated-model' },
  409: { type: 'conflict_error', message: 'The request conflicts with another one.' },
  413: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
  429: { type: 'rate_limit_error', message: 'This request would exceed your rate limit.' },
  503: { type: 'overloaded_error', message: 'Overloaded' },
  504: { type: 'timeout_error', message: 'The request timed out.' },
  529: { type: 'overloaded_error', message: 'Overloaded' },
};

/** This protocol has no codes: what others say by code it says by type and message. */
const wordsByCode: Readonly<Record<string, ErrorWords>> = {
  context_length_exceeded: {
    type: invalid,
    message: 'prompt is too long: 210000 tokens > 200000 maximum',
  },
  insufficient_quota: {
    type: 'billing_error',
    message: 'Your credit balance is too low to access the API.',
  },
  content_policy_violation: { type: invalid, message: 'Output blocked by content filtering policy' },
  model_not_found: { type: 'not_found_error', message: 'model: simulated-model' },
};

const serverWords: ErrorWords = { type: 'api_error', message: 'Internal server error' };
const callerWords: ErrorWords = { type: invalid, message: 'The request is not valid.' };

/** The error in the protocol's envelope. */
function errorBody({ status, code, message }: Complaint): string {
  const words =
    wordsByCode[code ?? ''] ?? wordsByStatus[status] ?? (status >= 500 ? serverWords : callerWords);
  const error = { type: words.type, message: message ?? words.message };
  return JSON.stringify({ type: 'error', error, request_id: null });
}

function errorFrame(complaint: Complaint): string {
  return `event: error\ndata: ${errorBody(complaint)}\n\n`;
}
