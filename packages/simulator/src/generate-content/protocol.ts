import { seededRandom } from '../fault-gate.ts';
import { countOf, type JsonRecord, listOf, recordOf } from '../json.ts';
import { simulatedModels } from '../models.ts';
import type { Complaint, LookUp, PromptEndpoint, Rendering, SimulatedProtocol } from '../protocol.ts';
import type { Frame } from '../timeline.ts';
import { answerBody, arrayFrames, eventFrames, promptDetails } from './answer.ts';
import { member, partsOf, readAsk, textOf } from './read-ask.ts';

/** `/v1beta/models/NAME:ACTION`; the name's command may have slashes and colons of its own. */
const actionPath = /^\/v1(?:beta|alpha)?\/models\/(.+):(\w+)$/;

function actionOf(path: string): string | null {
  return actionPath.exec(path)?.[2] ?? null;
}

function modelOf(path: string): string | null {
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
    modelOf,
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

const invalid = 'INVALID_ARGUMENT';
const exhausted = 'You exceeded your current quota, please check your plan and billing details.';

/** The usual words of an upstream of this protocol with a status. */
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
function errorBody(complaint: Complaint): string {
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
