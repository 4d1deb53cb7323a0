import { unreachable } from '../../result.ts';
import { argumentsField, sealedField } from '../../translate/caller-fields.ts';
import { parseObject } from '../../translate/parse-object.ts';
import { mayReturn } from '../../translate/sealed-mark.ts';
import { legalName, type NameRule } from '../../translate/tool-names.ts';
import type { OrderedMessage } from '../../translate/turn-order.ts';
import type { WriteNotes } from '../../translate/write-notes.ts';
import type {
  Block,
  Message,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
} from '../../turn.ts';
import type { WireRecord } from '../../wire-values.ts';
import type { WriteContext } from './write-context.ts';
import { writeMedia } from './write-media.ts';

export const callIdRule: NameRule = { legal: /[a-zA-Z0-9_-]/, legalFirst: /[a-zA-Z0-9_-]/, lengthMax: 128 };

/** The messages with those thoughts only that this target has signed: any other is refused, and removed without a trace. */
export function withOwnThoughts(
  { surface, messages }: Pick<Turn, 'surface' | 'messages'>,
  origin: string,
  notes: WriteNotes,
): readonly Message[] {
  return messages.map((message) => ({
    ...message,
    content: message.content.filter((block) => {
      if (block.kind !== 'reasoning') return true;
      const { sealed } = block;
      const isOwn: boolean = mayReturn(sealed, origin);
      // Unmarked state is of an upstream of the caller's own protocol, which would have used it.
      if (!isOwn && sealed?.origin === 'native') notes.drop(sealedField(surface), 'sealed elsewhere');
      return isOwn;
    }),
  }));
}

export function writeMessage({ role, content }: OrderedMessage, context: WriteContext): WireRecord {
  return { role, content: content.flatMap((block) => writeBlock(block, context)) };
}

function writeBlock(block: Block, context: WriteContext): readonly WireRecord[] {
  switch (block.kind) {
    case 'text':
      return writeText(block, context);
    case 'refusal':
      return [{ type: 'text', text: block.text }];
    case 'reasoning':
      return [writeThought(block)];
    case 'media':
      return writeMedia(block, context);
    case 'tool-call':
      return [writeCall(block, context)];
    case 'tool-result':
      return [writeResult(block, context)];
    default:
      return unreachable(block);
  }
}

export function writeText(
  { text, cacheTtl }: TextBlock,
  { breakpoints }: Pick<WriteContext, 'breakpoints'>,
): readonly WireRecord[] {
  if (text.trim() === '') return [];
  return [{ type: 'text', text, ...breakpoints.write(cacheTtl) }];
}

function writeThought({ text, sealed }: ReasoningBlock): WireRecord {
  const data = sealed?.data ?? '';
  return sealed?.form === 'redacted'
    ? { type: 'redacted_thinking', data }
    : { type: 'thinking', thinking: text, signature: data };
}

function writeCall(block: ToolCallBlock, context: WriteContext): WireRecord {
  return {
    type: 'tool_use',
    id: legalName(block.id, callIdRule),
    name: context.naming.sent(block),
    input: block.form === 'custom' ? { input: block.input } : readArguments(block.input, context),
  };
}

/** Arguments that a model wrote wrongly, or nested without end, cannot be said here; its call then has none. */
function readArguments(input: string, { notes, surface }: WriteContext): WireRecord {
  const value = parseObject(input);
  if (value !== null) return value;
  notes.change(argumentsField(surface), 'malformed, sent as none');
  return {};
}

function writeResult(block: ToolResultBlock, context: WriteContext): WireRecord {
  const content = block.content.flatMap((part) => writeBlock(part, context));
  return {
    type: 'tool_result',
    tool_use_id: legalName(block.callId, callIdRule),
    ...(content.length === 0 ? {} : { content }),
    ...(block.isError ? { is_error: true } : {}),
    ...context.breakpoints.write(block.cacheTtl),
  };
}
