import { decodeJson } from '../bytes/json-text.ts';
import type { Fault } from '../error.ts';
import { invalid } from '../request/members.ts';
import type { RequestInput } from '../request.ts';
import { fail, type Result, succeed } from '../result.ts';
import { noteOwnMembers, plainWord, TurnNotes } from '../translate/reading.ts';
import {
  type Block,
  type MediaBlock,
  type MediaKind,
  type MediaSource,
  type Message,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
  textBlock,
} from '../turn.ts';
import { isRecord, recordOf, stringOf, type WireRecord, wordSet } from '../wire-values.ts';
import { readSettings, readSpelling, readTools } from './read-settings.ts';
import { readSignature, readThoughts } from './signature.ts';
import { elementsOf, generateContentSurface, inCamelCase, spelledBy } from './wire.ts';

/** The caller's request. The model, and whether it wants a stream, stand in the path. */
export function readTurn({ body, params }: RequestInput): Result<Turn, Fault> {
  const wire = decodeJson(body, 0, body.length);
  if (!isRecord(wire)) return invalid('The request body must be a JSON object in UTF-8.');
  const notes = new TurnNotes();
  const members = inCamelCase(wire);
  const turn: Omit<Turn, 'extensions'> = {
    surface: generateContentSurface,
    model: params.model ?? '',
    stream: params.action === 'streamGenerateContent',
    system: readSystem(members['systemInstruction']),
    messages: readContents(members, notes),
    ...readTools(members, notes),
    settings: readSettings(members, notes),
    spelling: readSpelling(wire),
  };
  noteOwnMembers(members, known, notes, (name) => spelledBy(wire, name));
  return notes.fault === null ? succeed({ ...turn, extensions: notes.extensions }) : fail(notes.fault);
}

/** Members that have a place in a turn, and those that are a part of the conversation which only the vendor has. */
const known = {
  understood: wordSet(
    'model contents systemInstruction tools toolConfig generationConfig labels serviceTier',
  ),
  insisted: wordSet('cachedContent continuationToken'),
};

/** One block for each part: its role does not matter, and anything but text is refused by the vendor itself. */
function readSystem(wire: unknown): readonly TextBlock[] {
  const parts = typeof wire === 'string' ? [{ text: wire }] : elementsOf(inCamelCase(wire)['parts']);
  return parts.flatMap((part) => {
    const text = stringOf(inCamelCase(part)['text']) ?? '';
    return text === '' ? [] : [textBlock(text)];
  });
}

function readContents(members: WireRecord, notes: TurnNotes): readonly Message[] {
  const resolution = inCamelCase(members['generationConfig'])['mediaResolution'];
  const reader = new ContentsReader(notes, mediaResolutionOf(resolution));
  return elementsOf(members['contents']).map((content, index) =>
    reader.read(inCamelCase(content), `contents[${index}]`),
  );
}

/** Reads a conversation in its order, since results name their calls by name and order where there are no ids. */
class ContentsReader {
  readonly #notes: TurnNotes;
  readonly #detail: MediaBlock['detail'];
  /** Calls without a result so far. */
  #open: ToolCallBlock[] = [];
  #calls = 0;
  #orphans = 0;

  constructor(notes: TurnNotes, detail: MediaBlock['detail']) {
    this.#notes = notes;
    this.#detail = detail;
  }

  read(content: WireRecord, place: string): Message {
    const { role, parts } = content;
    const isKnown = role === undefined || role === null || roles.has(role);
    if (!isKnown) this.#notes.blame(`${place}.role`, "must be 'user' or 'model'");
    const blocks = elementsOf(parts).flatMap((part) => this.#part(inCamelCase(part)));
    return { role: role === 'model' ? 'assistant' : 'user', content: withoutTwins(blocks), name: null };
  }

  /** Every part is of the one kind whose member it has. */
  #part(part: WireRecord): readonly Block[] {
    const { inlineData, fileData, functionCall, functionResponse, executableCode, codeExecutionResult } =
      part;
    this.#noteModifiers(part);
    if (typeof part['text'] === 'string') return textBlocks(part['text'], part);
    if (isRecord(functionCall))
      return [...readThoughts(part['thoughtSignature']), this.#call(inCamelCase(functionCall), part)];
    if (isRecord(functionResponse)) return [this.#result(inCamelCase(functionResponse))];
    if (isRecord(executableCode)) return this.#asText('executableCode', readCode(executableCode));
    if (isRecord(codeExecutionResult))
      return this.#asText('codeExecutionResult', readCodeResult(codeExecutionResult));
    const media = isRecord(inlineData) ? readInlineData(inlineData) : readFileData(fileData);
    if (media !== null) return [this.#detailed(media, part), ...sealBlocks(part)];
    for (const name of Object.keys(part)) if (!modifiers.has(name)) this.#notes.lose(field(name));
    return sealBlocks(part);
  }

  #noteModifiers({ videoMetadata, partMetadata }: WireRecord): void {
    if (isRecord(videoMetadata)) this.#notes.lose(field('videoMetadata'));
    if (isRecord(partMetadata)) this.#notes.lose(field('partMetadata'));
  }

  #asText(name: string, text: string): readonly Block[] {
    this.#notes.flatten(field(name));
    return textBlocks(text, {});
  }

  #detailed(media: MediaBlock, part: WireRecord): MediaBlock {
    if (media.media !== 'image') return media;
    const own = mediaResolutionOf(inCamelCase(part['mediaResolution'])['level']);
    return { ...media, detail: own ?? this.#detail };
  }

  #call(call: WireRecord, part: WireRecord): ToolCallBlock {
    const position = this.#calls++;
    const block: ToolCallBlock = {
      kind: 'tool-call',
      id: stringOf(call['id']) || `call_at_${position}`,
      name: stringOf(call['name']) ?? '',
      namespace: null,
      form: 'function',
      input: JSON.stringify(recordOf(call['args'])),
      sealed: readSignature(part['thoughtSignature']),
    };
    this.#open.push(block);
    return block;
  }

  /** A result answers the call of its id; without one, the first call of its name that has no result yet. */
  #result(response: WireRecord): ToolResultBlock {
    const { id, name } = response;
    for (const member of ['scheduling', 'willContinue'])
      if ((response[member] ?? null) !== null) this.#notes.lose(field(member));
    const call = this.#open.find((open) => open.id === id) ?? this.#open.find((open) => open.name === name);
    this.#open = this.#open.filter((open) => open !== call);
    const media = elementsOf(response['parts']).flatMap((part) => {
      const { inlineData, fileData } = inCamelCase(part);
      const block = isRecord(inlineData) ? readInlineData(inlineData) : readFileData(fileData);
      return block === null ? [] : [block];
    });
    const { text, isError } = readResponse(response['response']);
    return {
      kind: 'tool-result',
      callId: call?.id ?? (stringOf(id) || `orphan_${this.#orphans++}`),
      isError,
      content: [textBlock(text), ...media],
      cacheTtl: null,
    };
  }
}

/**
 * A client that hands back thoughts, too, brings each one twice: in parts of its own, and whole with the call it led to. The
 * later one counts.
 */
function withoutTwins(blocks: readonly Block[]): readonly Block[] {
  const last = new Map(blocks.map((block, index) => [sealedData(block), index]));
  return blocks.filter((block, index) => sealedData(block) === null || last.get(sealedData(block)) === index);
}

/** The state that one of our marks stands for on a thought; null for everything else. */
function sealedData(block: Block): string | null {
  const sealed = block.kind === 'reasoning' ? block.sealed : null;
  return sealed === null || sealed.origin === 'native' ? null : sealed.data;
}

/** `function` and `tool` are those of old clients for what the user's tools return. */
const roles: ReadonlySet<unknown> = new Set(['', 'user', 'model', 'function', 'tool']);

/** Members that are about a part and not what it is. */
const modifiers = wordSet('thought thoughtSignature videoMetadata mediaResolution partMetadata text');

function field(name: string): string {
  return `contents[].parts[].${plainWord(name)}`;
}

/** All that the model thought, or said; the seal on something said stands behind it. */
function textBlocks(text: string, part: WireRecord): readonly Block[] {
  const sealed = readSignature(part['thoughtSignature']);
  if (part['thought'] === true || sealed?.form === 'redacted') return [{ kind: 'reasoning', text, sealed }];
  const said: readonly Block[] = text === '' ? [] : [textBlock(text)];
  return [...said, ...sealBlocks(part)];
}

function sealBlocks(part: WireRecord): readonly Block[] {
  const sealed = readSignature(part['thoughtSignature']);
  return sealed === null ? [] : [{ kind: 'reasoning', text: '', sealed }];
}

/** By convention a result is `output`, or `error` in its place; any other object is a result by itself. */
function readResponse(wire: unknown): { readonly text: string; readonly isError: boolean } {
  const response = recordOf(wire);
  const [only, ...others] = Object.keys(response);
  const isPlain = others.length === 0 && (only === 'output' || only === 'error');
  const value = isPlain && only !== undefined ? response[only] : response;
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return { text, isError: isPlain && only === 'error' };
}

/** Bytes in the request or the answer itself. */
export function readInlineData(wire: WireRecord): MediaBlock {
  const { data, mimeType, displayName } = inCamelCase(wire);
  // Either alphabet of base64 may be used here, and one only elsewhere.
  const standard = (stringOf(data) ?? '').replaceAll('-', '+').replaceAll('_', '/');
  return mediaBlock({ kind: 'base64', data: standard }, stringOf(mimeType), stringOf(displayName));
}

/** Media by URI; null when there is none. */
export function readFileData(wire: unknown): MediaBlock | null {
  if (!isRecord(wire)) return null;
  const { fileUri, mimeType, displayName } = inCamelCase(wire);
  const uri = stringOf(fileUri) ?? '';
  return mediaBlock(sourceOf(uri, stringOf(mimeType)), stringOf(mimeType), stringOf(displayName));
}

function mediaBlock(source: MediaSource, mimeType: string | null, filename: string | null): MediaBlock {
  const mediaType = mimeType === null || mimeType === '' ? null : mimeType.toLowerCase();
  return {
    kind: 'media',
    media: mediaKindOf(mediaType),
    mediaType,
    source,
    filename: filename === '' ? null : filename,
    detail: null,
    cacheTtl: null,
  };
}

function mediaKindOf(mediaType: string | null): MediaKind {
  if (mediaType?.startsWith('image/')) return 'image';
  return mediaType?.startsWith('audio/') ? 'audio' : 'file';
}

/** The vendor keeps the files that were handed to it under such addresses. */
const vendorFile = /^https?:\/\/[^/]+\/(?:upload\/)?v1(?:beta|alpha)?\/files\//i;

/**
 * True when only the vendor can open a URI: its own files and storage, and films, which are pages for anyone else.
 */
export function isVendorUri(uri: string, mediaType: string | null): boolean {
  return !/^https?:/i.test(uri) || vendorFile.test(uri) || mediaType?.startsWith('video/') === true;
}

function sourceOf(uri: string, mimeType: string | null): MediaSource {
  // Films on the web are named without a type.
  return mimeType === null || isVendorUri(uri, mimeType)
    ? { kind: 'id', id: uri }
    : { kind: 'url', url: uri };
}

/** How closely images are to be looked at; null when it is not said. */
function mediaResolutionOf(wire: unknown): MediaBlock['detail'] {
  switch (wire) {
    case 'MEDIA_RESOLUTION_LOW':
      return 'low';
    case 'MEDIA_RESOLUTION_MEDIUM':
      return 'auto';
    case 'MEDIA_RESOLUTION_HIGH':
    case 'MEDIA_RESOLUTION_ULTRA_HIGH':
      return 'high';
    default:
      return null;
  }
}

/** Code the model ran at the vendor's, for protocols that have no such parts. */
export function readCode({ language, code }: WireRecord): string {
  return fenced(stringOf(language)?.toLowerCase() ?? '', stringOf(code) ?? '');
}

/** Renders the result of code as text. */
export function readCodeResult({ output }: WireRecord): string {
  return fenced('', stringOf(output) ?? '');
}

function fenced(language: string, text: string): string {
  const name = /^[a-z]+$/.test(language) ? language : '';
  return `\n\`\`\`${name}\n${text.trimEnd()}\n\`\`\`\n`;
}
