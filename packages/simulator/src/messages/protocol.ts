import { stringOf } from '../json.ts';
import { eventStream, type SimulatedProtocol } from '../protocol.ts';
import { answerBody } from './answer-body.ts';
import { answerFrames } from './answer-frames.ts';
import { errorBody, errorFrame } from './error-body.ts';
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
