import type { WireRecord } from './wire-values.ts';

/**
 * A request in no protocol's words: what every codec reads into and writes from, so that each protocol is translated once
 * and not once for every other one. Only what the protocols share has a place here; the rest is an `Extension`.
 */
export interface Turn {
  /** The protocol the caller wrote it in. */
  readonly surface: Surface;
  readonly model: string;
  readonly stream: boolean;
  /** The instructions before the conversation, in order; empty when there are none. */
  readonly system: readonly TextBlock[];
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** Null when the caller leaves it to the model's default. */
  readonly toolChoice: ToolChoice | null;
  readonly settings: TurnSettings;
  /** How the caller spells a setting, where it is not as here: what losses and refusals name. */
  readonly spelling: Readonly<Partial<Record<TurnSettingName, string>>>;
  readonly extensions: readonly Extension[];
}

/** A protocol as callers write it: the words that losses and refusals name, without positions. */
export interface Surface {
  readonly id: string;
  /** Says that its strict schemas are written for the vendors that enforce them, and go there as they are. */
  readonly enforcesSchemas: boolean;
  /** The members that hold pictures, sounds and files. */
  readonly media: Readonly<Record<MediaKind, string>>;
  /** The member in which sealed thoughts come back. */
  readonly sealed: string;
  /** The member in which the arguments of a call come back. */
  readonly arguments: string;
  readonly toolChoice: string;
  /** Each trait; one that the protocol lacks is named by the member it stands in. */
  readonly traits: Readonly<Record<Trait, string>>;
}

/** A mark of content beside itself, which not every protocol has. */
export type Trait = 'citations' | 'cache-mark' | 'image-detail' | 'filename' | 'media-name' | 'call-seal';

/** Tool results are blocks of a user's message; `system` is an instruction in the middle of the conversation. */
export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: readonly Block[];
  /** Who of several is speaking; null when nobody is named. */
  readonly name: string | null;
}

/** One piece of a message. An answer is made of the same blocks. */
export type Block = TextBlock | ReasoningBlock | RefusalBlock | MediaBlock | ToolCallBlock | ToolResultBlock;

/** How long a prompt cache is asked to keep everything up to here; null when it is not asked to. */
export type CacheTtl = '5m' | '1h' | null;

export interface TextBlock {
  readonly kind: 'text';
  readonly text: string;
  readonly citations: readonly Citation[];
  readonly cacheTtl: CacheTtl;
}

export function textBlock(
  text: string,
  cacheTtl: CacheTtl = null,
  citations: readonly Citation[] = [],
): TextBlock {
  return { kind: 'text', text, citations, cacheTtl };
}

/** The source of a statement. `start` and `end`: characters of the text it belongs to; null when not told. */
export interface Citation {
  readonly url: string | null;
  readonly title: string | null;
  readonly quote: string | null;
  readonly start: number | null;
  readonly end: number | null;
}

/** Thoughts as far as they are shown (in full or summed up), and what the model sealed to get it back. */
export interface ReasoningBlock {
  readonly kind: 'reasoning';
  /** Empty when nothing is shown. */
  readonly text: string;
  readonly sealed: Sealed | null;
}

/**
 * Opaque state of a model: a signature, encrypted reasoning, a thought signature. It goes back to where it came from and
 * nowhere else (translation-map.md, 4).
 */
export interface Sealed {
  /** The target that made it (`TranslationTarget.origin`); `native` for state without our mark, from an upstream of the caller's own protocol. */
  readonly origin: string;
  /** As its origin spelt it. */
  readonly data: string;
  /** `redacted`: it stands in the place of the text, not beside it. */
  readonly form: 'signature' | 'redacted';
}

/** The model's own words of refusal. */
export interface RefusalBlock {
  readonly kind: 'refusal';
  readonly text: string;
}

export type MediaKind = 'image' | 'audio' | 'file';

export interface MediaBlock {
  readonly kind: 'media';
  readonly media: MediaKind;
  /** `image/png` and the like; null when the caller did not say. */
  readonly mediaType: string | null;
  readonly source: MediaSource;
  readonly filename: string | null;
  /** How closely an image is to be looked at; null leaves it to the model. */
  readonly detail: 'low' | 'high' | 'auto' | null;
  readonly cacheTtl: CacheTtl;
}

/** `id` names a file that only the vendor of the caller's protocol has. */
export type MediaSource =
  | { readonly kind: 'base64'; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'id'; readonly id: string };

export interface ToolCallBlock {
  readonly kind: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** The group of tools the name is from; null for most. */
  readonly namespace: string | null;
  /** `custom` takes any text, `function` a JSON object. */
  readonly form: 'function' | 'custom';
  /** Arguments as the model wrote them: JSON text that may be malformed, or for a custom tool any text. */
  readonly input: string;
  /** State that came with the call, as some models put it there; null for most. */
  readonly sealed: Sealed | null;
}

export interface ToolResultBlock {
  readonly kind: 'tool-result';
  readonly callId: string;
  readonly isError: boolean;
  readonly content: readonly (TextBlock | MediaBlock)[];
  readonly cacheTtl: CacheTtl;
}

export type Tool = FunctionTool | CustomTool;

export interface FunctionTool {
  readonly kind: 'function';
  readonly name: string;
  readonly namespace: string | null;
  /** Empty when there is none. */
  readonly description: string;
  /** JSON Schema of an object; null when it takes no arguments. */
  readonly parameters: WireRecord | null;
  /** Arguments must follow the schema to the letter; null when the caller did not say. */
  readonly strict: boolean | null;
  readonly cacheTtl: CacheTtl;
}

/** A tool that takes free text, perhaps of a grammar. */
export interface CustomTool {
  readonly kind: 'custom';
  readonly name: string;
  readonly namespace: string | null;
  readonly description: string;
  /** The grammar in the words of the protocol that has such tools; null for plain text. */
  readonly format: WireRecord | null;
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'named'; readonly name: string }
  /** Some of the tools only. */
  | { readonly kind: 'allowed'; readonly mode: 'auto' | 'required'; readonly names: readonly string[] };

/** Everything a request sets beside its conversation; null where the caller said nothing. */
export interface TurnSettings {
  /** Tokens. */
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly stop: readonly string[] | null;
  readonly seed: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  /** Most probable alternatives per token; 0 asks for the probabilities alone. */
  readonly logprobs: number | null;
  /** Answers wanted. */
  readonly choices: number | null;
  readonly parallelToolCalls: boolean | null;
  readonly reasoning: ReasoningSetting | null;
  readonly outputFormat: OutputFormat | null;
  readonly verbosity: 'low' | 'medium' | 'high' | null;
  /** Who the caller's own user is, for the vendor's abuse checks. */
  readonly user: string | null;
  readonly serviceTier: 'auto' | 'default' | 'flex' | 'priority' | null;
  readonly promptCacheKey: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
}

export type TurnSettingName = keyof TurnSettings;

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** How much a model is to think, by word or by tokens, and whether the thoughts are to be shown. */
export interface ReasoningSetting {
  readonly effort: ReasoningEffort | null;
  readonly budgetTokens: number | null;
  /** Null leaves it to the protocol's default. */
  readonly shown: boolean | null;
  /** It is to think, even where nothing says how much. */
  readonly isOn?: true;
  /** Tokens of thoughts and answer together, where one limit covers both and the budget comes on top of the answer's. */
  readonly limitTokens?: number;
}

export type OutputFormat =
  | { readonly kind: 'text' | 'json' }
  | {
      readonly kind: 'json-schema';
      readonly name: string | null;
      readonly description: string | null;
      readonly schema: WireRecord;
      readonly strict: boolean | null;
    };

/**
 * Something only the caller's own protocol has. A target of another protocol does without it (`drop`, told as a loss), or
 * cannot serve the request because the answer would not be what was asked for (`refuse`, told as a 400 that names it), or
 * gets it as the text it amounts to, which stands among the blocks already (`text`, told as a change).
 */
export interface Extension {
  /** The member as the caller wrote it: `web_search_options`, `tools[].computer_use`. */
  readonly field: string;
  readonly elsewhere: 'drop' | 'text' | 'refuse';
}

export const noSettings: TurnSettings = {
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  topK: null,
  stop: null,
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  logprobs: null,
  choices: null,
  parallelToolCalls: null,
  reasoning: null,
  outputFormat: null,
  verbosity: null,
  user: null,
  serviceTier: null,
  promptCacheKey: null,
  metadata: null,
};
