import { simulatedModels } from '../models.ts';
import {
  type Complaint,
  type ErrorTable,
  eventStream,
  type LookUp,
  type SimulatedProtocol,
  wordsFor,
} from '../protocol.ts';
import { answerBody, answerFrames } from './answer.ts';
import { readAsk } from './read-ask.ts';

export const chatCompletions: SimulatedProtocol = {
  id: 'chat-completions',
  requestIdHeader: 'x-request-id',
  streamType: eventStream,
  generatesAt: (path) => path === '/v1/chat/completions',
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

function invalid(code: string | null, message: string, param?: string): ErrorWords {
  return { type: 'invalid_request_error', code, message, ...(param === undefined ? {} : { param }) };
}

function failed(type: string, message: string, code: string | null = null): ErrorWords {
  return { type, code, message };
}

const quota = 'insufficient_quota';
const modelMissing = invalid('model_not_found', 'The model does not exist.', 'model');
const tooManyRequests = failed(
  'requests',
  'Rate limit reached for requests per minute.',
  'rate_limit_exceeded',
);
const tooLong =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.";

const errors: ErrorTable<ErrorWords> = {
  byStatus: {
    400: invalid('invalid_value', 'Invalid value in the request.'),
    401: invalid('invalid_api_key', 'Incorrect API key provided: sk-simul*****ated.'),
    402: failed(quota, 'The account has no credit left.', quota),
    403: invalid('permission_denied', 'This project may not use this model.'),
    404: modelMissing,
    408: failed('timeout', 'The request took too long to arrive.'),
    409: failed('conflict', 'The request conflicts with another one.'),
    413: invalid('request_too_large', 'The request body is too large.'),
    422: invalid(null, 'The request could not be processed.'),
    429: tooManyRequests,
    500: failed('server_error', 'The server had an error while processing your request.'),
    503: failed('server_error', 'The engine is currently overloaded, please try again later.'),
    529: failed('overloaded_error', 'Overloaded.'),
  },
  byCode: {
    insufficient_quota: failed(
      quota,
      'You exceeded your current quota, please check your plan and billing details.',
      quota,
    ),
    context_length_exceeded: invalid('context_length_exceeded', tooLong, 'messages'),
    content_policy_violation: invalid(
      'content_policy_violation',
      'Your request was rejected by the safety system.',
    ),
    rate_limit_exceeded: tooManyRequests,
    model_not_found: modelMissing,
  },
  server: failed('server_error', 'The upstream failed.'),
  caller: invalid(null, 'The request is not valid.'),
};

/** The error in the protocol's envelope. */
export function errorBody(complaint: Complaint): string {
  return JSON.stringify({ error: errorMembers(complaint) });
}

/** The four members of an error, nulls included: the vendor's other protocols have the same. */
export function errorMembers(complaint: Complaint) {
  const { code, param } = complaint;
  const words = wordsFor(errors, complaint);
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
