import type { TurnNotes } from '../../translate/turn-notes.ts';
import type { Block, Message, TextBlock, ToolCallBlock, ToolResultBlock } from '../../turn.ts';
import { listOf, recordOf, stringOf, type WireRecord } from '../../wire-values.ts';
import { readCitation } from './citations.ts';
import { cacheTtlOf, type Part, readParts } from './read-parts.ts';
import { readCallSeal, readThoughts } from './thoughts.ts';

export interface Conversation {
  readonly system: readonly TextBlock[];
  readonly messages: readonly Message[];
}

/** Instructions at the beginning are the system's; the results of tools that stand side by side are one message. */
export function readMessages(wire: unknown, notes: TurnNotes): Conversation {
  const reader = new MessageReader(notes);
  for (const [index, message] of listOf(wire).entries()) reader.read(recordOf(message), `messages[${index}]`);
  return { system: reader.system, messages: reader.messages };
}

class MessageReader {
  readonly system: TextBlock[] = [];
  readonly messages: Message[] = [];
  readonly #notes: TurnNotes;
  /** Of `function_call`s, which have none, by the name of their function; the last one of a name. */
  readonly #functionIds = new Map<string, string>();
  /** Of the calls before, as far as they have been read. */
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
        return this.#notes.blame(
          `${place}.role`,
          `'${place}.role' must be one of developer, system, user, assistant, tool.`,
        );
    }
  }

  #add(role: Message['role'], content: readonly Block[], message: WireRecord): void {
    this.messages.push({ role, content, name: stringOf(message['name']) });
  }

  #readInstruction(message: WireRecord, place: string): void {
    const parts = readParts(message['content'], `${place}.content`, this.#notes);
    const texts = parts.filter((part) => part.kind === 'text');
    if (texts.length < parts.length)
      this.#notes.blame(`${place}.content`, `'${place}.content' may hold text only.`);
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
    if (callId === null)
      this.#notes.blame(
        `${place}.tool_call_id`,
        `'${place}.tool_call_id' must name the call that is answered.`,
      );
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
