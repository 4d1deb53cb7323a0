import type { WriterContext } from '../codec.ts';
import { unreachable } from '../result.ts';
import { markSealed } from '../translate/seals.ts';
import { legalName, parseObject } from '../translate/tools.ts';
import type { Block, Citation, ReasoningBlock, Sealed, ToolCallBlock } from '../turn.ts';
import type { Finish, OpenBlock, TurnAnswer } from '../turn-event.ts';
import { readFinishReason } from '../turn-event.ts';
import { noUsage, type Usage } from '../usage.ts';
import { listOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { callIdRule } from './write-messages.ts';

const encoder = new TextEncoder();

/** The whole answer as one message. */
export function writeAnswer(answer: TurnAnswer, context: WriterContext): Uint8Array {
  const hasCall = answer.content.some(({ kind }) => kind === 'tool-call');
  const message = {
    ...identityMembers(answer, context),
    content: upToLastText(answer.content).flatMap(writeBlock),
    ...stopMembers(answer.finish, hasCall),
    usage: usageMembers(answer.finish.usage),
  };
  return encoder.encode(JSON.stringify(message));
}

/** Without thoughts that have no words behind the last text: agents take the last block for what was said. */
export function upToLastText(content: readonly Block[]): readonly Block[] {
  const end = content.findLastIndex((block) => block.kind !== 'reasoning' || block.text !== '') + 1;
  const isText = content[end - 1]?.kind === 'text' || content[end - 1]?.kind === 'refusal';
  return isText ? content.slice(0, end) : content;
}

function writeBlock(block: Block): readonly WireRecord[] {
  switch (block.kind) {
    case 'text': {
      const citations = block.citations.length === 0 ? null : block.citations.map(writeCitation);
      return block.text === '' ? [] : [{ type: 'text', text: block.text, citations }];
    }
    case 'refusal':
      return block.text === '' ? [] : [{ type: 'text', text: block.text, citations: null }];
    case 'reasoning':
      return [writeThought(block)];
    case 'tool-call':
      return writeCall(block);
    case 'media':
      return [{ type: 'text', text: mediaText(block), citations: null }];
    case 'tool-result':
      return [];
    default:
      return unreachable(block);
  }
}

/** A model of this protocol draws nothing, and its callers can show nothing that was drawn. */
export function mediaText({
  media,
  mediaType,
}: Pick<OpenBlock & { kind: 'media' }, 'media' | 'mediaType'>): string {
  return `[${mediaType ?? media}]`;
}

function writeThought({ text, sealed }: ReasoningBlock): WireRecord {
  return sealed?.form === 'redacted' && text === ''
    ? { type: 'redacted_thinking', data: markSealed(sealed) }
    : { type: 'thinking', thinking: text, signature: signatureOf(sealed) };
}

/** State of the call itself has no place in this protocol: it stands behind it, in a thought without words (read-messages.ts). */
function writeCall({ id, name, input, form, sealed }: ToolCallBlock): readonly WireRecord[] {
  const call = { type: 'tool_use', id: legalName(id, callIdRule), name, caller: { type: 'direct' } };
  const wire = { ...call, input: form === 'custom' ? { input } : (parseObject(input) ?? {}) };
  return sealed === null ? [wire] : [wire, { type: 'thinking', thinking: '', signature: markSealed(sealed) }];
}

/** All that every message says of itself, whole or as it begins. */
export function identityMembers(
  { answerId, model }: Pick<TurnAnswer, 'answerId' | 'model'>,
  { traceId, turn }: WriterContext,
): WireRecord {
  return {
    id: answerId?.startsWith('msg_') ? answerId : `msg_${traceId}`,
    type: 'message',
    role: 'assistant',
    model: model ?? turn.model,
  };
}

/** Why it stopped. A call of a tool is one whatever the upstream says. */
export function stopMembers(finish: Finish, hasCall: boolean): WireRecord {
  const stop_reason = stopReasonOf(finish, hasCall);
  return {
    stop_reason,
    stop_sequence: finish.stopSequence,
    stop_details: stop_reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
    container: null,
  };
}

/** This protocol's own finer words for the same. */
const finerReasons: ReadonlySet<string> = new Set(['pause_turn', 'model_context_window_exceeded']);

function stopReasonOf({ reason, rawReason, stopSequence }: Finish, hasCall: boolean): string {
  const isOwn = rawReason !== null && finerReasons.has(rawReason) && readFinishReason(rawReason) === reason;
  if (isOwn) return rawReason;
  switch (reason) {
    case 'stop':
    case 'error':
    case 'unknown':
      if (hasCall) return 'tool_use';
      return stopSequence === null ? 'end_turn' : 'stop_sequence';
    case 'length':
      return 'max_tokens';
    case 'tool-calls':
      return 'tool_use';
    case 'content-filter':
    case 'refusal':
      return 'refusal';
    default:
      return unreachable(reason);
  }
}

/** The input in this protocol's parts, which exclude what the cache did. Sounds and pictures are input like any other. */
export function usageMembers(usage: Usage | null): WireRecord {
  const {
    inputFresh,
    inputAudio,
    inputImage,
    inputCacheRead,
    inputCacheWrite5m,
    inputCacheWrite1h,
    ...rest
  } = usage ?? noUsage;
  return {
    input_tokens: inputFresh + inputAudio + inputImage,
    cache_creation_input_tokens: inputCacheWrite5m + inputCacheWrite1h,
    cache_read_input_tokens: inputCacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: inputCacheWrite5m,
      ephemeral_1h_input_tokens: inputCacheWrite1h,
    },
    output_tokens: rest.output + rest.outputAudio + rest.outputImage,
    output_tokens_details: { thinking_tokens: rest.outputReasoning },
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
  };
}

/**
 * The signature of thoughts. Callers want one that is not empty, and keep it without looking into it; where there is none it
 * is the mark alone, of no origin, by which it is known and removed when it comes back.
 */
export function signatureOf(sealed: Sealed | null): string {
  return markSealed(sealed ?? { origin: 'none', data: '', form: 'signature' });
}

/** The citations of a block of text; null and anything that is no list are none. */
export function readCitations(wire: unknown): readonly Citation[] {
  return listOf(wire).map((citation) => readCitation(recordOf(citation)));
}

/**
 * The source a statement is from, whatever kind of source it is. The wire counts characters, pages and blocks of the source,
 * not of the answer, so no place in the answer is told.
 */
export function readCitation(wire: WireRecord): Citation {
  const source = stringOf(wire['source']);
  return {
    url: stringOf(wire['url']) ?? (source !== null && /^https?:/.test(source) ? source : null),
    title: stringOf(wire['title']) ?? stringOf(wire['document_title']),
    quote: stringOf(wire['cited_text']),
    start: null,
    end: null,
  };
}

/** A source on the web is a result of a search; any other one is a document. */
export function writeCitation({ url, title, quote }: Citation): WireRecord {
  const cited_text = quote ?? '';
  if (url !== null)
    return { type: 'web_search_result_location', url, title, cited_text, encrypted_index: '' };
  return {
    type: 'char_location',
    cited_text,
    document_index: 0,
    document_title: title,
    start_char_index: 0,
    end_char_index: cited_text.length,
    file_id: null,
  };
}
