import type { WriterContext } from '../../codec.ts';
import { unreachable } from '../../result.ts';
import { parseObject } from '../../translate/parse-object.ts';
import { markSealed } from '../../translate/sealed-mark.ts';
import { legalName } from '../../translate/tool-names.ts';
import type { Block, ReasoningBlock, ToolCallBlock } from '../../turn.ts';
import type { OpenBlock, TurnAnswer } from '../../turn-event.ts';
import type { WireRecord } from '../../wire-values.ts';
import { identityMembers, signatureOf, stopMembers, usageMembers } from './answer-members.ts';
import { writeCitation } from './citations.ts';
import { callIdRule } from './write-blocks.ts';

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

/** State of the call itself has no place in this protocol: it stands behind it, in a thought without words (read-blocks.ts). */
function writeCall({ id, name, input, form, sealed }: ToolCallBlock): readonly WireRecord[] {
  const call = { type: 'tool_use', id: legalName(id, callIdRule), name, caller: { type: 'direct' } };
  const wire = { ...call, input: form === 'custom' ? { input } : (parseObject(input) ?? {}) };
  return sealed === null ? [wire] : [wire, { type: 'thinking', thinking: '', signature: markSealed(sealed) }];
}
