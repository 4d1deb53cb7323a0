import { readSealed } from '../../translate/sealed-mark.ts';
import type { TurnNotes } from '../../translate/turn-notes.ts';
import type { Block, CacheTtl, MediaBlock, ReasoningBlock, TextBlock, ToolCallBlock } from '../../turn.ts';
import { listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { readCacheTtl } from './cache-control.ts';
import { readCitations } from './citations.ts';
import { flattenHosted, flattenSearchResult } from './flatten-hosted.ts';
import { readDocument, readImage } from './read-media.ts';

/** The content of a message: a text, or blocks in order. */
export function readBlocks(content: unknown, notes: TurnNotes): readonly Block[] {
  if (typeof content === 'string') return [textBlock(content, null)];
  const blocks: Block[] = [];
  for (const value of listOf(content)) {
    for (const block of readBlock(recordOf(value), notes)) append(blocks, block);
  }
  return blocks;
}

function readBlock(wire: WireRecord, notes: TurnNotes): readonly Block[] {
  switch (wire['type']) {
    case 'text':
      return [{ ...readText(wire), citations: readCitations(wire['citations']) }];
    case 'image':
    case 'document':
    case 'search_result':
      return readMaterial(wire, notes);
    case 'thinking':
      return [readThinking(wire)];
    case 'redacted_thinking':
      return readRedacted(wire);
    case 'tool_use':
      return [readToolUse(wire, notes)];
    case 'tool_result':
      return [readToolResult(wire, notes)];
    default:
      return readHosted(wire, notes);
  }
}

/** What a user or a tool can show a model beside text. */
function readMaterial(wire: WireRecord, notes: TurnNotes): readonly (TextBlock | MediaBlock)[] {
  switch (wire['type']) {
    case 'image':
      return readImage(wire, notes);
    case 'document':
      return readDocument(wire, notes);
    default:
      notes.flatten('messages[].content[].search_result');
      return [textBlock(flattenSearchResult(wire), readCacheTtl(wire))];
  }
}

function readText(wire: WireRecord): TextBlock {
  return textBlock(stringOf(wire['text']) ?? '', readCacheTtl(wire));
}

function readThinking(wire: WireRecord): ReasoningBlock {
  const signature = stringOf(wire['signature']) ?? '';
  const sealed = signature === '' ? null : readSealed(signature, 'signature');
  return { kind: 'reasoning', text: stringOf(wire['thinking']) ?? '', sealed };
}

function readRedacted(wire: WireRecord): readonly ReasoningBlock[] {
  const data = stringOf(wire['data']) ?? '';
  return data === '' ? [] : [{ kind: 'reasoning', text: '', sealed: readSealed(data, 'redacted') }];
}

function readToolUse(wire: WireRecord, notes: TurnNotes): ToolCallBlock {
  if (typeof wire['toolset_name'] === 'string') notes.lose('messages[].content[].toolset_name');
  return {
    kind: 'tool-call',
    id: stringOf(wire['id']) ?? '',
    name: stringOf(wire['name']) ?? '',
    namespace: null,
    form: 'function',
    input: JSON.stringify(recordOf(wire['input'])),
    sealed: null,
  };
}

function readToolResult(wire: WireRecord, notes: TurnNotes): Block {
  const { content } = wire;
  return {
    kind: 'tool-result',
    callId: stringOf(wire['tool_use_id']) ?? '',
    isError: wire['is_error'] === true,
    content:
      typeof content === 'string'
        ? [textBlock(content, null)]
        : listOf(content).flatMap((part) => readResultPart(recordOf(part), notes)),
    cacheTtl: readCacheTtl(wire),
  };
}

function readResultPart(wire: WireRecord, notes: TurnNotes): readonly (TextBlock | MediaBlock)[] {
  switch (wire['type']) {
    case 'text':
      return [readText(wire)];
    case 'image':
    case 'document':
    case 'search_result':
      return readMaterial(wire, notes);
    default:
      return readHosted(wire, notes);
  }
}

/** What the vendor's own tools have said and done, and blocks of days to come. */
function readHosted(wire: WireRecord, notes: TurnNotes): readonly TextBlock[] {
  const field = `messages[].content[].${stringOf(wire['type']) ?? 'type'}`;
  const text = flattenHosted(wire);
  if (text === null) notes.lose(field);
  else notes.flatten(field);
  return text === null ? [] : [textBlock(text, null)];
}

/** The state of a tool call is written as a thought without words right behind it (write-blocks.ts), and found again there. */
function append(blocks: Block[], block: Block): void {
  const last = blocks.at(-1);
  const isState = block.kind === 'reasoning' && block.text === '' && block.sealed?.form === 'signature';
  if (isState && block.sealed.origin !== 'native' && last?.kind === 'tool-call' && last.sealed === null) {
    blocks[blocks.length - 1] = { ...last, sealed: block.sealed };
  } else blocks.push(block);
}

function textBlock(text: string, cacheTtl: CacheTtl): TextBlock {
  return { kind: 'text', text, citations: [], cacheTtl };
}
