import type { ReaderContext } from '../../codec.ts';
import { type FinishReason, readFinishReason } from '../../finish-reason.ts';
import type { Block, TextBlock, ToolCallBlock, ToolResultBlock } from '../../turn.ts';
import type { Finish } from '../../turn-event.ts';
import { listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { readUsage } from '../meter.ts';
import { imageBlock, thoughtsOf } from './read-items.ts';
import { readCitations, textBlock } from './read-parts.ts';

/** What an answer is made of: a model answers with no results of tools. */
export type AnswerBlock = Exclude<Block, ToolResultBlock>;

/**
 * What an item of an answer says, by its part: messages have parts, everything else is one. Items of tools that the vendor
 * runs say nothing to the caller: what they found is in the text.
 */
export function blocksOfItem(
  item: WireRecord,
  index: number,
  context: ReaderContext,
): ReadonlyMap<number, AnswerBlock> {
  switch (item['type']) {
    case 'message':
      return blocksOfMessage(item);
    case 'reasoning':
      return only(reasoningOf(item, context));
    case 'function_call':
    case 'custom_tool_call':
      return only(callOf(item, index, context));
    case 'image_generation_call':
      return only(imageOf(item));
    default:
      return new Map();
  }
}

function only(block: AnswerBlock | null): ReadonlyMap<number, AnswerBlock> {
  return new Map(block === null ? [] : [[0, block]]);
}

function blocksOfMessage(item: WireRecord): ReadonlyMap<number, AnswerBlock> {
  const blocks = new Map<number, AnswerBlock>();
  for (const [index, part] of listOf(item['content']).entries()) {
    const block = blockOfPart(recordOf(part));
    if (block !== null) blocks.set(index, block);
  }
  return blocks;
}

/** Null for an empty part, and for one of a kind that no caller knows. */
export function blockOfPart(part: WireRecord): AnswerBlock | null {
  const text = stringOf(part['text']) ?? '';
  const refusal = stringOf(part['refusal']) ?? '';
  switch (part['type']) {
    case 'output_text':
    case 'text':
      return text === '' ? null : citedText(text, part);
    case 'refusal':
      return refusal === '' ? null : { kind: 'refusal', text: refusal };
    default:
      return null;
  }
}

function citedText(text: string, part: WireRecord): TextBlock {
  return textBlock(text, { citations: readCitations(part['annotations']) });
}

function reasoningOf(item: WireRecord, { origin }: ReaderContext): AnswerBlock | null {
  const text = thoughtsOf(item);
  const data = stringOf(item['encrypted_content']) ?? '';
  if (text === '' && data === '') return null;
  return { kind: 'reasoning', text, sealed: data === '' ? null : { origin, data, form: 'signature' } };
}

/** The call with the caller's own name for the tool, and an id even if the upstream gave none. */
export function callOf(item: WireRecord, index: number, { names, traceId }: ReaderContext): ToolCallBlock {
  const isCustom = item['type'] === 'custom_tool_call';
  const sent = stringOf(item['name']) ?? '';
  const own = names.get(sent);
  const namespace = stringOf(item['namespace']) ?? own?.namespace ?? null;
  return {
    kind: 'tool-call',
    id: stringOf(item['call_id']) || stringOf(item['id']) || `call_${traceId}_${index}`,
    name: own?.name ?? sent,
    namespace,
    form: isCustom ? 'custom' : 'function',
    input: stringOf(isCustom ? item['input'] : item['arguments']) ?? '',
    sealed: null,
  };
}

function imageOf(item: WireRecord): AnswerBlock | null {
  const data = stringOf(item['result']) ?? '';
  return data === '' ? null : imageBlock(data, stringOf(item['output_format']));
}

/** How a response ended. It has no word for the use of tools or for a refusal: what is in it says so. */
export function finishOf(response: WireRecord, kinds: ReadonlySet<Block['kind']>): Finish {
  const cause = stringOf(recordOf(response['incomplete_details'])['reason']);
  const status = stringOf(response['status']);
  return {
    reason: reasonOf(status, cause, kinds),
    rawReason: cause ?? status,
    stopSequence: null,
    usage: readUsage(response['usage']),
  };
}

function reasonOf(
  status: string | null,
  cause: string | null,
  kinds: ReadonlySet<Block['kind']>,
): FinishReason {
  if (status === 'incomplete') return cause === null ? 'unknown' : readFinishReason(cause);
  if (status === 'failed' || status === 'cancelled') return 'error';
  if (kinds.has('tool-call')) return 'tool-calls';
  return kinds.has('refusal') ? 'refusal' : 'stop';
}
