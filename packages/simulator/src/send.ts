import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import type { Command, Replacement } from './command/command.ts';
import type { RetryAfter } from './command/words.ts';
import { type Complaint, idOf, type Rendering, type SimulatedProtocol, type Stamp } from './protocol.ts';
import type { Frame, Pacing, PlacedFault, Transmission } from './timeline.ts';
import { frame, misbehave, pace, transmit } from './timeline.ts';

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

interface Moment {
  readonly stamp: Stamp;
  /** Milliseconds since 1970. */
  readonly epochMs: number;
}

/** Puts a reply on the wire under a command: frames, then the fault among them, then times, then bytes. */
export function send(
  protocol: SimulatedProtocol,
  reply: Reply,
  command: Command,
  moment: Moment,
): Transmission {
  const fault = placedFault(protocol, command, reply);
  const body = bodyFrames(protocol, reply, command, fault);
  const chunked = isChunked(body, command, fault);
  const head = writeHead(protocol, reply, command, moment, chunked ? null : bodyBytes(body));
  const items = misbehave(withHead(head, body.frames), body.isErrorInstead ? null : fault);
  const { crlf, split, drip } = command;
  return transmit(pace(items, pacingOf(reply, command)), {
    chunked,
    crlf: crlf && body.isStream,
    split,
    drip,
  });
}

interface Body {
  readonly isStream: boolean;
  readonly frames: Iterable<Frame>;
  /** A whole error stands in the place of a JSON answer. */
  readonly isErrorInstead: boolean;
}

function bodyFrames(
  protocol: SimulatedProtocol,
  reply: Reply,
  command: Command,
  fault: PlacedFault | null,
): Body {
  if (reply.body.kind === 'stream')
    return { isStream: true, frames: reply.body.frames, isErrorInstead: false };
  if (fault?.act === 'error') {
    const text = protocol.errorBody(complaintOf(command, overloadedStatus));
    return { isStream: false, frames: [frame('content', text)], isErrorInstead: true };
  }
  const { text } = reply.body;
  const frames = fault === null ? [frame('content', text)] : textFrames(text);
  return { isStream: false, frames, isErrorInstead: false };
}

/** A JSON body as two halves and its last character, so that every place of a fault exists in it. */
function textFrames(text: string): readonly Frame[] {
  const middle = Math.floor(text.length / 2);
  // A pair of surrogates is one character and must not be torn.
  const half = /[\uDC00-\uDFFF]/.test(text.charAt(middle)) ? middle + 1 : middle;
  return [
    frame('content', text.slice(0, half)),
    frame('content', text.slice(half, -1)),
    frame('terminal', text.slice(-1)),
  ];
}

/** A JSON body has its length declared unless a fault changes the length, or a split must show as chunks. */
function isChunked(body: Body, command: Command, fault: PlacedFault | null): boolean {
  if (body.isStream || command.split !== null) return true;
  return !body.isErrorInstead && (fault?.act === 'end' || fault?.act === 'garble');
}

function bodyBytes(body: Body): number {
  return Array.from(body.frames).reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}

function* withHead(head: string, frames: Iterable<Frame>): Generator<Frame, void, undefined> {
  yield frame('head', head);
  yield* frames;
}

function pacingOf(reply: Reply, command: Command): Pacing {
  const intervalMs = command.framesPerSecond === null ? 0 : 1_000 / command.framesPerSecond;
  const { body } = reply;
  const isStream = body.kind === 'stream';
  const isEventStream = isStream && reply.contentType.startsWith('text/event-stream');
  return {
    ttftMs: body.kind === 'text' ? command.ttftMs + body.tokens * intervalMs : command.ttftMs,
    intervalMs: isStream ? intervalMs : 0,
    keepAliveMs: isEventStream ? command.keepAliveMs : null,
    comments: isEventStream && command.comments,
  };
}

const garbledText = 'data: {"id":"chatcmpl-sim","object":"chat.comp\n\n';

function placedFault(protocol: SimulatedProtocol, command: Command, reply: Reply): PlacedFault | null {
  if (command.fault?.kind !== 'placed') return null;
  return {
    ...command.fault,
    at: reply.body.kind === 'text' ? 1 : command.at,
    stallMs: command.stallMs,
    errorText: errorWriter(protocol, complaintOf(command, overloadedStatus), reply),
    garbledText,
  };
}

/** Writes the error after so many frames of the stream; a JSON answer has but the one error body. */
function errorWriter(
  protocol: SimulatedProtocol,
  complaint: Complaint,
  { body }: Reply,
): PlacedFault['errorText'] {
  if (body.kind === 'text') return () => protocol.errorBody(complaint);
  const { rendering } = body;
  return (framesSent) => protocol.errorFrame(complaint, { rendering, framesSent });
}

/** The status that an error inside a 200 stands for, unless the command's code says otherwise. */
const overloadedStatus = 503;

/** The error a command asks for, under this status. */
export function complaintOf({ errorCode, errorMessage, retryAfter }: Command, status: number): Complaint {
  const retryDelayMs = retryAfter?.form === 'info' ? retryAfter.delayMs : null;
  return { status, code: errorCode, message: errorMessage, param: null, retryDelayMs };
}

/** `contentLength` is null for a chunked body. */
function writeHead(
  { requestIdHeader }: SimulatedProtocol,
  reply: Reply,
  command: Command,
  moment: Moment,
  contentLength: number | null,
): string {
  const lines = [
    `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? 'Simulated'}`,
    `content-type: ${reply.contentType}`,
    `${requestIdHeader}: ${idOf('req_', moment.stamp)}`,
    contentLength === null ? 'transfer-encoding: chunked' : `content-length: ${contentLength}`,
  ];
  if (command.retryAfter !== null) lines.push(...retryAfterLines(command.retryAfter, moment.epochMs));
  if (command.rateLimitReset !== null) lines.push(`x-ratelimit-reset-requests: ${command.rateLimitReset}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function retryAfterLines({ form, delayMs }: RetryAfter, epochMs: number): readonly string[] {
  switch (form) {
    case 'seconds':
      return [`retry-after: ${Math.ceil(delayMs / 1_000)}`];
    case 'date':
      return [`retry-after: ${new Date(epochMs + delayMs).toUTCString()}`];
    case 'ms':
      return [`retry-after-ms: ${delayMs}`];
    case 'info':
      return [];
  }
}
