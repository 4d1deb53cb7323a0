import { plainWord, type TurnNotes } from '../../translate/turn-notes.ts';
import type { Block, MediaBlock, Message, ToolCallBlock, ToolResultBlock } from '../../turn.ts';
import { isRecord, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { inCamelCase } from './camel-case.ts';
import { readCode, readCodeResult } from './read-code.ts';
import { mediaResolutionOf, readFileData, readInlineData } from './read-media.ts';
import { readSignature, readThoughts } from './signature.ts';

/** A list, or in its place its only element, which this protocol's JSON allows everywhere. */
export function elementsOf(wire: unknown): readonly unknown[] {
  if (Array.isArray(wire)) return wire;
  return isRecord(wire) ? [wire] : [];
}

export function readContents(members: WireRecord, notes: TurnNotes): readonly Message[] {
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
    if (!isKnown) this.#notes.blame(`${place}.role`, `'${place}.role' must be 'user' or 'model'.`);
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
      content: [{ kind: 'text', text, citations: [], cacheTtl: null }, ...media],
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

/** What one of our marks stands for on a thought; null for everything else. */
function sealedData(block: Block): string | null {
  const sealed = block.kind === 'reasoning' ? block.sealed : null;
  return sealed === null || sealed.origin === 'native' ? null : sealed.data;
}

/** `function` and `tool` are those of old clients for what the user's tools return. */
const roles: ReadonlySet<unknown> = new Set(['', 'user', 'model', 'function', 'tool']);

/** Members that are about a part and not what it is. */
const modifiers: ReadonlySet<string> = new Set([
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'mediaResolution',
  'partMetadata',
  'text',
]);

function field(name: string): string {
  return `contents[].parts[].${plainWord(name)}`;
}

/** What the model thought, or said; the seal on something said stands behind it. */
function textBlocks(text: string, part: WireRecord): readonly Block[] {
  const sealed = readSignature(part['thoughtSignature']);
  if (part['thought'] === true || sealed?.form === 'redacted') return [{ kind: 'reasoning', text, sealed }];
  const said: readonly Block[] = text === '' ? [] : [{ kind: 'text', text, citations: [], cacheTtl: null }];
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
