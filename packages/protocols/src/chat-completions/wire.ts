import type { Need } from '../request.ts';
import { unreachable } from '../result.ts';
import { fingerprint, type NameRule } from '../translate/tools.ts';
import type { CacheTtl, Citation, Surface } from '../turn.ts';
import { type FinishReason, readFinishReason } from '../turn-event.ts';
import { isRecord, numberOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';

export const chatSurface: Surface = {
  id: 'chat-completions',
  enforcesSchemas: true,
  media: {
    image: 'messages[].content[].image_url',
    audio: 'messages[].content[].input_audio',
    file: 'messages[].content[].file',
  },
  sealed: 'messages[].reasoning_details',
  arguments: 'messages[].tool_calls[].arguments',
  toolChoice: 'tool_choice',
  traits: {
    citations: 'messages[].annotations',
    'cache-mark': 'cache_control',
    'image-detail': 'messages[].content[].image_url.detail',
    filename: 'messages[].content[].file.filename',
    'media-name': 'messages[].content[].image_url',
    'call-seal': 'messages[].tool_calls[].extra_content',
  },
};

/** Members of a request that are read; a second one of the same name is refused. */
export const requestMembers = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
  'n',
  'tools',
  'tool_choice',
  'functions',
  'service_tier',
  'web_search_options',
  'enable_search',
  'search_parameters',
  'web_search',
  'plugins',
  'response_format',
  'modalities',
  'audio',
  'prompt_cache_key',
  'safety_identifier',
  'user',
  'metadata',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'enable_thinking',
  'thinking_budget',
] as const;

/** The members that say how much is to be thought: the protocol's own, and those that compatible servers have made common. */
export const thoughtMembers = [
  'reasoning_effort',
  'reasoning',
  'thinking',
  'enable_thinking',
  'thinking_budget',
] as const satisfies readonly RequestMember[];

export type RequestMember = (typeof requestMembers)[number];

/** Types of message parts that not every model can read. */
export const partNeeds = {
  image_url: 'image-input',
  input_audio: 'audio-input',
  file: 'file-input',
} as const satisfies Record<string, Need>;

/** Members of an answer or a chunk that are read, at any level; everything else is skipped. */
export const answerMembers = [
  'choices',
  'usage',
  'error',
  'model',
  'service_tier',
  'x_groq',
  'obfuscation',
] as const;
export const choiceMembers = ['delta', 'message', 'finish_reason', 'usage', 'index'] as const;
/** Members that a delta may carry without producing anything. Any other text, list or object in it is output, known or not. */
export const metadataMembers = [
  'role',
  'name',
  'id',
  'type',
  'object',
  'status',
  'prefix',
  'index',
  'created',
  'model',
  'finish_reason',
  'stop_reason',
  'metadata',
] as const;
/** Output of a kind that the finish reason may keep silent about. */
export const deltaMembers = ['refusal', 'tool_calls', 'function_call'] as const;
export type DeltaMember = (typeof deltaMembers)[number];

/** Strings inside tool calls, sound and lists of parts that the model wrote; ids, types and signatures it did not. */
export const textMembers = [
  'arguments',
  'content',
  'input',
  'name',
  'refusal',
  'summary',
  'text',
  'thinking',
  'transcript',
] as const;

/** Ids of calls as every server takes them: some refuse ids that are longer. */
export const callIdRule: NameRule = { legal: /[!-~]/, legalFirst: /[!-~]/, lengthMax: 40 };

const nineAlphanumerics = /^[a-zA-Z0-9]{9}$/;

/** An id for servers that take nine letters and digits, and nothing else; the same one for the same id. */
export function nineLetterId(id: string): string {
  return nineAlphanumerics.test(id) ? id : fingerprint(id).slice(0, 9);
}

/** The content of an answer, which knows better than the word it ends with. */
export interface AnswerKind {
  readonly hasCalls: boolean;
  readonly hasRefusal: boolean;
}

/** Why an answer of an upstream's ended; servers say `stop` for calls and refusals, too, and some say nothing. */
export function finishReasonOf(raw: string | null, kind: AnswerKind): FinishReason {
  const reason = raw === null ? 'stop' : readFinishReason(raw);
  if (reason !== 'stop' && reason !== 'tool-calls') return reason;
  if (kind.hasCalls) return 'tool-calls';
  return kind.hasRefusal ? 'refusal' : 'stop';
}

/** The protocol's word for why an answer ended. */
export function finishWordOf(reason: FinishReason, kind: AnswerKind): string {
  switch (reason) {
    case 'stop':
    case 'tool-calls':
    case 'error':
    case 'unknown':
      return kind.hasCalls ? 'tool_calls' : 'stop';
    case 'length':
      return 'length';
    case 'content-filter':
      return 'content_filter';
    case 'refusal':
      // A refusal in words is told by the message itself.
      return kind.hasRefusal ? 'stop' : 'content_filter';
    default:
      return unreachable(reason);
  }
}

/** `{type: 'url_citation', url_citation: {url, title, start_index, end_index}}`; null for any other annotation. */
export function readCitation(annotation: WireRecord): Citation | null {
  const cited = recordOf(annotation['url_citation']);
  const url = stringOf(cited['url']);
  if (annotation['type'] !== 'url_citation' || url === null) return null;
  return {
    url,
    title: stringOf(cited['title']),
    quote: stringOf(cited['content']),
    start: numberOf(cited['start_index']),
    end: numberOf(cited['end_index']),
  };
}

/**
 * The annotation of a text that begins at `offset` of the whole content and is `length` characters long; positions are the
 * content's here. Null for a citation of something that has no address.
 */
export function writeCitation(citation: Citation, offset: number, length: number): WireRecord | null {
  const { url, title, quote, start, end } = citation;
  if (url === null) return null;
  return {
    type: 'url_citation',
    url_citation: {
      url,
      title: title ?? url,
      start_index: offset + (start ?? 0),
      end_index: offset + (end ?? length),
      content: quote ?? undefined,
    },
  };
}

/** A breakpoint of the protocol's own, or one as servers of other makes take it on parts. */
export function cacheTtlOf(holder: WireRecord): CacheTtl {
  const control = holder['cache_control'];
  if (isRecord(control)) return control['ttl'] === '1h' ? '1h' : '5m';
  const breakpoint = holder['prompt_cache_breakpoint'];
  if (!isRecord(breakpoint)) return null;
  return stringOf(breakpoint['ttl']) === null ? '5m' : '1h';
}
