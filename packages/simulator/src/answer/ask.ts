/** A request of any protocol, as far as the simulator cares. */
export interface Ask {
  /** The name without its command. */
  readonly model: string;
  readonly stream: boolean;
  /** The caller asked for usage in the stream. */
  readonly wantsUsage: boolean;
  readonly promptTokens: number;
  /** The text the answer speaks to: the last one of the prompt. */
  readonly lastText: string;
  /** The last message brings the result of a tool call. */
  readonly answersTool: boolean;
  /** Results of tool calls that the request brings, earlier turns included. */
  readonly toolResults: number;
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly parallelCalls: boolean;
  /** `schema` is the JSON Schema the answer must satisfy; null for free text. */
  readonly schema: unknown;
  /** Per choice, reasoning included; null when there is no limit. */
  readonly maxTokens: number | null;
  readonly choices: number;
  /** Absent when text is asked for. */
  readonly image?: ImageAsk;
  /** Absent unless the rest of an answer is asked for that broke off. */
  readonly broken?: BrokenAnswer;
}

/** An answer that broke off. */
export interface BrokenAnswer {
  /** As far as it had come. */
  readonly said: string;
  /** The end of it that is to be said again. */
  readonly repeated: string;
  /** Tokens of the prompt that it answered. */
  readonly promptTokens: number;
}

/** One message of a prompt. */
export interface Message {
  readonly isModel: boolean;
  readonly text: string;
  readonly tokens: number;
}

/**
 * The ask as it was before its answer broke off, where this one is for the rest: its last words are the model's own, or a user's
 * who repeats, behind an empty line, the words it is to begin with. `last`: the messages at its end.
 */
export function unbroken(ask: Ask, last: readonly Message[]): Ask {
  const [asked, said, request] = last.at(-1)?.isModel === true ? last.slice(-2) : last.slice(-3);
  if (asked === undefined || said?.isModel !== true || asked.isModel) return ask;
  const at = request === undefined ? -1 : request.text.lastIndexOf('\n\n') + 2;
  const repeated = request === undefined ? '' : request.text.slice(at);
  if (request !== undefined && (at < 2 || !said.text.endsWith(repeated))) return ask;
  const promptTokens = ask.promptTokens - said.tokens - (request?.tokens ?? 0);
  return { ...ask, lastText: asked.text, broken: { said: said.text, repeated, promptTokens } };
}

/** The images asked for, in a protocol that answers with nothing else; `choices` is how many. */
export interface ImageAsk {
  readonly operation: 'generation' | 'edit';
  readonly widthPixels: number;
  readonly heightPixels: number;
  readonly quality: ImageQuality;
  readonly background: 'opaque' | 'transparent';
  /** Stated in the answer; the bytes are PNG whatever it says. */
  readonly outputFormat: string;
  readonly form: 'b64_json' | 'url';
  /** Drafts streamed before each image. */
  readonly partialImages: number;
  /** The images' part of the prompt's tokens. */
  readonly promptImageTokens: number;
}

export type ImageQuality = 'low' | 'medium' | 'high';

export interface Tool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  /** The group it is offered in, for protocols that have such; absent outside of one. */
  readonly namespace?: string;
  /** The JSON Schema of the arguments. */
  readonly schema: unknown;
}

export type ToolChoice =
  | { readonly kind: 'none' }
  | { readonly kind: 'auto' }
  | { readonly kind: 'required' }
  | { readonly kind: 'named'; readonly name: string };

/** Tokens of one part of a prompt that is not text: an image, a sound, a file. */
export const tokensPerOtherPart = 100;

/** The schema of an answer that must be an object and no more. */
export const anyObjectSchema = {
  type: 'object',
  properties: { simulated: { const: true }, note: { const: 'no real model was asked' } },
};

/** The simulator's token: a longest run of characters that are not white space. */
export function countWords(text: string): number {
  let count = 0;
  let isInWord = false;
  for (let index = 0; index < text.length; index++) {
    const isWord = !isWhiteSpace(text.charCodeAt(index));
    if (isWord && !isInWord) count++;
    isInWord = isWord;
  }
  return count;
}

/** The same characters as `\s` of a pattern, without the price of one: prompts can be megabytes. */
function isWhiteSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13);
  return /\s/.test(String.fromCharCode(code));
}

const pixelsPerToken: Readonly<Record<ImageQuality, number>> = { low: 4_096, medium: 1_024, high: 256 };

/** Output tokens of one image: 256, 1,024 or 4,096 for 1024x1024 in low, medium or high quality. */
export function imageTokens({ widthPixels, heightPixels, quality }: ImageAsk): number {
  return Math.ceil((widthPixels * heightPixels) / pixelsPerToken[quality]);
}
