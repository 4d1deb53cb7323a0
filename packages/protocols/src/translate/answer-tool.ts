import type { AnswerTool, EventReader } from '../codec.ts';
import type { FunctionTool, Turn } from '../turn.ts';
import type { Finish, TurnAnswer, TurnEvent } from '../turn-event.ts';
import { recordOf, type WireRecord } from '../wire-values.ts';
import { answerEvents, collectAnswer } from './answer.ts';
import { parseObject } from './tools.ts';
import type { SchemaFormat } from './writing.ts';

/** A request whose answer comes as the arguments of a tool. */
interface AskedByTool {
  readonly turn: Turn;
  readonly tool: AnswerTool;
}

/**
 * A request that asks for its answer by a tool of ours, whose arguments have the schema: for one that an upstream cannot be held to
 * as the form of its words. Where there are other tools, one of all is to be called. Null where a tool of the caller's is to be
 * called in any case: then there are no words to have a form.
 */
export function askByTool(turn: Turn, format: SchemaFormat): AskedByTool | null {
  if (isToolForced(turn)) return null;
  const isWrapped = !isObjectSchema(format.schema);
  const name = freeName(turn, 'answer');
  const { tools, toolChoice } = turn;
  const others = toolChoice?.kind === 'none' ? [] : tools;
  const choice = others.length === 0 ? { kind: 'named' as const, name } : { kind: 'required' as const };
  return {
    tool: { name, isWrapped },
    turn: {
      ...turn,
      tools: [...tools, toolOf(format, name, isWrapped)],
      toolChoice:
        toolChoice?.kind === 'allowed'
          ? { ...toolChoice, mode: 'required', names: [...toolChoice.names, name] }
          : choice,
      // An answer beside calls would be said too early.
      settings: { ...turn.settings, outputFormat: null, parallelToolCalls: false },
    },
  };
}

/** The caller has asked for a call. */
export function isToolForced({ toolChoice, tools }: Turn): boolean {
  if (toolChoice === null || tools.length === 0) return false;
  return (
    toolChoice.kind === 'required' ||
    toolChoice.kind === 'named' ||
    (toolChoice.kind === 'allowed' && toolChoice.mode === 'required')
  );
}

function toolOf({ schema, description }: SchemaFormat, name: string, isWrapped: boolean): FunctionTool {
  const told = description === null ? '' : `\n\n${description}`;
  return {
    kind: 'function',
    name,
    namespace: null,
    description: `Gives the answer to the user. Call it once, with the whole answer.${told}`,
    parameters: isWrapped ? wrapped(schema) : schema,
    strict: null,
    cacheTtl: null,
  };
}

/** Arguments are an object; references in the schema lead on from its root. */
function wrapped(schema: WireRecord): WireRecord {
  const { $defs, definitions, ...value } = schema;
  return {
    type: 'object',
    properties: { value },
    required: ['value'],
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

function isObjectSchema({ type, properties }: WireRecord): boolean {
  return type === 'object' || (type === undefined && properties !== undefined);
}

function freeName({ tools }: Turn, wanted: string): string {
  const taken = new Set(tools.map(({ name }) => name));
  let name = wanted;
  for (let n = 2; taken.has(name); n++) name = `${wanted}_${n}`;
  return name;
}

/** Reads the call of the tool as the text of the answer. Words beside it are no answer, unless there is nothing else. */
class AnswerToolEvents {
  readonly #tool: AnswerTool;
  /** The block that is open: the answer, words that wait, or anything else. */
  #open: 'answer' | 'words' | 'other' = 'other';
  #isGiven = false;
  #hasCalls = false;
  #arguments = '';
  readonly #words: TurnEvent[] = [];

  constructor(tool: AnswerTool) {
    this.#tool = tool;
  }

  /** Deltas pass as they are. */
  get passes(): boolean {
    return this.#open === 'other' || (this.#open === 'answer' && !this.#tool.isWrapped);
  }

  take(event: TurnEvent): readonly TurnEvent[] {
    switch (event.kind) {
      case 'start':
        return [event];
      case 'block-start':
        return this.#begin(event);
      case 'delta':
      case 'block-stop':
        return this.#goOn(event);
      case 'finish':
        return this.#end(event);
    }
  }

  #begin(event: Extract<TurnEvent, { kind: 'block-start' }>): readonly TurnEvent[] {
    const { block } = event;
    this.#open = 'other';
    if (block.kind === 'text') this.#open = 'words';
    else if (block.kind === 'tool-call' && block.name === this.#tool.name) this.#open = 'answer';
    else if (block.kind === 'tool-call') this.#hasCalls = true;
    // A second answer is a repetition.
    if (this.#open === 'answer' && this.#isGiven) this.#open = 'words';
    if (this.#open === 'words') return this.#wait(event);
    if (this.#open === 'other') return [event];
    this.#isGiven = true;
    return [{ kind: 'block-start', block: { kind: 'text' } }];
  }

  #goOn(event: TurnEvent): readonly TurnEvent[] {
    if (this.#open === 'words') return this.#wait(event);
    // Sealed state of a call has no place in a text.
    if (this.#open === 'answer' && event.kind === 'delta' && event.delta.kind !== 'text') return [];
    if (this.passes) return [event];
    if (event.kind === 'delta' && event.delta.kind === 'text') this.#arguments += event.delta.text;
    if (event.kind !== 'block-stop') return [];
    return [{ kind: 'delta', delta: { kind: 'text', text: unwrapped(this.#arguments) } }, event];
  }

  #wait(event: TurnEvent): readonly TurnEvent[] {
    if (!this.#isGiven) this.#words.push(event);
    return [];
  }

  #end(event: Extract<TurnEvent, { kind: 'finish' }>): readonly TurnEvent[] {
    const words = this.#isGiven || this.#hasCalls ? [] : this.#words;
    return [...words, { ...event, reason: this.#reasonOf(event) }];
  }

  #reasonOf({ reason }: Finish): Finish['reason'] {
    return reason === 'tool-calls' && !this.#hasCalls ? 'stop' : reason;
  }
}

/** The value within the arguments; what cannot be read, as an answer that was cut off, is left as it is. */
function unwrapped(text: string): string {
  const value = recordOf(parseObject(text))['value'];
  return value === undefined ? text : JSON.stringify(value);
}

/** A whole answer by the tool, as if it had been said. */
export function answerByTool(answer: TurnAnswer, tool: AnswerTool): TurnAnswer {
  const events = new AnswerToolEvents(tool);
  return collectAnswer([...answerEvents(answer)].flatMap((event) => events.take(event)));
}

/** The same of a stream. */
export class AnswerToolReader implements EventReader {
  readonly #inner: EventReader;
  readonly #events: AnswerToolEvents;

  constructor(inner: EventReader, tool: AnswerTool) {
    this.#inner = inner;
    this.#events = new AnswerToolEvents(tool);
  }

  read(frame: Uint8Array): readonly TurnEvent[] {
    return this.#inner.read(frame).flatMap((event) => this.#events.take(event));
  }

  readText(text: string): boolean {
    return this.#events.passes && this.#inner.readText?.(text) === true;
  }

  end(): readonly TurnEvent[] {
    return this.#inner.end().flatMap((event) => this.#events.take(event));
  }
}
