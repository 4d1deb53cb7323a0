import type { Edit } from './bytes/splice.ts';
import type { BodySurvey } from './bytes/survey.ts';
import type { Fault } from './error.ts';
import type { NamedMember, NameSearch } from './request/named-models.ts';
import type { Usage, UsageTerms } from './usage.ts';

/** The names within the path, percent-decoded. */
export interface EndpointParams {
  readonly model?: string;
  readonly action?: string;
}

/** Something that a request asks of a model beyond text in and text out. */
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
  /** Says that `stream_options.include_usage` may be sent. `false`: the upstream refuses it or sends usage anyway. */
  readonly usageInStream: boolean;
  /** The one spelling of the output limit this upstream accepts; `both` passes what the caller wrote. */
  readonly maxTokensField: 'both' | 'max_tokens' | 'max_completion_tokens';
  /** The end of a stream: the finish reason and a clean end of the connection, or nothing but its own last frame. */
  readonly streamEnd: 'done-frame' | 'finish-reason';
  /** Says that reasoning tokens are counted outside `completion_tokens`. */
  readonly reasoningOutsideCompletion: boolean;
  /** The date sent as the version of the messages protocol when the caller names none. */
  readonly messagesVersion: string;
  /**
   * How the upstream names of those models begin that are told in tokens how much to think, and take a temperature; of the
   * messages protocol, whose later models take a word for it and no temperature. The empty text is every model.
   */
  readonly budgetThinkingModels: readonly string[];
  /** Says that a messages upstream keeps conversations, so that `thread` may be sent. */
  readonly threads: boolean;
  /**
   * `own`: the server of those who invented chat-completions. It knows all they ever added (custom tools, `verbosity`,
   * `prompt_cache_key` …), and its models that think take no sampling parameters. `common`: what is translated for it
   * keeps to what compatible servers share.
   */
  readonly chatVocabulary: 'own' | 'common';
  /** The form ids of tool calls must have; any other is refused. */
  readonly callIds: 'any' | 'nine-alphanumerics';
  /**
   * How a chat-completions server is told to think or not, beside `reasoning_effort`: by nothing else, by that with the word `none`
   * for every model that need not think, by `thinking`, which has a type, or by `enable_thinking` and `thinking_budget`.
   */
  readonly thoughtSwitch: 'effort' | 'none' | 'thinking' | 'enable_thinking';
  /** Says that a model that thinks refuses its own words of before when no `reasoning_content` is beside them. */
  readonly reasoningExpected: boolean;
  /**
   * The protocols in which it goes on from the assistant's words at the end of a request, and how the upstream names of the models
   * begin that do; the empty text is every model. Some of them have to be told by a member of that message, named by `mark`.
   */
  readonly prefill: Readonly<Record<string, Prefill>>;
  /**
   * The member of `usage` in which the upstream states its own price of an answer, with points between the steps, and how many
   * places the point of the amount has to be moved to the left to be in USD. Null where it states none.
   */
  readonly statedCost: { readonly member: string; readonly digits: number } | null;
}

export interface Prefill {
  readonly models: readonly string[];
  readonly mark: 'prefix' | 'partial' | null;
}

/** Reads a header of the caller's by its name in lower case; a repeated one is joined with ", ". */
export type HeaderLookup = (name: string) => string | undefined;

/**
 * The work asked of a model: an answer, the number of tokens its prompt would have, or vectors of a text. Only an answer can
 * come from an upstream of another protocol, and a count is nobody's expense.
 */
export type Work = 'answer' | 'count' | 'embed';

/** A request as it came, before anything in it is read. */
export interface RequestInput {
  readonly work: Work;
  readonly body: Uint8Array;
  readonly header: HeaderLookup;
  /** As it came, without its query. */
  readonly path: string;
  /** The names within the path. */
  readonly params: EndpointParams;
  /** The query, without its question mark. */
  readonly search: string;
  /** All that is known of a large body before it is read; null for others. */
  readonly survey?: BodySurvey | null;
}

/** How a stream is cut into frames: server-sent events, or the elements of one JSON array. */
export type StreamFraming = 'sse' | 'json-array';

/** The request as routing and admission read it, without its content. */
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
  /**
   * The thing this request goes on from and one upstream keeps, by the id which that gave it and nobody else knows: an earlier answer,
   * a conversation, a container, a cache of a prefix. It is never lost in translation. Absent for none.
   */
  readonly continues?: string;
  /** The same of another thing named beside it, such as a container beside an earlier answer. Absent for none. */
  readonly continuesBeside?: string;
  /** The upstream is to keep the answer, so that a later request can go on from it by its id. */
  readonly kept?: true;
  /** Images are asked for, and not an answer in text. */
  readonly makesImages?: true;
  /** The terms asked for; absent where none are. */
  readonly terms?: UsageTerms;
  /** The caller's own word on thought, in whatever spelling: an effort or a budget, or that there is to be none. Absent for neither. */
  readonly thought?: ThoughtAsked;
  /** The caller's own label in the body; absent for none. */
  readonly tag?: string;
}

export type ThoughtAsked = 'some' | 'none';

/**
 * A body's word on the conversation it is a turn of. The name of a `conversation`, or of a prefix its author wants cached,
 * stands for itself. The name of a `person` does not: one person has many conversations, and a company may give one
 * name for all its users; so it is taken together with the first message of the user, which no turn changes without
 * changing the prefix that could be warm. Where nothing is named, the `opening` is all there is: what the model is told,
 * and that first message.
 */
export interface SessionClue {
  readonly kind: 'conversation' | 'person' | 'opening';
  /** 53 bits of the words it was made from. Callers can make two of their own meet, so it is worth nothing across tenants. */
  readonly fingerprint: number;
}

/** A request for one target, and the edits that made its body, by name, for the attempt's record. */
export interface EncodedRequest {
  /** With its query; appended to the channel's base URL. */
  readonly path: string;
  readonly contentType: string;
  /** Headers of the protocol's own: name, value, name, value …, in lower case. */
  readonly headers: readonly string[];
  /** In pieces, end to end; see `splice`. */
  readonly body: readonly Uint8Array[];
  readonly edits: readonly string[];
}

/** If a model thinks before it speaks: `always` cannot be told not to, `asked` does not unless it is told to. */
export type ReasoningHabit = boolean | 'always' | 'asked';

export interface PassthroughTarget {
  /** Edits beyond the protocol's own: names of other models, tools that are left out; absent for none. */
  readonly edits?: readonly Edit[];
  readonly upstreamModel: string;
  /** The provider's path for the protocol, placeholders such as `{model}` included. */
  readonly path: string;
  readonly dialect: Dialect;
  /** A short opaque word for this target; see `TranslationTarget`. */
  readonly origin: string;
  readonly reasoning: ReasoningHabit;
}

/** Something asked for that may have a price of its own: a service tier, a region, or a tool that runs at the upstream. */
export interface Ask {
  readonly term:
    | 'service'
    | 'region'
    | keyof Pick<Usage, 'webSearches' | 'fileSearches' | 'codeSessions' | 'groundings' | 'pages'>;
  /** The place of the request that asks for it, such as `tools[2].type`. */
  readonly field: string;
  /** A tool that the model may be left without: its place in `tools`, and how losses name it. */
  readonly tool?: { readonly index: number; readonly name: string };
}

/** One request, read once and never changed: every attempt encodes from the same bytes. */
export interface InboundRequest {
  readonly facts: Facts;
  /** The caller's bytes with the declared edits for this target; the same bytes when none are needed. */
  passThrough(target: PassthroughTarget): EncodedRequest;
  /** The caller asked to see usage in the stream; otherwise the usage frame is withheld. */
  readonly wantsUsageFrame: boolean;
  /** How the caller wants a stream framed. */
  readonly framing: StreamFraming;
  /**
   * False when what was asked for is made and paid for whether or not anyone hears of it: then another target is tried
   * only after a refusal. Absent where any failure before content may be tried elsewhere.
   */
  readonly repeatable?: false;
  /** The models that the body names beside the one that is called; null where it has too many members to tell. Absent where none can be. */
  names?(search: NameSearch): readonly NamedMember[] | null;
  /** Read when asked for; null when the body says nothing. Absent in protocols whose upstreams keep no prompts. */
  sessionClue?(): SessionClue | null;
  /** All that it asks for that may have a price of its own, looked for when asked; absent in protocols without any. */
  asks?(): readonly Ask[];
  /** The edits that leave tools out; null where the request insists on them. Absent where no ask is for such a tool. */
  withoutTools?(left: ReadonlySet<number>): readonly Edit[] | null;
  /** Why a target cannot be asked for this, where not every upstream of the protocol has the endpoint; null when it can. */
  refuse?(target: PassthroughTarget): Fault | null;
}

/** The protocol as its inventors speak it. */
export const defaultDialect: Dialect = {
  usageInStream: true,
  maxTokensField: 'both',
  streamEnd: 'finish-reason',
  reasoningOutsideCompletion: false,
  messagesVersion: '2023-06-01',
  budgetThinkingModels: [],
  threads: false,
  chatVocabulary: 'common',
  callIds: 'any',
  thoughtSwitch: 'effort',
  reasoningExpected: false,
  prefill: {},
  statedCost: null,
};
