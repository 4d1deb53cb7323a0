import type { AskedModel, Codec } from './codec.ts';
import type { Fault, Platform } from './error.ts';
import type { Dialect, InboundRequest, RequestInput, StreamFraming, Work } from './request.ts';
import type { Result } from './result.ts';
import type { FinishReason } from './turn-event.ts';
import type { ImageCount, Iteration, Usage, UsageTerms } from './usage.ts';

/** An upstream's words in the place of an answer, whatever the status they came with. */
export interface UpstreamRefusal {
  readonly kind:
    | 'invalid-request' // the request itself: 400, 413, 414, 422, 431, a 404 for what it names
    | 'context-length' // too long for this model or this account on this channel
    | 'content-policy'
    | 'rate-limited'
    | 'credential' // key, permission, quota or balance of the channel
    | 'model-missing' // the upstream does not know the model
    | 'answer-missing' // the upstream does not know the earlier answer this request goes on from
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

/** An answer as far as the meter has seen it, whole or streamed. */
export interface Reading {
  /** As reported by the upstream; null when it reported none. */
  readonly usage: Usage | null;
  /** The requests that `usage` is the sum of, where the upstream lists them; absent or null where there was one. */
  readonly iterations?: readonly Iteration[] | null;
  readonly finishReason: FinishReason | null;
  readonly finishReasonRaw: string | null;
  readonly modelServed: string | null;
  /** The upstream's id of the answer, in protocols whose requests can go on from one; null before it is known. */
  readonly answerId?: string | null;
  /** The same of the container that the answer worked in; null where there is none. */
  readonly containerId?: string | null;
  /** A token, tool call, image or sound was produced. */
  readonly hasOutput: boolean;
  /** Bytes of UTF-8 text the model produced so far; the base of an estimate when usage never came. */
  readonly outputBytes: number;
  /**
   * `outputBytes` as they were when `usage` was last reported; 0 before that. Fewer than `outputBytes`: more was produced
   * since, and the report does not cover it.
   */
  readonly usageAtOutputBytes: number;
  /** Absent in protocols that answer with text. */
  readonly images?: ImageCount;
  /** The terms that the answer says it was given on; absent where it says nothing. */
  readonly terms?: UsageTerms;
  /** The cost that the upstream states, in USD as a plain decimal; absent where it states none. */
  readonly statedCostUsd?: string | null;
}

export type AnswerReading =
  | { readonly kind: 'answer'; readonly reading: Reading }
  | { readonly kind: 'refusal'; readonly refusal: UpstreamRefusal };

/** A number of tokens: nothing was produced and nothing used. */
export const countReading: AnswerReading = {
  kind: 'answer',
  reading: {
    usage: null,
    finishReason: 'stop',
    finishReasonRaw: null,
    modelServed: null,
    hasOutput: false,
    outputBytes: 0,
    usageAtOutputBytes: 0,
  },
};

/**
 * The part one server-sent-event frame plays:
 * `liveness` a comment or ping · `preamble` opens the answer without content (role, message_start, an empty block): held until
 * content · `content` whatever else it carries · `finish` carries the finish reason and no content · `usage` only usage, withheld unless asked for ·
 * `foreign` what callers of this protocol do not know, such as a proxy's comment, and is never relayed ·
 * `terminal` the end of the stream · `error` an error in the place of content · `garbled` not of the protocol.
 */
export type FrameRole =
  | 'liveness'
  | 'preamble'
  | 'content'
  | 'finish'
  | 'usage'
  | 'foreign'
  | 'terminal'
  | 'error'
  | 'garbled';

/**
 * A frame of content as a reader of streams has seen it. `lesson`: from now on, frames that differ from it in nothing but their
 * text are known · `same`: it is one of those · `other`: neither. The text is JSON, and its place includes the quotes.
 */
export interface PlainFrame {
  readonly last: 'same' | 'lesson' | 'other';
  readonly textStart: number;
  readonly textEnd: number;
}

/** Reads a stream frame by frame, on the side of the relay. One per attempt. */
export interface StreamReader {
  /** Takes one whole frame, its blank line included. */
  read(frame: Uint8Array): FrameRole;
  readonly reading: Reading;
  /**
   * Takes the frames of `chunk` from `at` on that are content like an earlier one, but for their text, and says where the first
   * one begins that is not. It is the same as to read each of them. Absent where a protocol's frames are too different.
   */
  takeTexts?(chunk: Uint8Array, at: number): number;
  /** How the frame that was read last compares with the ones before. Absent where that is not known. */
  readonly plain?: PlainFrame;
  /**
   * The frame that was read last, in the words that the protocol's own clients read, where they would pass over it or fail on it as
   * it came; absent or null where they read it as it is.
   */
  readonly retold?: Uint8Array | null;
  /** Frames in the midst of the answer that are none, and that the protocol's own clients pass over (`foreign`). */
  readonly skipped?: number;
  /** Set once a frame was `error` or `garbled`. */
  readonly refusal: UpstreamRefusal | null;
  /** At a clean end of the connection without a terminal frame: whether the stream is whole all the same. */
  isWholeWithoutTerminal(): boolean;
  /** All may have come by now, and nothing but the end of the connection will say so, to callers either. */
  mayHaveEnded(): boolean;
  /** The terminal frame for callers whose upstream left it out; empty where there is none. */
  missingEnd(): Uint8Array;
}

export type Method = 'GET' | 'POST';

/** A path of a protocol's own: a list of models in its shape, or work for one. */
export interface ProtocolEndpoint {
  readonly method: Method;
  /** The whole path; `{model}` is one segment, and `{model}:{action}` is one segment that ends in the action. */
  readonly path: string;
  readonly kind: 'models' | 'model' | 'call' | 'count-tokens' | 'embed';
  /** `multipart/form-data` is read beside JSON. */
  readonly takesForms?: boolean;
}

/** The body of a request for next to nothing, and the tokens its answer may have where the model does not think. */
export interface SmallestRequest {
  readonly outputTokens: number;
  /** `known`: the model, as it is known; null where nothing is. */
  body(upstreamModel: string, dialect: Dialect, known: AskedModel | null): object;
}

/** A wire format: everything that is needed to serve it and to call it. All that sets a protocol apart stands here. */
export interface ProtocolOf<Id extends string = string> {
  readonly id: Id;
  /** The family whose keys may use it, and in whose shape it fails. */
  readonly platform: Platform;
  readonly endpoints: readonly ProtocolEndpoint[];
  /** Paths, served or not, on which failures are told in the platform's shape; absent where the endpoints are all. */
  readonly territory?: RegExp;
  /** Its path at its inventors, under a base URL; placeholders included. */
  readonly usualPath: string;
  /** Null where nothing costs next to nothing. */
  readonly smallestRequest: SmallestRequest | null;
  /** Sent with every request, also with one for a list of models: name, value, name, value … in lower case. */
  headersFor?(dialect: Dialect): readonly string[];
  /** The words its servers have for an id that they do not know; absent where they keep nothing. */
  unknownId?(id: string): UpstreamRefusal;
  readRequest(input: RequestInput): Result<InboundRequest, Fault>;
  /** Reads a whole JSON answer of status 200; for a count that is one, `countReading`. Without `work` it is an answer. */
  readAnswer(body: Uint8Array, dialect: Dialect, work?: Work): AnswerReading;
  /** The answer to a count, for when no upstream has one; absent where the protocol has no such endpoint. */
  encodeTokenCount?(tokens: number): Uint8Array;
  /** Reads an answer with an error status (400 to 599), whatever its content type says it is. */
  readRefusal(status: number, body: Uint8Array): UpstreamRefusal;
  /** Without `framing` it is one of server-sent events; `choices` are the answers asked for, 1 if left out. */
  openStream(dialect: Dialect, framing?: StreamFraming, choices?: number): StreamReader;
  /** A frame that tells a waiting caller nothing but that the call lives; null where the surface has none (product.md). */
  readonly keepAliveFrame: Uint8Array | null;
  /** An error inside a stream that has begun, in this protocol's shape; it is never a clean end. */
  encodeStreamError(fault: Fault, traceId: string, framing: StreamFraming): Uint8Array;
  /** To and from the canonical form; null for a protocol that is never translated. */
  readonly codec: Codec | null;
}
