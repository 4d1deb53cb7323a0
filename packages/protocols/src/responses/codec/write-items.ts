import { dropped } from '../../loss.ts';
import { unreachable } from '../../result.ts';
import { sealedField } from '../../translate/caller-fields.ts';
import { mayReturn } from '../../translate/sealed-mark.ts';
import { legalName, type NameRule, type ToolNaming } from '../../translate/tool-names.ts';
import type {
  Block,
  MediaBlock,
  Message,
  ReasoningBlock,
  RefusalBlock,
  Sealed,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from '../../turn.ts';
import type { WriteNotes } from './write-notes.ts';
import { writeInputPart, writeOutputPart } from './write-parts.ts';

export const callIdRule: NameRule = { legal: /^[\x21-\x7e]$/, legalFirst: /^[\x21-\x7e]$/, lengthMax: 64 };

/** Whatever is wrong with a conversation, each call has its one output and each output its call: else it is refused. */
const noOutput = 'No output was returned for this call.';
const orphanNote = '[Output of a tool call that is not part of this conversation]';

const failedPart = { type: 'input_text', text: 'Error:' };

export interface ItemsContext {
  readonly notes: WriteNotes;
  readonly naming: ToolNaming;
  /** Of the target: state it has sealed may go back to it. */
  readonly origin: string;
}

/** The items of an input, without ids: nothing in it is to be looked up at the upstream. */
export class ItemsWriter {
  readonly #context: ItemsContext;
  readonly #items: object[] = [];
  /** Calls that have no output yet, by their ids. */
  readonly #open = new Map<string, ToolCallBlock>();
  /** Ids for which there is an output later. */
  readonly #results: ReadonlySet<string>;

  constructor(context: ItemsContext, messages: readonly Message[]) {
    this.#context = context;
    this.#results = new Set(messages.flatMap(({ content }) => content.flatMap(resultId)));
  }

  get items(): readonly object[] {
    return this.#items;
  }

  write({ role, content, name }: Message): void {
    if (name !== null) this.#context.notes.lose(dropped('messages[].name'));
    if (role === 'assistant') this.#writeAssistant(content);
    else this.#writeOther(role, content);
  }

  #writeOther(role: 'user' | 'system', content: readonly Block[]): void {
    const parts: object[] = [];
    for (const block of content) {
      if (block.kind === 'tool-result') this.#writeResult(block, parts);
      else if (isSpoken(block)) parts.push(...(this.#inputPart(block) ?? []));
    }
    if (parts.length > 0) this.#items.push({ type: 'message', role, content: parts });
  }

  #inputPart(block: TextBlock | MediaBlock | RefusalBlock): readonly object[] {
    const part = writeInputPart(block, this.#context.notes);
    return part === null ? [] : [part];
  }

  /** What the model said in one go. Reasoning that led to nothing is left out: it must have an item behind it. */
  #writeAssistant(content: readonly Block[]): void {
    const { notes } = this.#context;
    const thoughts: object[] = [];
    for (const block of content) {
      if (block.kind === 'reasoning') {
        if (block.sealed?.origin === 'native') notes.lose(dropped(sealedField(notes.surface)));
        thoughts.push(...this.#reasoning(block.text, block.sealed));
        continue;
      }
      // Other protocols may hand state back with the call it led to.
      if (block.kind === 'tool-call') thoughts.push(...this.#reasoning('', block.sealed));
      const item = this.#assistantItem(block);
      if (item !== null) this.#items.push(...thoughts.splice(0), item);
    }
    this.#closeUnanswered(content);
  }

  #assistantItem(block: Exclude<Block, ReasoningBlock>): object | null {
    switch (block.kind) {
      case 'text':
      case 'refusal':
        return block.text === '' ? null : assistantMessage(block);
      case 'tool-call':
        return this.#call(block);
      case 'media':
        return this.#assistantMedia(block);
      case 'tool-result':
        return null;
      default:
        return unreachable(block);
    }
  }

  /** A picture the model made is shown to it again by the user: it can name one of its own by id alone. */
  #assistantMedia(block: MediaBlock): object | null {
    const part = writeInputPart(block, this.#context.notes);
    return part === null ? null : { type: 'message', role: 'user', content: [part] };
  }

  #call(block: ToolCallBlock): object {
    this.#open.set(block.id, block);
    const call_id = legalName(block.id, callIdRule);
    const { naming } = this.#context;
    const name = block.namespace === null ? naming.sent(block) : block.name;
    const namespace = block.namespace === null ? {} : { namespace: block.namespace };
    return block.form === 'custom'
      ? { type: 'custom_tool_call', call_id, name, ...namespace, input: block.input }
      : { type: 'function_call', call_id, name, ...namespace, arguments: block.input || '{}' };
  }

  #reasoning(text: string, sealed: Sealed | null): readonly object[] {
    if (!mayReturn(sealed, this.#context.origin)) return [];
    const summary = text === '' ? [] : [{ type: 'summary_text', text }];
    return [{ type: 'reasoning', summary, encrypted_content: sealed.data }];
  }

  #writeResult(block: ToolResultBlock, parts: object[]): void {
    const call = this.#open.get(block.callId);
    if (call === undefined) parts.push({ type: 'input_text', text: orphanNote }, ...this.#resultParts(block));
    else this.#items.push(outputItem(call, this.#output(block)));
    this.#open.delete(block.callId);
  }

  /** One text is sent as it is; anything else in parts. There is no flag for a failure, so the text says it. */
  #output(block: ToolResultBlock): string | readonly object[] {
    const isText = block.content.every(({ kind }) => kind === 'text');
    if (!isText) return [...(block.isError ? [failedPart] : []), ...this.#resultParts(block)];
    const text = block.content.map((part) => (part.kind === 'text' ? part.text : '')).join('\n');
    return block.isError && !/error/i.test(text.slice(0, 200)) ? `Error: ${text}` : text;
  }

  #resultParts({ content }: ToolResultBlock): readonly object[] {
    return content.flatMap((part) => this.#inputPart(part));
  }

  #closeUnanswered(content: readonly Block[]): void {
    for (const block of content) {
      if (block.kind !== 'tool-call' || this.#results.has(block.id)) continue;
      this.#items.push(outputItem(block, noOutput));
      this.#open.delete(block.id);
    }
  }
}

function isSpoken(block: Block): block is TextBlock | MediaBlock | RefusalBlock {
  return block.kind === 'media' || ((block.kind === 'text' || block.kind === 'refusal') && block.text !== '');
}

function resultId(block: Block): readonly string[] {
  return block.kind === 'tool-result' ? [block.callId] : [];
}

function assistantMessage(block: TextBlock | RefusalBlock): object {
  return { type: 'message', role: 'assistant', content: [writeOutputPart(block)] };
}

function outputItem({ id, form }: ToolCallBlock, output: string | readonly object[]): object {
  const type = form === 'custom' ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: legalName(id, callIdRule), output };
}
