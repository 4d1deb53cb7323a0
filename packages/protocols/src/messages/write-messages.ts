import type { TranslationTarget, WrittenTurn } from '../codec.ts';
import type { Fault } from '../error.ts';
import { jsonRequest } from '../request/edits.ts';
import { type Result, unreachable } from '../result.ts';
import { askByTool } from '../translate/answer-tool.ts';
import { findObstacle, schemaSupport, structuredLimits } from '../translate/json-schema/obstacles.ts';
import type { Support } from '../translate/least-loss.ts';
import type { TraitSupport } from '../translate/losses.ts';
import { showMedia } from '../translate/media.ts';
import { mayReturn } from '../translate/seals.ts';
import { legalName, type NameRule, parseObject } from '../translate/tools.ts';
import { type OrderedMessage, orderTurns } from '../translate/turn-order.ts';
import {
  type Block,
  type MediaBlock,
  type Message,
  type ReasoningBlock,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
  textBlock,
} from '../turn.ts';
import type { WireRecord } from '../wire-values.ts';
import { messagesSurface, upstreamHeaders } from './wire.ts';
import {
  jsonInstruction,
  settingSupport,
  writeMaxTokens,
  writeSettings,
  writeThinking,
} from './write-settings.ts';
import { MessagesWriting, writeTools } from './write-tools.ts';

const traits: TraitSupport = {
  citations: 'dropped',
  'cache-mark': 'carried',
  'image-detail': 'dropped',
  filename: 'carried',
  'media-name': 'dropped',
  'call-seal': 'dropped',
};

export function supportOf(turn: Turn): Support {
  const schema = schemaSupport(turn, structuredLimits, 'changed');
  return { settings: settingSupport, traits, thoughts: 'carried', schema };
}

/** Writes the turn for an upstream of this protocol. */
export function writeTurn(turn: Turn, target: TranslationTarget): Result<WrittenTurn, Fault> {
  const { writing, answerTool } = writingOf(turn, target);
  writing.answerTool = answerTool;
  writing.noteLosses(messagesSurface, settingSupport, traits);
  const headers = upstreamHeaders({ version: null, betas: null }, target.dialect);
  return writing.finish(jsonRequest(target.path, writeBody(writing), headers));
}

/** A schema that this vendor would hold an answer to in another sense goes by a tool, to which it goes as it is. */
function writingOf(turn: Turn, target: TranslationTarget) {
  const { outputFormat: format } = turn.settings;
  const obstacle = format?.kind === 'json-schema' ? findObstacle(format.schema, structuredLimits) : null;
  if (format?.kind !== 'json-schema' || obstacle === null)
    return { writing: new MessagesWriting(turn, target), answerTool: null };
  const asked = askByTool(turn, format);
  const unformatted = { ...turn, settings: { ...turn.settings, outputFormat: null } };
  const writing = new MessagesWriting(asked?.turn ?? unformatted, target);
  if (asked === null) writing.dropSetting('outputFormat', 'a tool is called in any case');
  else writing.changeSetting('outputFormat', `by a tool, for ${obstacle || 'all of it'}`);
  return { writing, answerTool: asked?.tool ?? null };
}

function writeBody(writing: MessagesWriting): WireRecord {
  const { turn, target } = writing;
  if (turn.messages.some(({ name }) => name !== null)) writing.drop('messages[].name');
  const ordered = orderTurns(showMedia(withOwnThoughts(writing)));
  const maxTokens = writeMaxTokens(writing);
  const thinking = writeThinking(writing, maxTokens, isUnsignedLoop(ordered));
  const withThoughts = thinking.isOn ? writing.limitWithThoughts() : null;
  // In the order of the prompt, in which cache breakpoints are counted: tools, system, messages.
  const tools = writeTools(writing);
  const system = writeSystem(writing);
  return {
    model: target.upstreamModel,
    max_tokens: withThoughts ?? maxTokens,
    ...system,
    messages: trimmedEnd(ordered).map((message) => writeMessage(message, writing)),
    ...tools,
    ...writeSettings(writing, thinking),
    ...(turn.stream ? { stream: true } : {}),
  };
}

/** One plain text is written as such. */
function writeSystem(writing: MessagesWriting): WireRecord {
  const hint = jsonInstruction(writing);
  const texts = [...writing.turn.system, ...(hint === null ? [] : [textBlock(hint)])];
  const blocks = texts.flatMap((block) => writeText(block, writing));
  const [first, ...rest] = blocks;
  if (first === undefined) return {};
  return { system: rest.length === 0 && !('cache_control' in first) ? first['text'] : blocks };
}

/** Results of tools come last, and the turn that called them has no thoughts to begin with. */
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
function withOwnThoughts(writing: MessagesWriting): readonly Message[] {
  return writing.turn.messages.map((message) => ({
    ...message,
    content: message.content.filter((block) => {
      if (block.kind !== 'reasoning') return true;
      const { sealed } = block;
      const isOwn: boolean = mayReturn(sealed, writing.target.origin);
      // Unmarked state is of an upstream of the caller's own protocol, which would have used it.
      if (!isOwn && sealed?.origin === 'native') writing.drop(writing.surface.sealed, 'sealed elsewhere');
      return isOwn;
    }),
  }));
}

function writeMessage({ role, content }: OrderedMessage, writing: MessagesWriting): WireRecord {
  return { role, content: content.flatMap((block) => writeBlock(block, writing)) };
}

function writeBlock(block: Block, writing: MessagesWriting): readonly WireRecord[] {
  switch (block.kind) {
    case 'text':
      return writeText(block, writing);
    case 'refusal':
      return [{ type: 'text', text: block.text }];
    case 'reasoning':
      return [writeThought(block)];
    case 'media':
      return writeMedia(block, writing);
    case 'tool-call':
      return [writeCall(block, writing)];
    case 'tool-result':
      return [writeResult(block, writing)];
    default:
      return unreachable(block);
  }
}

function writeText({ text, cacheTtl }: TextBlock, { breakpoints }: MessagesWriting): readonly WireRecord[] {
  if (text.trim() === '') return [];
  return [{ type: 'text', text, ...breakpoints.write(cacheTtl) }];
}

function writeThought({ text, sealed }: ReasoningBlock): WireRecord {
  const data = sealed?.data ?? '';
  return sealed?.form === 'redacted'
    ? { type: 'redacted_thinking', data }
    : { type: 'thinking', thinking: text, signature: data };
}

function writeCall(block: ToolCallBlock, writing: MessagesWriting): WireRecord {
  return {
    type: 'tool_use',
    id: legalName(block.id, callIdRule),
    name: writing.naming.sent(block),
    input: block.form === 'custom' ? { input: block.input } : readArguments(block.input, writing),
  };
}

/** Arguments that a model wrote wrongly, or nested without end, cannot be said here; its call then has none. */
function readArguments(input: string, writing: MessagesWriting): WireRecord {
  const value = parseObject(input);
  if (value !== null) return value;
  writing.change(writing.surface.arguments, 'malformed, sent as none');
  return {};
}

function writeResult(block: ToolResultBlock, writing: MessagesWriting): WireRecord {
  const content = block.content.flatMap((part) => writeBlock(part, writing));
  return {
    type: 'tool_result',
    tool_use_id: legalName(block.callId, callIdRule),
    ...(content.length === 0 ? {} : { content }),
    ...(block.isError ? { is_error: true } : {}),
    ...writing.breakpoints.write(block.cacheTtl),
  };
}

/** A picture or a file; a fault for what this protocol cannot show a model. */
function writeMedia(block: MediaBlock, writing: MessagesWriting): readonly WireRecord[] {
  const source = sourceOf(block);
  if (source === null) {
    writing.refuse(writing.surface.media[block.media], remedyFor(block));
    return [];
  }
  const isImage = block.media === 'image';
  const title = isImage || block.filename === null || block.filename === '' ? {} : { title: block.filename };
  const type = isImage ? 'image' : 'document';
  return [{ type, source, ...title, ...writing.breakpoints.write(block.cacheTtl) }];
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
