import { unreachable } from '../../result.ts';
import { mayReturn } from '../../translate/sealed-mark.ts';
import { legalName, type NameRule } from '../../translate/tool-names.ts';
import type { OrderedMessage } from '../../translate/turn-order.ts';
import type { WriteNotes } from '../../translate/write-notes.ts';
import type {
  Block,
  Message,
  ReasoningBlock,
  Sealed,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from '../../turn.ts';
import { isRecord, type WireRecord } from '../../wire-values.ts';
import type { WriteContext } from './write-context.ts';
import { writeMedia } from './write-media.ts';

const callIdRule: NameRule = { legal: /[a-zA-Z0-9_-]/, legalFirst: /[a-zA-Z0-9_-]/, lengthMax: 128 };

/** The messages with those thoughts only that this target has signed: any other is refused, and removed without a trace. */
export function withOwnThoughts(
  messages: readonly Message[],
  origin: string,
  notes: WriteNotes,
): readonly Message[] {
  return messages.map((message) => ({
    ...message,
    content: message.content.filter((block) => {
      if (block.kind !== 'reasoning') return true;
      const { sealed } = block;
      const isOwn: boolean = mayReturn(sealed, origin);
      if (!isOwn) noteSealed(sealed, notes);
      return isOwn;
    }),
  }));
}

/** Unmarked state is of an upstream of the caller's own protocol, which would have used it. */
function noteSealed(sealed: Sealed | null, notes: WriteNotes): void {
  if (sealed?.origin === 'native') notes.drop('messages[].content[].reasoning', 'sealed elsewhere');
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
  { text, cacheTtl, citations }: TextBlock,
  { breakpoints, notes }: Pick<WriteContext, 'breakpoints' | 'notes'>,
): readonly WireRecord[] {
  if (text.trim() === '') return [];
  if (citations.length > 0) notes.drop('messages[].content[].citations');
  return [{ type: 'text', text, ...breakpoints.write(cacheTtl) }];
}

function writeThought({ text, sealed }: ReasoningBlock): WireRecord {
  const data = sealed?.data ?? '';
  return sealed?.form === 'redacted'
    ? { type: 'redacted_thinking', data }
    : { type: 'thinking', thinking: text, signature: data };
}

/** A call of this protocol has no state of its own. */
function writeCall(block: ToolCallBlock, { naming, notes }: WriteContext): WireRecord {
  noteSealed(block.sealed, notes);
  return {
    type: 'tool_use',
    id: legalName(block.id, callIdRule),
    name: naming.sent(block),
    input: block.form === 'custom' ? { input: block.input } : readArguments(block.input, notes),
  };
}

/** Arguments that a model wrote wrongly cannot be said here; its call then has none. */
function readArguments(input: string, notes: WriteNotes): WireRecord {
  if (input.trim() === '') return {};
  const value = parsed(input);
  if (isRecord(value)) return value;
  notes.change('messages[].tool_calls[].arguments', 'malformed, sent as none');
  return {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
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
