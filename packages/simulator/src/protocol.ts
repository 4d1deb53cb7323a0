import type { Answer } from './answer/answer.ts';
import type { Ask } from './answer/ask.ts';
import type { Command } from './command/command.ts';
import type { Conversations } from './conversations.ts';
import type { JsonRecord } from './json.ts';
import type { Frame } from './timeline.ts';

/** An error an upstream reports; each protocol words it in its own envelope. */
export interface Complaint {
  readonly status: number;
  readonly code: string | null;
  /** Null for the words that usually come with this status and code. */
  readonly message: string | null;
  readonly param: string | null;
  /** When to come back, for protocols that say it in the body. */
  readonly retryDelayMs?: number | null;
}

/** A request that the vendor refuses, and for which member; its usual words where none are given. */
export function badRequest(code: string | null, param: string | null, message: string | null): Complaint {
  return { status: 400, code, message, param };
}

/** The vendors of most protocols have the same words for a member that is not there. */
export function missing(name: string): Complaint {
  return badRequest('missing_required_parameter', name, `Missing required parameter: '${name}'.`);
}

/** The usual words of an upstream for its errors, by what its code says or else its status. */
export interface ErrorTable<Words> {
  readonly byCode: Readonly<Record<string, Words>>;
  readonly byStatus: Readonly<Record<number, Words>>;
  /** For any other status: 500 and above, and below. */
  readonly server: Words;
  readonly caller: Words;
}

export function wordsFor<Words>(table: ErrorTable<Words>, { code, status }: Complaint): Words {
  const { byCode, byStatus, server, caller } = table;
  return byCode[code ?? ''] ?? byStatus[status] ?? (status >= 500 ? server : caller);
}

/** Makes one answer different from the next one to the same request. */
export interface Stamp {
  /** Counts the requests of one simulator from 1. */
  readonly sequence: number;
  /** Seconds since 1970. */
  readonly createdS: number;
}

/** An id that no other request of the simulator has. */
export function idOf(prefix: string, stamp: Stamp, ...parts: readonly number[]): string {
  return [`${prefix}sim${padded(stamp)}`, ...parts].join('_');
}

export function padded({ sequence }: Stamp): string {
  return String(sequence).padStart(12, '0');
}

export interface Rendering {
  /** The request as it came, for what an answer repeats of it and no other protocol knows. */
  readonly body: JsonRecord;
  readonly ask: Ask;
  readonly answer: Answer;
  readonly command: Command;
  readonly stamp: Stamp;
}

/** An error strikes a stream here. */
export interface ErrorPlace {
  readonly rendering: Rendering;
  /** How many frames of the stream went before it. */
  readonly framesSent: number;
}

export type AskResult =
  | { readonly ok: true; readonly ask: Ask }
  | { readonly ok: false; readonly complaint: Complaint };

export type LookUp =
  | { readonly ok: true; readonly body: string }
  | { readonly ok: false; readonly complaint: Complaint };

/** An endpoint that reads a prompt and generates nothing: it counts its tokens, or embeds it. */
export interface PromptEndpoint {
  at(path: string): boolean;
  readAsk(model: string, body: JsonRecord, path: string, earlier: Conversations): AskResult;
  answerBody(rendering: Rendering): string;
}

/** One wire format of the simulator: a folder each, all under the same commands and faults. */
export interface SimulatedProtocol {
  readonly id: string;
  /** The response header that names the request. */
  readonly requestIdHeader: string;
  /** The content type of its streams. Comments are sent only in those of server-sent events. */
  readonly streamType: string;
  readonly promptEndpoints?: readonly PromptEndpoint[];
  /** POST to this path, with this query (without its mark), asks for an answer. */
  generatesAt(path: string, query: string): boolean;
  /** The model name in the path, its command included; only where it is not in the body. */
  modelIn?(path: string): string | null;
  /** `model` is the name without its command; `earlier` are the answers a request may refer to. */
  readAsk(model: string, body: JsonRecord, path: string, earlier: Conversations): AskResult;
  /** Keeps what a later request may refer to; only protocols with a memory have it. */
  remember?(rendering: Rendering, earlier: Conversations): void;
  answerBody(rendering: Rendering): string;
  answerFrames(rendering: Rendering): Iterable<Frame>;
  errorBody(complaint: Complaint): string;
  /** The same error inside a stream. */
  errorFrame(complaint: Complaint, place: ErrorPlace): string;
  /** Answers GET; null when the path is not of this protocol, which may have none at all. */
  lookUp?(path: string, query: string): LookUp | null;
}

/** The usual content type of a stream. */
export const eventStream = 'text/event-stream; charset=utf-8';
