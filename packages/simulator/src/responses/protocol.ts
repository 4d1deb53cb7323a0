import { errorMembers } from '../chat-completions/protocol.ts';
import { type Complaint, type ErrorPlace, eventStream, type SimulatedProtocol } from '../protocol.ts';
import { answerFrames, closedResponse, encodeEvent, failedResponse, remember } from './answer.ts';
import { readAsk } from './read-ask.ts';

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
  readAsk,
  remember,
  answerBody: (rendering) => JSON.stringify(closedResponse(rendering)),
  answerFrames,
  errorBody,
  errorFrame,
};

/** The error in the envelope that the vendor's protocols share. */
function errorBody(complaint: Complaint): string {
  return JSON.stringify({ error: errorOf(complaint) });
}

/** An error in a stream is told twice: as an event of its own and as the end of the response. */
function errorFrame(complaint: Complaint, { rendering, framesSent }: ErrorPlace): string {
  const { type, code, message, param } = errorOf(complaint);
  const response = failedResponse(rendering, { code: code ?? 'server_error', message });
  return (
    encodeEvent('error', framesSent, { error: { type, code, message, param } }) +
    encodeEvent('response.failed', framesSent + 1, { response })
  );
}

/** The `messages` of chat completions are `input` here. */
function errorOf(complaint: Complaint) {
  const error = errorMembers(complaint);
  return error.param === 'messages' ? { ...error, param: 'input' } : error;
}
