import type { JsonRecord } from '../json.ts';
import { recordOf } from '../json.ts';
import type { PromptEndpoint, Rendering, SimulatedProtocol } from '../protocol.ts';
import type { Frame } from '../timeline/frame.ts';
import { answerBody } from './answer-body.ts';
import { arrayFrames, eventFrames } from './answer-frames.ts';
import { embeddingsBody } from './embeddings.ts';
import { errorBody } from './error-body.ts';
import { lookUp } from './models.ts';
import { readAsk } from './read-ask.ts';
import { member } from './spelling.ts';
import { promptDetails } from './usage.ts';

/** `/v1beta/models/NAME:ACTION`; the name's command may have slashes and colons of its own. */
const actionPath = /^\/v1(?:beta|alpha)?\/models\/(.+):(\w+)$/;

function actionOf(path: string): string | null {
  return actionPath.exec(path)?.[2] ?? null;
}

function modelOf(path: string): string | null {
  const name = actionPath.exec(path)?.[1];
  return name === undefined ? null : decodeURIComponent(name);
}

/** What the two framings of a stream, and an answer without one, do alike. */
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
