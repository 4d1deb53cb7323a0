import type { Fault } from './error.ts';
import type { Result } from './result.ts';
import type { Usage } from './usage.ts';

export type ProtocolId = 'chat-completions' | 'responses' | 'images' | 'messages' | 'generate-content';

/** What a request asks of a model beyond text in and text out. */
export type Need =
  | 'tools'
  | 'image-input'
  | 'audio-input'
  | 'file-input'
  | 'audio-output'
  | 'structured-output';

/**
 * Named deviations of upstreams from the protocol they speak. Data in `catalogue/providers/*.json`; an unknown
 * name fails at start, an unhandled one fails to compile.
 */
export interface Dialect {
  /** Whether `stream_options.include_usage` may be sent. `false`: the upstream refuses it or sends usage anyway. */
  readonly usageInStream: boolean;
  /** The one spelling of the output limit this upstream accepts; `both` passes what the caller wrote. */
  readonly maxTokensField: 'both' | 'max_tokens' | 'max_completion_tokens';
  /** What ends a stream: the `[DONE]` frame, or the finish reason and a clean end of the connection. */
  readonly streamEnd: 'done-frame' | 'finish-reason';
  /** Whether reasoning tokens are counted outside `completion_tokens`. */
  readonly reasoningOutsideCompletion: boolean;
  /** The date sent as the version of the messages protocol when the caller names none. */
  readonly messagesVersion: string;
}

/** Reads a header of the caller's by its name in lower case; a repeated one is joined with ", ". */
export type HeaderLookup = (name: string) => string | undefined;

/** What routing and admission read of a request, without its content. */
export interface Facts {
  readonly model: string;
  readonly stream: boolean;
  /** Tokens, or null when the caller set no limit. */
  readonly maxOutputTokens: number | null;
  /** Tokens; a linear estimate for admission, never for billing a complete answer. */
  readonly inputTokensEstimate: number;
  /** Answers asked for (`n`). */
  readonly choices: number;
  readonly needs: ReadonlySet<Need>;
  /** What the caller's own protocol says about the session, for affinity; null when nothing. */
  readonly sessionKey: string | null;
}

/** A request for one target, and the edits that made its body, by name, for the attempt's record. */
export interface EncodedRequest {
  /** Headers of the protocol's own: name, value, name, value …, in lower case. */
  readonly headers: readonly string[];
  /** In pieces, end to end; see `splice`. */
  readonly body: readonly Uint8Array[];
  readonly edits: readonly string[];
}

export interface PassthroughTarget {
  readonly upstreamModel: string;
  readonly dialect: Dialect;
}

/** One request, read once and never changed: every attempt encodes from the same bytes. */
export interface InboundRequest {
  readonly facts: Facts;
  /** The caller's bytes with the declared edits for this target; the same bytes when none are needed. */
  passThrough(target: PassthroughTarget): EncodedRequest;
  /** Whether the caller asked to see usage in the stream; if not, the usage frame is withheld. */
  readonly wantsUsageFrame: boolean;
}

/** Why the model stopped, unified, beside the upstream's own word. */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool-calls'
  | 'content-filter'
  | 'refusal'
  | 'error'
  | 'unknown';

/** What an upstream said in the place of an answer, whatever the status it came with. */
export interface UpstreamRefusal {
  readonly kind:
    | 'invalid-request' // the request itself: 400, 413, 414, 422, 431, a 404 for what it names
    | 'context-length' // too long for this model or this account on this channel
    | 'content-policy'
    | 'rate-limited'
    | 'credential' // key, permission, quota or balance of the channel
    | 'model-missing' // the upstream does not know the model
    | 'conflict' // 408, 409, 425, a 403 without a reason
    | 'overloaded' // 503, 529 and their spellings inside a 200
    | 'server-error' // any other 5xx
    | 'garbled' // not of the protocol at all: HTML, an empty body, malformed JSON
    | 'blank'; // an answer without output and without a word on why it stopped
  /** HTTP status as received. */
  readonly status: number;
  /** The upstream's words, bounded; private until sanitised. Empty when it refused the request without any. */
  readonly message: string;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
}

/** What the meter has seen of an answer, whole or streamed. */
export interface Reading {
  /** As reported by the upstream; null when it reported none. */
  readonly usage: Usage | null;
  readonly finishReason: FinishReason | null;
  readonly finishReasonRaw: string | null;
  readonly modelServed: string | null;
  /** Whether a token, tool call, image or sound was produced. */
  readonly hasOutput: boolean;
  /** Bytes of UTF-8 text the model produced so far; the base of an estimate when usage never came. */
  readonly outputBytes: number;
  /**
   * `outputBytes` as they were when `usage` was last reported; 0 before that. Fewer than `outputBytes`: more was produced
   * since, and the report does not cover it.
   */
  readonly usageAtOutputBytes: number;
}

export type AnswerReading =
  | { readonly kind: 'answer'; readonly reading: Reading }
  | { readonly kind: 'refusal'; readonly refusal: UpstreamRefusal };

/**
 * What one server-sent-event frame is:
 * `liveness` a comment or ping · `preamble` opens the answer without content (role, message_start, an empty block): held until
 * content · `content` whatever else it carries · `finish` carries the finish reason and no content · `usage` only usage, withheld unless asked for ·
 * `terminal` the end of the stream · `error` an error in the place of content · `garbled` not of the protocol.
 */
export type FrameRole =
  | 'liveness'
  | 'preamble'
  | 'content'
  | 'finish'
  | 'usage'
  | 'terminal'
  | 'error'
  | 'garbled';

/** Reads a stream frame by frame, on the side of the relay. One per attempt. */
export interface StreamReader {
  /** Takes one whole frame, its blank line included. */
  read(frame: Uint8Array): FrameRole;
  readonly reading: Reading;
  /** Set once a frame was `error` or `garbled`. */
  readonly refusal: UpstreamRefusal | null;
  /** At a clean end of the connection without a terminal frame: whether the stream is whole all the same. */
  isWholeWithoutTerminal(): boolean;
}

/** A wire format: everything the pipeline needs to serve it and to call it, in the same-protocol lane. */
export interface Protocol {
  readonly id: ProtocolId;
  /** Members of the caller's query that belong to the protocol and go upstream as sent. */
  readonly forwardedQuery: readonly string[];
  readRequest(body: Uint8Array, header: HeaderLookup): Result<InboundRequest, Fault>;
  /** Reads a whole JSON answer of status 200. */
  readAnswer(body: Uint8Array, dialect: Dialect): AnswerReading;
  /** Reads an answer with an error status (400 to 599), whatever its content type says it is. */
  readRefusal(status: number, body: Uint8Array): UpstreamRefusal;
  openStream(dialect: Dialect): StreamReader;
  /** An error inside a stream that has begun, in this protocol's shape; it is never a clean end. */
  encodeStreamError(fault: Fault, traceId: string): Uint8Array;
}

/** The protocol as its inventors speak it. */
export const defaultDialect: Dialect = {
  usageInStream: true,
  maxTokensField: 'both',
  streamEnd: 'done-frame',
  reasoningOutsideCompletion: false,
  messagesVersion: '2023-06-01',
};
