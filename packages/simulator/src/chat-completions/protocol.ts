import { stringOf } from '../json.ts';
import { simulatedModels } from '../models.ts';
import { type Complaint, eventStream, type LookUp, type SimulatedProtocol } from '../protocol.ts';
import { answerBody, answerFrames } from './answer.ts';
import { readAsk } from './read-ask.ts';

export const chatCompletions: SimulatedProtocol = {
  id: 'chat-completions',
  requestIdHeader: 'x-request-id',
  streamType: eventStream,
  promptEndpoints: [],
  generatesAt: (path) => path === '/v1/chat/completions',
  modelOf: (_path, body) => stringOf(body['model']),
  readAsk,
  answerBody,
  answerFrames,
  errorBody,
  errorFrame,
  lookUp,
};

const listPath = '/v1/models';

function lookUp(path: string): LookUp | null {
  if (path === listPath) {
    const data = simulatedModels.map((model) => encodeModel(model.id));
    const ends = { has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return { ok: true, body: JSON.stringify({ object: 'list', data, ...ends }) };
  }
  return path.startsWith(`${listPath}/`)
    ? lookUpModel(decodeURIComponent(path.slice(listPath.length + 1)))
    : null;
}

function lookUpModel(id: string): LookUp {
  if (simulatedModels.some((model) => model.id === id)) {
    return { ok: true, body: JSON.stringify(encodeModel(id)) };
  }
  const message = `The model '${id}' does not exist`;
  return { ok: false, complaint: { status: 404, code: 'model_not_found', message, param: 'model' } };
}

/** The day the simulator was first listed, 2026-01-01; a constant, so that lists are the same every time. */
const listedS = 1_767_225_600;

/** The path is that of the messages protocol too, so an entry has the members of both. */
function encodeModel(id: string) {
  return {
    id,
    object: 'model',
    created: listedS,
    owned_by: 'headgate-simulator',
    type: 'model',
    display_name: id,
    created_at: new Date(listedS * 1_000).toISOString(),
  };
}

interface ErrorWords {
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
  readonly param?: string;
}

const invalid = 'invalid_request_error';

/** The usual words of an upstream of this protocol with a status. */
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

/** Its words with a code that says more than the status. */
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

function errorFrame(complaint: Complaint): string {
  return `data: ${errorBody(complaint)}\n\n`;
}
