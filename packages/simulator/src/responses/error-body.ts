import { errorMembers } from '../chat-completions/error-body.ts';
import type { Complaint, ErrorPlace } from '../protocol.ts';
import { encodeEvent } from './answer-frames.ts';
import { failedResponse } from './response-object.ts';

/** The error in the envelope that the vendor's protocols share. */
export function errorBody(complaint: Complaint): string {
  return JSON.stringify({ error: errorOf(complaint) });
}

/** An error in a stream is told twice: as an event of its own and as the end of the response. */
export function errorFrame(complaint: Complaint, { rendering, framesSent }: ErrorPlace): string {
  const { type, code, message, param } = errorOf(complaint);
  const response = failedResponse(rendering, { code: code ?? 'server_error', message });
  return (
    encodeEvent('error', framesSent, { error: { type, code, message, param } }) +
    encodeEvent('response.failed', framesSent + 1, { response })
  );
}

/** What is `messages` in chat completions is `input` here. */
function errorOf(complaint: Complaint) {
  const error = errorMembers(complaint);
  return error.param === 'messages' ? { ...error, param: 'input' } : error;
}
