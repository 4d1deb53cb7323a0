import { stringOf } from '../json.ts';
import { eventStream, type SimulatedProtocol } from '../protocol.ts';
import { answerFrames } from './answer-frames.ts';
import { errorBody, errorFrame } from './error-body.ts';
import { readAsk } from './read-ask.ts';
import { remember } from './remember.ts';
import { closedResponse } from './response-object.ts';

const path = '/v1/responses';

export const responses: SimulatedProtocol = {
  id: 'responses',
  requestIdHeader: 'x-request-id',
  streamType: eventStream,
  promptEndpoints: [
    {
      at: (asked) => asked === `${path}/input_tokens`,
      readAsk,
      answerBody: ({ answer }) =>
        JSON.stringify({ object: 'response.input_tokens', input_tokens: answer.usage.prompt }),
    },
  ],
  generatesAt: (asked) => asked === path,
  modelOf: (_path, request) => stringOf(request['model']),
  readAsk,
  remember,
  answerBody: (rendering) => JSON.stringify(closedResponse(rendering)),
  answerFrames,
  errorBody,
  errorFrame,
  // The list of models is at the path of chat completions.
  lookUp: () => null,
};
