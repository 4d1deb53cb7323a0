import { decodeJson } from '../bytes/json-text.ts';
import type { Fault } from '../error.ts';
import { invalid } from '../request/members.ts';
import type { RequestInput } from '../request.ts';
import { fail, type Result, succeed } from '../result.ts';
import { readImageDetail, readMediaUrl } from '../translate/media.ts';
import { MemberReader, noteOwnMembers, plainWord, TurnNotes } from '../translate/reading.ts';
import {
  type Block,
  type MediaBlock,
  type Message,
  type ReasoningBlock,
  type RefusalBlock,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
  textBlock,
} from '../turn.ts';
import { isRecord, listOf, recordOf, stringOf, type WireRecord, wordSet } from '../wire-values.ts';
import { readSettings, readSpelling } from './read-settings.ts';
import { readTools } from './read-tools.ts';
import { readCallSeal, readThoughts } from './thoughts.ts';
import { cacheTtlOf, chatSurface, readCitation } from './wire.ts';

export function readTurn({ body }: RequestInput): Result<Turn, Fault> {
  const wire = decodeJson(body, 0, body.length);
  if (!isRecord(wire)) return invalid('The request body must be a JSON object in UTF-8.');
  const notes = new TurnNotes();
  const turn = readBody(wire, notes);
  noteModalities(wire['modalities'], notes);
  noteOwnMembers(wire, known, notes);
  if (notes.fault !== null) return fail(notes.fault);
  return succeed({ ...turn, extensions: notes.extensions });
}

function readBody(wire: WireRecord, notes: TurnNotes): Turn {
  return {
    surface: chatSurface,
    model: stringOf(wire['model']) ?? '',
    stream: wire['stream'] === true,
    ...readMessages(wire['messages'], notes),
    ...readTools(wire, notes),
    settings: readSettings(wire, notes),
    spelling: readSpelling(new MemberReader(wire, notes)),
    extensions: [],
  };
}

/** Members of a request that a turn has a place for, or that say nothing about the answer. */
const known = {
  understood: wordSet(`
    model messages stream stream_options modalities tools tool_choice functions function_call web_search_options
    max_completion_tokens max_tokens temperature top_p top_k stop seed presence_penalty frequency_penalty logprobs
    top_logprobs n parallel_tool_calls reasoning_effort reasoning thinking enable_thinking thinking_budget response_format verbosity
    safety_identifier user service_tier prompt_cache_key metadata`),
  insisted: wordSet('audio moderation'),
};

function noteModalities(value: unknown, notes: TurnNotes): void {
  if (listOf(value).some((modality) => modality !== 'text')) notes.insist('modalities');
}

export interface Conversation {
  readonly system: readonly TextBlock[];
  readonly messages: readonly Message[];
}

/** Instructions at the beginning are the system's; the results of tools that stand side by side are one message. */
function readMessages(wire: unknown, notes: TurnNotes): Conversation {
  const reader = new MessageReader(notes);
  for (const [index, message] of listOf(wire).entries()) reader.read(recordOf(message), `messages[${index}]`);
  return { system: reader.system, messages: reader.messages };
}

class MessageReader {
  readonly system: TextBlock[] = [];
  readonly messages: Message[] = [];
  readonly #notes: TurnNotes;
  /** Ids for `function_call`s, which have none, by the name of their function; the last one of a name. */
  readonly #functionIds = new Map<string, string>();
  /** The results of the calls before, as far as they have been read. */
  #results: Block[] = [];

  constructor(notes: TurnNotes) {
    this.#notes = notes;
  }

  read(message: WireRecord, place: string): void {
    switch (message['role']) {
      case 'system':
      case 'developer':
        return this.#readInstruction(message, place);
      case 'user':
        return this.#add('user', readParts(message['content'], `${place}.content`, this.#notes), message);
      case 'assistant':
        return this.#readAssistant(message, place);
      case 'tool':
        return this.#readToolResult(message, place);
      case 'function':
        return this.#readFunctionResult(message, place);
      default:
        this.#notes.blame(`${place}.role`, 'must be one of developer, system, user, assistant, tool');
    }
  }

  #add(role: Message['role'], content: readonly Block[], message: WireRecord): void {
    this.messages.push({ role, content, name: stringOf(message['name']) });
  }

  #readInstruction(message: WireRecord, place: string): void {
    const parts = readParts(message['content'], `${place}.content`, this.#notes);
    const texts = parts.filter((part) => part.kind === 'text');
    if (texts.length < parts.length) this.#notes.blame(`${place}.content`, 'may hold text only');
    if (this.messages.length === 0) for (const text of texts) this.system.push(text);
    else this.#add('system', texts, message);
  }

  #readAssistant(message: WireRecord, place: string): void {
    // It names sound that only the vendor has.
    if ((message['audio'] ?? null) !== null) this.#notes.insist('messages[].audio');
    const parts = withCitations(
      readParts(message['content'], `${place}.content`, this.#notes),
      message['annotations'],
    );
    const refusal = stringOf(message['refusal']) ?? '';
    const content: readonly Block[] = [
      ...readThoughts(message),
      ...parts,
      ...(refusal === '' ? [] : [{ kind: 'refusal', text: refusal } as const]),
      ...listOf(message['tool_calls']).map((call) => readCall(recordOf(call))),
      ...this.#readFunctionCall(message, place),
    ];
    this.#add('assistant', content, message);
  }

  #readFunctionCall(message: WireRecord, place: string): readonly ToolCallBlock[] {
    const call = message['function_call'] ?? null;
    if (call === null) return [];
    const name = stringOf(recordOf(call)['name']) ?? '';
    const id = `call_${place.replace(/\D/g, '')}`;
    this.#functionIds.set(name, id);
    return [readCall({ id, type: 'function', function: call })];
  }

  #readToolResult(message: WireRecord, place: string): void {
    const callId = stringOf(message['tool_call_id']);
    if (callId === null) this.#notes.blame(`${place}.tool_call_id`, 'must name the call that is answered');
    this.#addResult(callId ?? '', message, place);
  }

  #readFunctionResult(message: WireRecord, place: string): void {
    const name = stringOf(message['name']) ?? '';
    this.#addResult(this.#functionIds.get(name) ?? name, message, place);
  }

  #addResult(callId: string, message: WireRecord, place: string): void {
    const parts = readParts(message['content'], `${place}.content`, this.#notes);
    const result: ToolResultBlock = {
      kind: 'tool-result',
      callId,
      isError: false,
      content: parts.filter(isResultPart),
      cacheTtl: cacheTtlOf(message),
    };
    if (this.messages.at(-1)?.content === this.#results) this.#results.push(result);
    else {
      this.#results = [result];
      this.messages.push({ role: 'user', content: this.#results, name: null });
    }
  }
}

/** Annotations are for the whole content, whose positions are those of its only text; of several, the first has them. */
function withCitations(parts: readonly Part[], annotations: unknown): readonly Part[] {
  const citations = listOf(annotations).flatMap((annotation) => readCitation(recordOf(annotation)) ?? []);
  const at = parts.findIndex(({ kind }) => kind === 'text');
  if (citations.length === 0 || at === -1) return parts;
  return parts.map((part, index) => (index === at && part.kind === 'text' ? { ...part, citations } : part));
}

function isResultPart(part: Part) {
  return part.kind === 'text' || part.kind === 'media';
}

/** A call in the history. The members it lacks are empty: a result finds it, or does not, all the same. */
function readCall(call: WireRecord): ToolCallBlock {
  const form = call['type'] === 'custom' ? 'custom' : 'function';
  const called = recordOf(call[form]);
  return {
    kind: 'tool-call',
    id: stringOf(call['id']) ?? '',
    name: stringOf(called['name']) ?? '',
    namespace: null,
    form,
    input: callInput(form === 'custom' ? called['input'] : called['arguments']),
    sealed: readCallSeal(call),
  };
}

/** Arguments are JSON in a text; some clients and servers send the object itself. */
export function callInput(input: unknown): string {
  if (typeof input === 'string') return input;
  return input === undefined || input === null ? '' : JSON.stringify(input);
}

/** A part of a message's content. */
export type Part = TextBlock | MediaBlock | RefusalBlock | ReasoningBlock;

/** The parts of a content, which may be one text. None of nothing, and of a text without characters. */
function readParts(content: unknown, place: string, notes: TurnNotes): readonly Part[] {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [textBlock(content)];
  if (Array.isArray(content))
    return content.flatMap((part, index) => readPart(part, `${place}[${index}]`, notes));
  return notes.blame(place, 'must be a text or a list of parts');
}

function readPart(value: unknown, place: string, notes: TurnNotes): readonly Part[] {
  // Some clients put texts where parts belong, and servers take them.
  if (typeof value === 'string') return readParts(value, place, notes);
  const part = recordOf(value);
  switch (part['type']) {
    case 'text':
      return readText(part, place, notes);
    case 'refusal':
      return [{ kind: 'refusal', text: stringOf(part['refusal']) ?? '' }];
    case 'thinking':
      return readThinkingPart(part);
    case 'image_url':
      return readImage(part, place, notes);
    case 'input_audio':
      return readAudio(part, place, notes);
    case 'file':
      return readFile(part, place, notes);
    default:
      return readUnknown(part, place, notes);
  }
}

function readText(part: WireRecord, place: string, notes: TurnNotes): readonly Part[] {
  const text = stringOf(part['text']);
  if (text === null) return notes.blame(`${place}.text`, 'must be a text');
  return text === '' ? [] : [textBlock(text, cacheTtlOf(part))];
}

/** `{type: 'thinking', thinking: [{type: 'text', text}]}`: how some servers hold thoughts, within the content. */
export function readThinkingPart(part: WireRecord): readonly ReasoningBlock[] {
  const { thinking } = part;
  const pieces = typeof thinking === 'string' ? [thinking] : listOf(thinking).map(thinkingText);
  const text = pieces.join('');
  return text === '' ? [] : [{ kind: 'reasoning', text, sealed: null }];
}

function thinkingText(piece: unknown): string {
  return stringOf(recordOf(piece)['text']) ?? '';
}

/** A kind of part that compatible servers may know, but no other protocol. */
function readUnknown(part: WireRecord, place: string, notes: TurnNotes): readonly Part[] {
  const type = stringOf(part['type']);
  if (type === null) return notes.blame(`${place}.type`, 'must say what kind of part it is');
  notes.insist(`messages[].content[].${plainWord(type)}`);
  return [];
}

function readImage(part: WireRecord, place: string, notes: TurnNotes): readonly Part[] {
  const image = part['image_url'];
  const url = stringOf(image) ?? stringOf(recordOf(image)['url']);
  const media = url === null ? null : readMediaUrl(url);
  if (media === null) return notes.blame(`${place}.image_url.url`, 'must be a URL, or a data URL in base64');
  const detail = readImageDetail(recordOf(image)['detail'], 'messages[].content[].image_url.detail', notes);
  return [{ ...commonOf(part), ...media, media: 'image', detail }];
}

function commonOf(part: WireRecord) {
  return { kind: 'media', filename: null, detail: null, cacheTtl: cacheTtlOf(part) } as const;
}

const audioTypes: ReadonlyMap<unknown, string> = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mpeg'],
]);

function readAudio(part: WireRecord, place: string, notes: TurnNotes): readonly Part[] {
  const audio = recordOf(part['input_audio']);
  const data = stringOf(audio['data']);
  if (data === null) return notes.blame(`${place}.input_audio.data`, 'must be sound in base64');
  const mediaType = audioTypes.get(audio['format']) ?? null;
  return [{ ...commonOf(part), media: 'audio', mediaType, source: { kind: 'base64', data } }];
}

function readFile(part: WireRecord, place: string, notes: TurnNotes): readonly Part[] {
  const file = recordOf(part['file']);
  const data = stringOf(file['file_data']);
  const id = stringOf(file['file_id']);
  const common = { ...commonOf(part), media: 'file', filename: stringOf(file['filename']) } as const;
  if (data !== null) {
    const media = fileData(data);
    return media === null
      ? notes.blame(`${place}.file.file_data`, 'must be a data URL in base64')
      : [{ ...common, ...media }];
  }
  if (id === null) return notes.blame(`${place}.file`, "must hold 'file_data'");
  notes.insist('messages[].content[].file.file_id');
  return [{ ...common, mediaType: null, source: { kind: 'id', id } }];
}

/** A data URL, an address (some servers take one) or the bytes alone. */
function fileData(data: string): Pick<MediaBlock, 'source' | 'mediaType'> | null {
  return /^[a-z]+:/i.test(data) ? readMediaUrl(data) : { source: { kind: 'base64', data }, mediaType: null };
}
