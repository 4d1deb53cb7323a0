import { decodeJson } from '../bytes/json-text.ts';
import { type Fault, fault } from '../error.ts';
import type { RequestInput } from '../request.ts';
import { fail, type Result, succeed } from '../result.ts';
import { noteOwnMembers, TurnNotes } from '../translate/reading.ts';
import { readSealed } from '../translate/seals.ts';
import {
  type Block,
  type MediaBlock,
  type MediaSource,
  type Message,
  type ReasoningBlock,
  type TextBlock,
  type ToolCallBlock,
  type Turn,
  textBlock,
} from '../turn.ts';
import { isRecord, listOf, recordOf, stringOf, type WireRecord, wordSet } from '../wire-values.ts';
import { readCitations } from './answer.ts';
import { readSettings, readToolChoice, readTools, spellingOf } from './read-settings.ts';
import { messagesSurface, readCacheTtl } from './wire.ts';

/** Reads a messages request. Every member of it is taken up, noted as an extension, or blamed. */
export function readTurn({ body }: RequestInput): Result<Turn, Fault> {
  const wire = decodeJson(body, 0, body.length);
  if (!isRecord(wire))
    return fail(fault('invalid_request', { message: 'The request is not a JSON object.' }));
  if ((wire['thread'] ?? null) !== null)
    return fail(fault('thread_unsupported_request', { param: 'thread' }));
  const notes = new TurnNotes();
  const tools = readTools(listOf(wire['tools']), wire['tool_choice'], notes);
  const turn = {
    surface: messagesSurface,
    model: stringOf(wire['model']) ?? '',
    stream: wire['stream'] === true,
    system: readSystem(wire['system'], notes),
    messages: listOf(wire['messages']).flatMap((message, at) => readMessage(message, at, notes)),
    tools,
    toolChoice: readToolChoice(recordOf(wire['tool_choice']), notes),
    settings: readSettings(wire, notes),
    spelling: spellingOf(wire),
  };
  noteOwnMembers(wire, known, notes);
  return notes.fault === null ? succeed({ ...turn, extensions: notes.extensions }) : fail(notes.fault);
}

/**
 * A line that one caller puts before its instructions for the vendor's own accounts. It changes with every request, so that
 * no prompt cache would ever hold, and says nothing to a model.
 */
const accountingLine = /^x-[a-z]+-billing-header:/;

function readSystem(wire: unknown, notes: TurnNotes): readonly TextBlock[] {
  const blocks = typeof wire === 'string' ? [{ type: 'text', text: wire }] : listOf(wire);
  return blocks.map(recordOf).flatMap((block) => readInstruction(block, notes));
}

function readInstruction(block: WireRecord, notes: TurnNotes): readonly TextBlock[] {
  const text = stringOf(block['text']);
  if (text === null) return notes.blame('system', 'must be a text, or a list of blocks of text');
  if (accountingLine.test(text) || text === '') return [];
  return [textBlock(text, readCacheTtl(block))];
}

function readMessage(wire: unknown, at: number, notes: TurnNotes): readonly Message[] {
  const { role, content } = recordOf(wire);
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    return notes.blame(`messages[${at}].role`, "must be 'user', 'assistant' or 'system'");
  if (typeof content !== 'string' && !Array.isArray(content))
    return notes.blame(`messages[${at}].content`, 'must be a text or a list of blocks');
  return [{ role, content: readBlocks(content, notes), name: null }];
}

/** Members that a turn has a place for. Without places to work in, tools elsewhere and where data may go, no answer is right. */
const known = {
  understood: wordSet(`
    model messages system max_tokens temperature top_p top_k stop_sequences stream thinking output_config
    output_format tools tool_choice metadata service_tier`),
  insisted: wordSet('container mcp_servers inference_geo'),
};

/** The content of a message: a text, or blocks in order. */
function readBlocks(content: unknown, notes: TurnNotes): readonly Block[] {
  if (typeof content === 'string') return [textBlock(content)];
  const blocks: Block[] = [];
  for (const value of listOf(content)) {
    for (const block of readBlock(recordOf(value), notes)) append(blocks, block);
  }
  return blocks;
}

function readBlock(wire: WireRecord, notes: TurnNotes): readonly Block[] {
  switch (wire['type']) {
    case 'text':
      return [textBlock(stringOf(wire['text']) ?? '', readCacheTtl(wire), readCitations(wire['citations']))];
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

type Material = readonly (TextBlock | MediaBlock)[];

/** All that a user or a tool can show a model beside text. */
function readMaterial(wire: WireRecord, notes: TurnNotes): Material {
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
        ? [textBlock(content)]
        : listOf(content).flatMap((part) => readResultPart(recordOf(part), notes)),
    cacheTtl: readCacheTtl(wire),
  };
}

function readResultPart(wire: WireRecord, notes: TurnNotes): Material {
  switch (wire['type']) {
    case 'text':
      return [textBlock(stringOf(wire['text']) ?? '', readCacheTtl(wire))];
    case 'image':
    case 'document':
    case 'search_result':
      return readMaterial(wire, notes);
    default:
      return readHosted(wire, notes);
  }
}

/** All that the vendor's own tools have said and done, and blocks of days to come. */
function readHosted(wire: WireRecord, notes: TurnNotes): readonly TextBlock[] {
  const field = `messages[].content[].${stringOf(wire['type']) ?? 'type'}`;
  const text = flattenHosted(wire);
  if (text === null) notes.lose(field);
  else notes.flatten(field);
  return text === null ? [] : [textBlock(text)];
}

/** The state of a tool call is written as a thought without words right behind it (write-blocks.ts), and found again there. */
function append(blocks: Block[], block: Block): void {
  const last = blocks.at(-1);
  const isState = block.kind === 'reasoning' && block.text === '' && block.sealed?.form === 'signature';
  if (isState && block.sealed.origin !== 'native' && last?.kind === 'tool-call' && last.sealed === null) {
    blocks[blocks.length - 1] = { ...last, sealed: block.sealed };
  } else blocks.push(block);
}

function readImage(wire: WireRecord, notes: TurnNotes): Material {
  if (wire['transformations']) notes.lose('messages[].content[].transformations');
  return readMedia('image', wire, notes);
}

/** A file, or the blocks it is made of. */
function readDocument(wire: WireRecord, notes: TurnNotes): Material {
  if (wire['context']) notes.lose('messages[].content[].context');
  if (recordOf(wire['citations'])['enabled'] === true) notes.lose('messages[].content[].citations');
  const source = recordOf(wire['source']);
  return source['type'] === 'content' ? readParts(source['content'], notes) : readMedia('file', wire, notes);
}

function readParts(content: unknown, notes: TurnNotes): Material {
  if (typeof content === 'string') return [textBlock(content)];
  return listOf(content)
    .map(recordOf)
    .flatMap((part) =>
      part['type'] === 'image' ? readImage(part, notes) : [textBlock(stringOf(part['text']) ?? '')],
    );
}

function readMedia(media: MediaBlock['media'], wire: WireRecord, notes: TurnNotes): Material {
  const source = recordOf(wire['source']);
  const place = readSource(source);
  if (place === null)
    return notes.blame('messages[].content[].source', `cannot be read in a block of type '${wire['type']}'`);
  return [
    {
      kind: 'media',
      media,
      mediaType: stringOf(source['media_type']) ?? (place.kind === 'text' ? 'text/plain' : null),
      source: place,
      filename: stringOf(wire['title']),
      detail: null,
      cacheTtl: readCacheTtl(wire),
    },
  ];
}

function readSource(source: WireRecord): MediaSource | null {
  const data = stringOf(source['data']);
  const url = stringOf(source['url']);
  const id = stringOf(source['file_id']);
  switch (source['type']) {
    case 'base64':
      return data === null ? null : { kind: 'base64', data };
    case 'text':
      return data === null ? null : { kind: 'text', text: data };
    case 'url':
      return url === null ? null : { kind: 'url', url };
    case 'file':
      return id === null ? null : { kind: 'id', id };
    default:
      return null;
  }
}

/** A result of a search that the caller has made, as the text it amounts to. */
function flattenSearchResult(wire: WireRecord): string {
  const head = [stringOf(wire['title']), stringOf(wire['source'])].filter(isFilled).join('\n');
  return `[search result]\n${[head, ...textsIn(wire['content'])].filter(isFilled).join('\n')}`;
}

/**
 * A block of a tool that the vendor itself runs, as text that any model can read; null for one that has none. What is
 * encrypted in it stays out (translation-map.md, 2).
 */
function flattenHosted(wire: WireRecord): string | null {
  const type = stringOf(wire['type']) ?? '';
  if (type === 'compaction') return stringOf(wire['content']);
  if (type === 'tool_reference') return `[tool: ${stringOf(wire['tool_name']) ?? ''}]`;
  if (type === 'server_tool_use' || type === 'mcp_tool_use') return flattenCall(wire);
  if (!type.endsWith('_tool_result')) return null;
  const texts = textsIn(wire['content']).filter(isFilled);
  return `[${type.replaceAll('_', ' ')}]\n${texts.join('\n')}`.trim();
}

function flattenCall(wire: WireRecord): string {
  return `[${stringOf(wire['name']) ?? 'tool'}: ${JSON.stringify(recordOf(wire['input']))}]`;
}

/** Members of results that are there to be read. */
const readable = ['title', 'url', 'text', 'stdout', 'stderr', 'data', 'error_code', 'tool_name'] as const;

/** The texts of a result, of the lists and results within it too. The request is nested no deeper than can be walked. */
function textsIn(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content];
  if (Array.isArray(content)) return listOf(content).flatMap(textsIn);
  if (!isRecord(content) || content['type'] === 'base64') return [];
  const own = readable.flatMap((name) => stringOf(content[name]) ?? []);
  const inner = ['content', 'source', 'tool_references'].flatMap((name) => textsIn(content[name]));
  return [...own, ...inner];
}

function isFilled(text: string | null): text is string {
  return text !== null && text !== '';
}
