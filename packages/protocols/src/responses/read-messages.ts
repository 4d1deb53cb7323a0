import type { Fault } from '../error.ts';
import { parseJson } from '../refusal.ts';
import { invalid } from '../request/members.ts';
import type { RequestInput } from '../request.ts';
import { fail, type Result, succeed, unreachable } from '../result.ts';
import { plainWord, TurnNotes } from '../translate/reading.ts';
import {
  type Block,
  type Message,
  type TextBlock,
  type Tool,
  type ToolCallBlock,
  type ToolResultBlock,
  type Turn,
  textBlock,
} from '../turn.ts';
import { isRecord, listOf, recordOf, stringOf, type WireRecord } from '../wire-values.ts';
import { unpack } from './edits.ts';
import { imageBlock, type Part, type Place, readParts, thoughtsOf } from './read-parts.ts';
import { noteExtensions, readSettings, spellingIn } from './read-settings.ts';
import { noteHosted, readToolChoice, readTools } from './read-tools.ts';
import { responsesSurface } from './wire.ts';

const decoder = new TextDecoder();

/** A caller's request. Every list and text in it is gone through once. */
export function readTurn({ body }: RequestInput): Result<Turn, Fault> {
  const wire = parseJson(decoder.decode(body));
  if (!isRecord(wire)) return invalid('The request body must be a JSON object.');
  const notes = new TurnNotes();
  const turn = turnOf(wire, notes);
  return notes.fault === null ? succeed({ ...turn, extensions: notes.extensions }) : fail(notes.fault);
}

function turnOf(wire: WireRecord, notes: TurnNotes): Omit<Turn, 'extensions'> {
  const conversation = readInput(wire['input'], notes);
  const [leading, messages] = splitLeading(conversation.messages);
  const offered = readTools(wire['tools'], 'tools', notes);
  const tools = [...offered.tools, ...conversation.tools];
  const toolChoice = readToolChoice(wire['tool_choice'], notes);
  noteHosted({ tools, hosted: [...offered.hosted, ...conversation.hosted] }, toolChoice, notes);
  noteExtensions(wire, notes);
  return {
    surface: responsesSurface,
    model: stringOf(wire['model']) ?? '',
    stream: wire['stream'] === true,
    system: [...readInstructions(wire['instructions'], notes), ...leading],
    messages,
    tools,
    toolChoice,
    settings: readSettings(wire, notes),
    spelling: spellingIn(wire),
  };
}

/** A text is the user's only message. No input at all is as good as an empty one: what else there is goes on. */
function readInput(input: unknown, notes: TurnNotes): ConversationReader {
  const conversation = new ConversationReader(notes);
  if (typeof input === 'string') conversation.read({ role: 'user', content: input }, 'input');
  for (const [index, item] of listOf(input).entries()) conversation.read(recordOf(item), `input[${index}]`);
  return conversation;
}

function readInstructions(instructions: unknown, notes: TurnNotes): readonly TextBlock[] {
  if (instructions === null || instructions === undefined || instructions === '') return [];
  const text = stringOf(instructions);
  if (text !== null) return [textBlock(text)];
  return notes.blame('instructions', 'must be a text');
}

/** Words to the model before anybody speaks belong to the instructions. */
function splitLeading(messages: readonly Message[]): readonly [readonly TextBlock[], readonly Message[]] {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const count = first === -1 ? messages.length : first;
  const leading = messages.slice(0, count).flatMap(({ content }) => content);
  return [leading.filter((block) => block.kind === 'text'), messages.slice(count)];
}

/** Whose words an item is: `results` are those of tools. */
type Speaker = 'user' | 'assistant' | 'system' | 'results';

interface OpenMessage {
  readonly speaker: Speaker;
  readonly content: Block[];
}

/**
 * Reads the items of an input, one after the other, into messages: what the model said until somebody else speaks is one
 * message, and so are the results of its calls.
 */
class ConversationReader {
  readonly #notes: TurnNotes;
  readonly #messages: OpenMessage[] = [];
  /** Tools that come in the middle of a conversation. */
  readonly tools: Tool[] = [];
  readonly hosted: string[] = [];

  constructor(notes: TurnNotes) {
    this.#notes = notes;
  }

  get messages(): readonly Message[] {
    return this.#messages.map(({ speaker, content }) => ({
      role: speaker === 'results' ? 'user' : speaker,
      content,
      name: null,
    }));
  }

  read(item: WireRecord, place: Place): void {
    const type = item['type'] ?? 'message';
    switch (type) {
      case 'message':
        return this.#readMessage(item, place);
      case 'reasoning':
        return this.#readReasoning(item);
      case 'function_call':
      case 'custom_tool_call':
        return this.#add('assistant', readCall(item, place, this.#notes));
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#add('results', readResult(item, item['output'], place, this.#notes));
      case 'image_generation_call':
        return this.#add('assistant', readImageCall(item));
      case 'additional_tools':
        return this.#readTools(item, place);
      default:
        return this.#readOther(item, type, place);
    }
  }

  #readMessage({ role, content, phase }: WireRecord, place: Place): void {
    if ((phase ?? null) !== null) this.#notes.lose('input[].phase');
    const parts = readParts(content, `${place}.content`, this.#notes);
    switch (role) {
      case 'user':
      case 'assistant':
        return this.#add(role, parts, role === 'user');
      case 'system':
      case 'developer':
        return this.#add('system', this.#onlyText(parts));
      default:
        this.#notes.blame(`${place}.role`, "must be 'user', 'assistant', 'system' or 'developer'");
    }
  }

  #onlyText(parts: readonly Part[]): readonly Part[] {
    const texts = parts.filter(({ kind }) => kind === 'text');
    if (texts.length < parts.length) this.#notes.lose('input[].content');
    return texts;
  }

  /** Thoughts as they are shown, and what is sealed of them; or what was sealed with the call before them. */
  #readReasoning(item: WireRecord): void {
    const unpacked = unpack(stringOf(item['encrypted_content']) ?? '');
    const seal = unpacked?.sealed.data === '' ? null : unpacked;
    if (seal?.as === 'call') return this.#sealLastCall(seal.sealed);
    const text = thoughtsOf(item);
    if (text === '' && seal === null) return;
    this.#add('assistant', [{ kind: 'reasoning', text, sealed: seal?.sealed ?? null }]);
  }

  #sealLastCall(sealed: ToolCallBlock['sealed']): void {
    const { speaker, content } = this.#messages.at(-1) ?? {};
    const last = content?.at(-1);
    if (speaker === 'assistant' && last?.kind === 'tool-call') content?.splice(-1, 1, { ...last, sealed });
  }

  #readTools(item: WireRecord, place: Place): void {
    const { tools, hosted } = readTools(item['tools'], `${place}.tools`, this.#notes);
    this.tools.push(...tools);
    this.hosted.push(...hosted);
  }

  /** Items that other protocols have nothing like. */
  #readOther(item: WireRecord, type: unknown, place: Place): void {
    const word = stringOf(type);
    if (word === null) {
      this.#notes.blame(`${place}.type`, 'must be a text');
      return;
    }
    const family = familyOf(word);
    switch (family) {
      case 'run-by-caller':
        return this.#readRunByCaller(item, word, place);
      case 'reference':
        return this.#readReference(item, place);
      case 'essential':
        return this.#notes.insist(`input[].${plainWord(word)}`);
      case 'optional':
        return this.#notes.lose(`input[].${plainWord(word)}`);
      default:
        return unreachable(family);
    }
  }

  /** Thoughts can be done without, as sealed ones of another vendor are; words and calls cannot. */
  #readReference(item: WireRecord, place: Place): void {
    if (stringOf(item['id'])?.startsWith('rs_') === true) return this.#notes.lose('input[].item_reference');
    this.#notes.blame(
      place,
      "refers to an item that is not stored here; send the item itself, as client libraries do with 'store' set to false",
    );
  }

  /** Tools of the vendor's that the caller runs are told as any other call: the model sees what was done. */
  #readRunByCaller(item: WireRecord, type: string, place: Place): void {
    if (!type.endsWith('_output')) return this.#add('assistant', readNativeCall(item, type));
    if (type === 'tool_search_output') this.#readTools(item, place);
    this.#add('results', readResult(item, item['output'] ?? item['tools'], place, this.#notes));
  }

  #add(speaker: Speaker, blocks: readonly Block[], isNew = false): void {
    if (blocks.length === 0) return;
    const last = this.#messages.at(-1);
    if (last?.speaker === speaker && !isNew) last.content.push(...blocks);
    else this.#messages.push({ speaker, content: [...blocks] });
  }
}

/**
 * The fate of an item elsewhere: `essential` ones stand for words or decisions that the model must know, without
 * `optional` ones it can do.
 */
type Family = 'run-by-caller' | 'reference' | 'essential' | 'optional';

const runByCaller = /^(local_shell|shell|apply_patch|computer|tool_search)(_call(_output)?|_output)$/;

function familyOf(type: string): Family {
  if (type === 'item_reference') return 'reference';
  if (type === 'compaction' || type === 'mcp_approval_response') return 'essential';
  return runByCaller.test(type) ? 'run-by-caller' : 'optional';
}

function readCall(item: WireRecord, place: Place, notes: TurnNotes): readonly ToolCallBlock[] {
  const name = stringOf(item['name']);
  const id = stringOf(item['call_id']) ?? stringOf(item['id']);
  const isCustom = item['type'] === 'custom_tool_call';
  const input = isCustom ? item['input'] : item['arguments'];
  if (name !== null && id !== null) {
    const form = isCustom ? 'custom' : 'function';
    const namespace = stringOf(item['namespace']);
    return [{ kind: 'tool-call', id, name, namespace, form, input: textOf(input), sealed: null }];
  }
  const missing = name === null ? 'name' : 'call_id';
  return notes.blame(`${place}.${missing}`, 'is missing');
}

/** A member as a text; JSON where it is none. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}

const inputMembers = ['arguments', 'action', 'actions', 'operation'];

function readNativeCall(item: WireRecord, type: string): readonly ToolCallBlock[] {
  const id = stringOf(item['call_id']) ?? stringOf(item['id']);
  // A search by the vendor has no id: it is over, and its result comes in an item of its own.
  if (id === null) return [];
  const name = type.slice(0, -'_call'.length);
  const input = inputMembers.map((member) => textOf(item[member])).find((text) => text !== '') ?? '{}';
  return [{ kind: 'tool-call', id, name, namespace: null, form: 'function', input, sealed: null }];
}

function readResult(
  item: WireRecord,
  output: unknown,
  place: Place,
  notes: TurnNotes,
): readonly ToolResultBlock[] {
  const callId = stringOf(item['call_id']) ?? stringOf(item['id']);
  if (callId === null) {
    if (item['type'] === 'tool_search_output') return [];
    return notes.blame(`${place}.call_id`, 'is missing: say which call this is the output of');
  }
  if (item['status'] === 'incomplete') notes.lose('input[].status');
  const content = readOutput(output, `${place}.output`, notes);
  return [{ kind: 'tool-result', callId, isError: item['status'] === 'failed', content, cacheTtl: null }];
}

function readOutput(output: unknown, place: Place, notes: TurnNotes): ToolResultBlock['content'] {
  if (isRecord(output) && output['type'] === 'computer_screenshot')
    return withoutRefusals(readParts([output], place, notes));
  const isParts =
    Array.isArray(output) &&
    output.every((part) => stringOf(recordOf(part)['type'])?.startsWith('input_') === true);
  return isParts ? withoutRefusals(readParts(output, place, notes)) : [textBlock(textOf(output))];
}

function withoutRefusals(parts: readonly Part[]): ToolResultBlock['content'] {
  return parts.filter((part) => part.kind !== 'refusal');
}

/** A picture the model has made. */
function readImageCall(item: WireRecord): readonly Block[] {
  const data = stringOf(item['result']);
  if (data === null || data === '') return [];
  return [imageBlock(data, stringOf(item['output_format']))];
}
