import type { Replacement } from './command/fault.ts';
import type { Complaint, Rendering, SimulatedProtocol } from './protocol.ts';
import type { Frame } from './timeline/frame.ts';

type ReplyBody =
  | { readonly kind: 'text'; readonly text: string; readonly tokens: number }
  | { readonly kind: 'stream'; readonly frames: Iterable<Frame>; readonly rendering: Rendering };

/** An answer before it is timed, broken or framed. `tokens` is what a JSON answer took to produce. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: ReplyBody;
}

const json = 'application/json';

export function streamReply(contentType: string, frames: Iterable<Frame>, rendering: Rendering): Reply {
  return { status: 200, contentType, body: { kind: 'stream', frames, rendering } };
}

export function jsonReply(text: string, tokens: number): Reply {
  return { status: 200, contentType: json, body: { kind: 'text', text, tokens } };
}

export function errorReply(protocol: SimulatedProtocol, complaint: Complaint): Reply {
  const text = protocol.errorBody(complaint);
  return { status: complaint.status, contentType: json, body: { kind: 'text', text, tokens: 0 } };
}

const page =
  '<!DOCTYPE html>\n<html><head><title>Just a moment</title></head>\n' +
  '<body><h1>Checking your browser</h1><p>A simulated page of a middlebox.</p></body></html>\n';

export function replaced(reply: Reply, replacement: Replacement): Reply {
  switch (replacement) {
    case 'html':
      return textReply(200, 'text/html; charset=utf-8', page);
    case 'html-403':
      return textReply(403, 'text/html; charset=utf-8', page);
    case 'empty':
      return textReply(200, reply.contentType, '');
    case 'wrong-type':
      return { ...reply, contentType: 'application/octet-stream' };
  }
}

function textReply(status: number, contentType: string, text: string): Reply {
  return { status, contentType, body: { kind: 'text', text, tokens: 0 } };
}
