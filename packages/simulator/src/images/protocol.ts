import { errorBody as chatErrorBody } from '../chat-completions/protocol.ts';
import { type Complaint, eventStream, type SimulatedProtocol } from '../protocol.ts';
import { answerBody, answerFrames } from './answer.ts';
import { readAsk, readOperation } from './read-ask.ts';

export const images: SimulatedProtocol = {
  id: 'images',
  requestIdHeader: 'x-request-id',
  streamType: eventStream,
  generatesAt: (path) => readOperation(path) !== null,
  readAsk,
  answerBody,
  answerFrames,
  errorBody,
  errorFrame,
};

const refusalMessage = 'Your request was rejected by the safety system. safety_violations=[violence].';

/** The vendor's usual envelope; a refused image has a type of its own. */
function errorBody(complaint: Complaint): string {
  if (!isRefusal(complaint)) return chatErrorBody(complaint);
  const { code, message } = complaint;
  const type = 'image_generation_user_error';
  return JSON.stringify({ error: { message: message ?? refusalMessage, type, param: null, code } });
}

function isRefusal({ code }: Complaint): boolean {
  return code === 'moderation_blocked' || code === 'content_policy_violation';
}

/** The same error as an event, its members under `error`. */
function errorFrame(complaint: Complaint): string {
  const body = errorBody(complaint).slice(1);
  return `event: error\ndata: {"type":"error",${body}\n\n`;
}
