import { stringOf } from '../json.ts';
import { eventStream, type SimulatedProtocol } from '../protocol.ts';
import { answerBody } from './answer-body.ts';
import { answerFrames } from './answer-frames.ts';
import { errorBody, errorFrame } from './error-body.ts';
import { readAsk, readOperation } from './read-ask.ts';

export const images: SimulatedProtocol = {
  id: 'images',
  requestIdHeader: 'x-request-id',
  streamType: eventStream,
  promptEndpoints: [],
  generatesAt: (path) => readOperation(path) !== null,
  modelOf: (_path, body) => stringOf(body['model']),
  readAsk,
  answerBody,
  answerFrames,
  errorBody,
  errorFrame,
  // The list of models is at the path of chat completions.
  lookUp: () => null,
};
