import { seededRandom } from '../fault-gate.ts';
import { countOf, type JsonRecord, listOf, recordOf } from '../json.ts';
import { simulatedModels } from '../models.ts';
import {
  type Complaint,
  type ErrorTable,
  type LookUp,
  type PromptEndpoint,
  type Rendering,
  type SimulatedProtocol,
  wordsFor,
} from '../protocol.ts';
import type { Frame } from '../timeline.ts';
import { answerBody, arrayFrames, eventFrames, promptDetails } from './answer.ts';
import { member, partsOf, readAsk, textOf } from './read-ask.ts';

/** `/v1beta/models/NAME:ACTION`; the name's command may have slashes and colons of its own. */
const actionPath = /^\/v1(?:beta|alpha)?\/models\/(.+):(\w+)$/;

function actionOf(path: string): string | null {
  return actionPath.exec(path)?.[2] ?? null;
}

function modelIn(path: string): string | null {
  const name = actionPath.exec(path)?.[1];
  return name === undefined ? null : decodeURIComponent(name);
}

/** Everything that the two framings of a stream, and an answer without one, do alike. */
interface Manner {
  readonly stream: boolean;
  readonly streamType: string;
  generatesAt(path: string, query: string): boolean;
  answerFrames(rendering: Rendering): Iterable<Frame>;
  /** An error after so many frames. */
  errorFrame(json: string, framesSent: number): string;
}

function speaking({ stream, streamType, generatesAt, answerFrames, errorFrame }: Manner): SimulatedProtocol {
  return {
    id: 'generate-content',
    requestIdHeader: 'x-request-id',
    streamType,
    promptEndpoints: [counting, embedding],
    generatesAt,
    modelIn,
    readAsk: (model, body) => readAsk(model, body, stream),
    answerBody,
    answerFrames,
    errorBody: (complaint) => errorBody(complaint),
    errorFrame: (complaint, { framesSent }) => errorFrame(errorBody(complaint), framesSent),
    lookUp,
  };
}

const counting: PromptEndpoint = {
  at: (path) => actionOf(path) === 'countTokens',
  readAsk: (model, body) => readAsk(model, countedBody(body), false),
  answerBody: (rendering) =>
    JSON.stringify({
      totalTokens: rendering.answer.usage.prompt,
      promptTokensDetails: promptDetails({ ...rendering, body: countedBody(rendering.body) }),
    }),
};

/** The contents alone, or a whole request as it would be sent to generate. */
function countedBody(body: JsonRecord): JsonRecord {
  const request = member(body, 'generateContentRequest');
  return request === undefined ? body : recordOf(request);
}

const embedding: PromptEndpoint = {
  at: (path) => ['embedContent', 'batchEmbedContents'].includes(actionOf(path) ?? ''),
  readAsk: (model, body) => readAsk(model, body, false),
  answerBody: embeddingsBody,
};

const eventStream: Manner = {
  stream: true,
  streamType: 'text/event-stream',
  generatesAt: (path, query) => actionOf(path) === 'streamGenerateContent' && asksForEvents(query),
  answerFrames: eventFrames,
  errorFrame: (json) => `data: ${json}\r\n\r\n`,
};

const arrayStream: Manner = {
  stream: true,
  streamType: 'application/json; charset=UTF-8',
  generatesAt: (path, query) => actionOf(path) === 'streamGenerateContent' && !asksForEvents(query),
  answerFrames: arrayFrames,
  // The first frame is the opening bracket alone.
  errorFrame: (json, framesSent) => `${framesSent > 1 ? ',\r\n' : ''}${json}\n]`,
};

const whole: Manner = {
  ...arrayStream,
  stream: false,
  generatesAt: (path) => actionOf(path) === 'generateContent',
};

function asksForEvents(query: string): boolean {
  return new URLSearchParams(query).get('alt') === 'sse';
}

/** One wire format in three manners, which the path and the query tell apart. */
export const generateContent: readonly SimulatedProtocol[] = [whole, eventStream, arrayStream].map(speaking);

const modelsPath = /^\/v1(?:beta|alpha)\/models(?:\/([^/]+))?$/;

/** The list in pages of `pageSize`, or one of its entries. `/v1/models` is left to the other protocols, who share it. */
function lookUp(path: string, query: string): LookUp | null {
  const match = modelsPath.exec(path);
  if (match === null) return null;
  const [, id] = match;
  return id === undefined ? listPage(new URLSearchParams(query)) : lookUpModel(decodeURIComponent(id));
}

function listPage(query: URLSearchParams): LookUp {
  const size = Number(query.get('pageSize') ?? 50);
  const start = Number(query.get('pageToken') ?? 0);
  const end = start + size;
  const models = simulatedModels.slice(start, end).map(({ id }) => encodeModel(id));
  const next = end < simulatedModels.length ? { nextPageToken: String(end) } : {};
  return { ok: true, body: JSON.stringify({ models, ...next }) };
}

function lookUpModel(id: string): LookUp {
  if (simulatedModels.some((model) => model.id === id))
    return { ok: true, body: JSON.stringify(encodeModel(id)) };
  const message = `Model is not found: models/${id} for api version v1beta`;
  return { ok: false, complaint: { status: 404, code: null, message, param: null } };
}

function encodeModel(id: string) {
  return {
    name: `models/${id}`,
    version: '001',
    displayName: id,
    description: 'Made-up answers of known length.',
    inputTokenLimit: 1_000_000,
    outputTokenLimit: 100_000,
    supportedGenerationMethods: ['generateContent', 'countTokens', 'embedContent'],
  };
}

const dimensionsDefault = 8;
const dimensionsMax = 3_072;

/** One vector for `embedContent`, a list of them for `batchEmbedContents`. */
function embeddingsBody({ body, answer, command }: Rendering): string {
  const requests = listOf(body['requests']).map(recordOf);
  const embedded =
    'requests' in body ? { embeddings: requests.map(embeddingOf) } : { embedding: embeddingOf(body) };
  const usage = command.usage === 'never' ? {} : { usageMetadata: { promptTokenCount: answer.usage.prompt } };
  return JSON.stringify({ ...embedded, ...usage });
}

/** The same text has the same vector, and nearly every other text another one. */
function embeddingOf(request: JsonRecord) {
  const text = partsOf(recordOf(request['content'])).map((part) => textOf(part) ?? '');
  const dimensions = countOf(member(request, 'outputDimensionality')) ?? dimensionsDefault;
  const random = seededRandom(seedOf(text.join(' ')));
  const length = Math.min(dimensions, dimensionsMax);
  return { values: Array.from({ length }, () => Math.round(random() * 2e6 - 1e6) / 1e6) };
}

function seedOf(text: string): number {
  return Array.from(text).reduce((seed, letter) => (seed * 31 + (letter.codePointAt(0) ?? 0)) % 2 ** 31, 7);
}

interface ErrorWords {
  readonly status: string;
  readonly message: string;
  /** The reason of an `ErrorInfo` among the details. */
  readonly reason?: string;
}

function words(status: string, message: string): ErrorWords {
  return { status, message };
}

const invalid = 'INVALID_ARGUMENT';
const exhausted = 'RESOURCE_EXHAUSTED';
const internal = words('INTERNAL', 'An internal error has occurred.');
const modelMissing = words(
  'NOT_FOUND',
  'models/simulated-model is not found for API version v1beta, or is not supported for generateContent.',
);
const tooLong = 'The input token count (210000) exceeds the maximum number of tokens allowed (200000).';
const overQuota = 'You exceeded your current quota, please check your plan and billing details.';

/** This protocol's codes are statuses: what others say by code it says by words and details. */
const errors: ErrorTable<ErrorWords> = {
  byStatus: {
    400: words(invalid, 'Request contains an invalid argument.'),
    401: words('UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
    402: words('FAILED_PRECONDITION', 'Billing is not enabled for this project.'),
    403: words('PERMISSION_DENIED', 'This project may not use the API.'),
    404: modelMissing,
    409: words('ABORTED', 'The operation was aborted.'),
    413: words(invalid, 'Request payload size exceeds the limit.'),
    429: words(exhausted, 'Resource has been exhausted (e.g. check quota).'),
    499: words('CANCELLED', 'The operation was cancelled.'),
    500: internal,
    503: words('UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    504: words('DEADLINE_EXCEEDED', 'The request timed out. Please try again.'),
  },
  byCode: {
    invalid_api_key: {
      ...words(invalid, 'API key not valid. Please pass a valid API key.'),
      reason: 'API_KEY_INVALID',
    },
    context_length_exceeded: words(invalid, tooLong),
    insufficient_quota: words(exhausted, overQuota),
    content_policy_violation: words(invalid, 'The request was blocked by the content policy.'),
    model_not_found: modelMissing,
  },
  server: internal,
  caller: words(invalid, 'The request is not valid.'),
};

/** The error in the protocol's envelope. */
function errorBody(complaint: Complaint): string {
  const found = wordsFor(errors, complaint);
  const details = detailsOf(found, complaint);
  const error = {
    code: complaint.status,
    message: complaint.message ?? found.message,
    status: found.status,
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
