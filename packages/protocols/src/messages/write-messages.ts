import type { TranslationTarget, WrittenTurn } from '../codec.ts';
import type { Fault } from '../error.ts';
import { jsonRequest } from '../request/edits.ts';
import { fail, type Result, succeed, unreachable } from '../result.ts';
import { extensionLosses, settingLosses, type TraitSupport, traitLosses } from '../translate/losses.ts';
import { showMedia } from '../translate/media.ts';
import { WriteNotes } from '../translate/notes.ts';
import { mayReturn } from '../translate/seals.ts';
import { legalName, type NameRule, parseObject, ToolNaming } from '../translate/tools.ts';
import { type OrderedMessage, orderTurns } from '../translate/turn-order.ts';
import type {
  Block,
  MediaBlock,
  Message,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
} from '../turn.ts';
import type { WireRecord } from '../wire-values.ts';
import { CacheBreakpoints, messagesSurface, upstreamHeaders } from './wire.ts';
import {
  jsonInstruction,
  settingSupport,
  writeMaxTokens,
  writeSettings,
  writeThinking,
} from './write-settings.ts';
import { toolNameRule, type WriteContext, writeTools } from './write-tools.ts';

const traitSupport: TraitSupport = {
  citations: 'dropped',
  'cache-mark': 'carried',
  'image-detail': 'dropped',
  filename: 'carried',
  'media-name': 'dropped',
  'call-seal': 'dropped',
};

/** Writes the turn for an upstream of this protocol. */
export function writeTurn(turn: Turn, target: TranslationTarget): Result<WrittenTurn, Fault> {
  const ofSettings = settingLosses(turn, settingSupport);
  if (!ofSettings.ok) return ofSettings;
  const ofExtensions = extensionLosses(turn, messagesSurface);
  if (!ofExtensions.ok) return ofExtensions;
  const notes = new WriteNotes();
  notes.add([
    ...ofExtensions.value,
    ...ofSettings.value,
    ...traitLosses(turn, messagesSurface, traitSupport),
  ]);
  const naming = new ToolNaming(turn, toolNameRule);
  const breakpoints = new CacheBreakpoints(turn);
  const body = writeBody(turn, target, { surface: turn.surface, naming, notes, breakpoints });
  if (notes.fault !== null) return fail(notes.fault);
  const request = jsonRequest(
    target.path,
    body,
    upstreamHeaders({ version: null, betas: null }, target.dialect),
  );
  return succeed({ request, losses: notes.losses, names: naming.names });
}

function writeBody(turn: Turn, target: TranslationTarget, context: WriteContext): WireRecord {
  const { notes } = context;
  if (turn.messages.some(({ name }) => name !== null)) notes.drop('messages[].name');
  const ordered = orderTurns(showMedia(withOwnThoughts(turn, target.origin, notes)));
  const maxTokens = writeMaxTokens(turn, target, notes);
  const isLoopUnsigned = isUnsignedLoop(ordered);
  const thinking = writeThinking(turn, { target, maxTokens, isLoopUnsigned }, notes);
  // In the order of the prompt, in which cache breakpoints are counted: tools, system, messages.
  const tools = writeTools(turn, context);
  const system = writeSystem(turn, context);
  return {
    model: target.upstreamModel,
    max_tokens: maxTokens,
    ...system,
    messages: trimmedEnd(ordered).map((message) => writeMessage(message, context)),
    ...tools,
    ...writeSettings(turn, target, thinking, notes),
    ...(turn.stream ? { stream: true } : {}),
  };
}

/** One plain text is written as such. */
function writeSystem(turn: Turn, context: WriteContext): WireRecord {
  const blocks = [...turn.system, ...extraInstruction(turn, context.notes)].flatMap((block) =>
    writeText(block, context),
  );
  const [first, ...rest] = blocks;
  if (first === undefined) return {};
  return { system: rest.length === 0 && !('cache_control' in first) ? first['text'] : blocks };
}

function extraInstruction(turn: Turn, notes: WriteNotes): readonly TextBlock[] {
  const text = jsonInstruction(turn, notes);
  return text === null ? [] : [{ kind: 'text', text, citations: [], cacheTtl: null }];
}

/** True when results of tools come last, and the turn that called them has no thoughts to begin with. */
function isUnsignedLoop(messages: readonly OrderedMessage[]): boolean {
  const [call, result] = messages.slice(-2);
  return result?.content[0]?.kind === 'tool-result' && call?.content[0]?.kind !== 'reasoning';
}

/** The vendor refuses the beginning of an answer that ends in white space. */
function trimmedEnd(messages: readonly OrderedMessage[]): readonly OrderedMessage[] {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || block?.kind !== 'text') return messages;
  const content = [...last.content.slice(0, -1), { ...block, text: block.text.trimEnd() }];
  return [...messages.slice(0, -1), { ...last, content }];
}

export const callIdRule: NameRule = { legal: /[a-zA-Z0-9_-]/, legalFirst: /[a-zA-Z0-9_-]/, lengthMax: 128 };

/** The messages with those thoughts only that this target has signed: any other is refused, and removed without a trace. */
function withOwnThoughts(
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
      if (!isOwn && sealed?.origin === 'native') notes.drop(surface.sealed, 'sealed elsewhere');
      return isOwn;
    }),
  }));
}

function writeMessage({ role, content }: OrderedMessage, context: WriteContext): WireRecord {
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

function writeText(
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
  notes.change(surface.arguments, 'malformed, sent as none');
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

/** A picture or a file; a fault for what this protocol cannot show a model. */
function writeMedia(
  block: MediaBlock,
  context: Pick<WriteContext, 'surface' | 'notes' | 'breakpoints'>,
): readonly WireRecord[] {
  const source = sourceOf(block);
  if (source === null) {
    context.notes.refuse(context.surface.media[block.media], remedyFor(block));
    return [];
  }
  const isImage = block.media === 'image';
  const title = isImage || block.filename === null || block.filename === '' ? {} : { title: block.filename };
  const type = isImage ? 'image' : 'document';
  return [{ type, source, ...title, ...context.breakpoints.write(block.cacheTtl) }];
}

function remedyFor({ media, source }: MediaBlock): string {
  if (source.kind === 'id') return 'send the file itself in the place of its id';
  return media === 'audio'
    ? 'leave it out'
    : 'send an image as PNG, JPEG, GIF or WebP, and a file as PDF or text';
}

function sourceOf(block: MediaBlock): WireRecord | null {
  switch (block.media) {
    case 'audio':
      return null;
    case 'image':
      return imageSource(block);
    case 'file':
      return fileSource(block);
    default:
      return unreachable(block.media);
  }
}

function imageSource({ source, mediaType }: MediaBlock): WireRecord | null {
  switch (source.kind) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'base64': {
      const media_type = imageType(source.data, mediaType);
      return media_type === null ? null : { type: 'base64', media_type, data: source.data };
    }
    case 'text':
    case 'id':
      return null;
    default:
      return unreachable(source);
  }
}

/** How the formats that are taken begin, in base64. Their own word counts: the vendor checks it. */
const imageBeginnings: Readonly<Record<string, string>> = {
  'image/png': 'iVBORw0',
  'image/jpeg': '/9j/',
  'image/gif': 'R0lGOD',
  'image/webp': 'UklGR',
};

function imageType(data: string, mediaType: string | null): string | null {
  const found = Object.entries(imageBeginnings).find(([, beginning]) => data.startsWith(beginning));
  if (found !== undefined) return found[0];
  return mediaType !== null && mediaType in imageBeginnings ? mediaType : null;
}

const pdfType = 'application/pdf';
/** How a PDF begins, in base64. */
const pdfBeginning = 'JVBERi';

function fileSource({ source, mediaType }: MediaBlock): WireRecord | null {
  switch (source.kind) {
    case 'url':
      return { type: 'url', url: source.url };
    case 'text':
      return plainText(source.text);
    case 'base64':
      if (mediaType === pdfType || source.data.startsWith(pdfBeginning))
        return { type: 'base64', media_type: pdfType, data: source.data };
      return isText(mediaType) ? decodedText(source.data) : null;
    case 'id':
      return null;
    default:
      return unreachable(source);
  }
}

function isText(mediaType: string | null): boolean {
  return mediaType !== null && /^text\/|^application\/([\w.-]+\+)?(json|xml|yaml)\b/.test(mediaType);
}

/** Null for what is no base64, or no text in UTF-8. */
function decodedText(data: string): WireRecord | null {
  try {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    return plainText(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

function plainText(data: string): WireRecord | null {
  return data === '' ? null : { type: 'text', media_type: 'text/plain', data };
}
