import { legalName } from '../translate/tools.ts';
import type { Citation, MediaBlock, Sealed, ToolCallBlock } from '../turn.ts';
import { carry } from './edits.ts';
import { callIdRule, writeCitations } from './write-messages.ts';

/** Takes one event of the stream, without its type's prefix. */
export type Emit = (name: string, members: object) => void;

/** An item that was said to its end is completed. */
export type ItemStatus = 'completed' | 'incomplete';

/** An item of the output while it is being said. It tells its events as they come, and is in the end what they add up to. */
export interface OutputItem {
  addText(text: string): void;
  seal(sealed: Sealed): void;
  /** The block at hand is whole. */
  stop(): void;
  /** The item itself is. */
  close(status: ItemStatus): object;
}

/** The place of an item in the output, and its way to whoever hears of it. */
export class ItemPlace {
  readonly id: string;
  readonly index: number;
  readonly #emit: Emit;

  constructor(id: string, index: number, emit: Emit) {
    this.id = id;
    this.index = index;
    this.#emit = emit;
  }

  added(item: object): void {
    this.#emit('output_item.added', { output_index: this.index, item });
  }

  done(item: object): void {
    this.#emit('output_item.done', { output_index: this.index, item });
  }

  /** An event within the item. */
  tell(name: string, members: object): void {
    this.#emit(name, { item_id: this.id, output_index: this.index, ...members });
  }
}

interface OpenPart {
  readonly kind: 'text' | 'refusal';
  text: string;
  readonly citations: Citation[];
  /** The caller has been told these already. */
  readonly annotations: readonly object[];
}

/** A message as far as another has said it: its parts that are whole, and the text that is not. */
export interface MessageSaid {
  readonly parts: readonly object[];
  readonly text: string;
  readonly annotations: readonly object[];
}

/** A message: texts and refusals, each a part of it. */
export class MessageItem implements OutputItem {
  readonly #place: ItemPlace;
  readonly #parts: object[] = [];
  #open: OpenPart | null = null;

  constructor(place: ItemPlace, said: MessageSaid | null = null) {
    this.#place = place;
    if (said === null) {
      place.added(this.#item('in_progress'));
      return;
    }
    const { parts, text, annotations } = said;
    this.#parts.push(...parts);
    this.#open = { kind: 'text', text, citations: [], annotations };
  }

  openPart(kind: OpenPart['kind']): void {
    this.stop();
    this.#open = { kind, text: '', citations: [], annotations: [] };
    this.#tell('content_part.added', { part: encodePart(this.#open, []) });
  }

  addText(delta: string): void {
    const part = this.#open;
    if (part === null) return;
    part.text += delta;
    if (part.kind === 'text') this.#tell('output_text.delta', { delta, logprobs: [] });
    else this.#tell('refusal.delta', { delta });
  }

  cite(citation: Citation): void {
    this.#open?.citations.push(citation);
  }

  seal(): void {
    // Words are not sealed.
  }

  /** Citations come at the end of their text: only then is it known how far those go that name no place in it. */
  stop(): void {
    const part = this.#open;
    if (part === null) return;
    const added = part.kind === 'text' ? writeCitations(part) : [];
    for (const [index, annotation] of added.entries())
      this.#tell('output_text.annotation.added', {
        annotation_index: part.annotations.length + index,
        annotation,
      });
    const annotations = [...part.annotations, ...added];
    if (part.kind === 'text') this.#tell('output_text.done', { text: part.text, logprobs: [] });
    else this.#tell('refusal.done', { refusal: part.text });
    const whole = encodePart(part, annotations);
    this.#tell('content_part.done', { part: whole });
    this.#parts.push(whole);
    this.#open = null;
  }

  close(status: ItemStatus): object {
    this.stop();
    const item = this.#item(status);
    this.#place.done(item);
    return item;
  }

  #tell(name: string, members: object): void {
    this.#place.tell(name, { content_index: this.#parts.length, ...members });
  }

  #item(status: ItemStatus | 'in_progress'): object {
    return { id: this.#place.id, type: 'message', status, role: 'assistant', content: [...this.#parts] };
  }
}

function encodePart({ kind, text }: OpenPart, annotations: readonly object[]): object {
  return kind === 'text'
    ? { type: 'output_text', text, annotations, logprobs: [] }
    : { type: 'refusal', refusal: text };
}

/** Thoughts, as a summary of one part; none where none are shown. */
export class ReasoningItem implements OutputItem {
  readonly #place: ItemPlace;
  #text: string | null = null;
  /** State as it is to be handed back. */
  encrypted: string | null = null;

  constructor(place: ItemPlace) {
    this.#place = place;
    place.added(this.#item([]));
  }

  addText(delta: string): void {
    if (this.#text === null) this.#tell('reasoning_summary_part.added', { part: summaryPart('') });
    this.#text = (this.#text ?? '') + delta;
    this.#tell('reasoning_summary_text.delta', { delta });
  }

  seal(sealed: Sealed): void {
    this.encrypted = carry(sealed, sealed.form);
  }

  stop(): void {
    // The item is closed as soon as the next one opens: nothing more belongs to it.
  }

  close(): object {
    if (this.#text !== null) {
      this.#tell('reasoning_summary_text.done', { text: this.#text });
      this.#tell('reasoning_summary_part.done', { part: summaryPart(this.#text) });
    }
    const item = this.#item(this.#text === null ? [] : [summaryPart(this.#text)]);
    this.#place.done(item);
    return item;
  }

  #tell(name: string, members: object): void {
    this.#place.tell(name, { summary_index: 0, ...members });
  }

  /** State that is not there is left out: one schema has no null for it. */
  #item(summary: readonly object[]): object {
    const sealed = this.encrypted === null ? {} : { encrypted_content: this.encrypted };
    return { id: this.#place.id, type: 'reasoning', summary, ...sealed };
  }
}

function summaryPart(text: string): object {
  return { type: 'summary_text', text };
}

/** A call of a function or of a tool of free text. */
export class CallItem implements OutputItem {
  readonly #place: ItemPlace;
  readonly #call: Pick<ToolCallBlock, 'id' | 'name' | 'namespace' | 'form'>;
  #input = '';
  /** State that came with the call; it has no place in this item. */
  sealed: Sealed | null = null;

  constructor(place: ItemPlace, call: Pick<ToolCallBlock, 'id' | 'name' | 'namespace' | 'form'>) {
    this.#place = place;
    this.#call = call;
    place.added(this.#item('in_progress'));
  }

  addText(delta: string): void {
    this.#input += delta;
    const family = this.#call.form === 'custom' ? 'custom_tool_call_input' : 'function_call_arguments';
    this.#place.tell(`${family}.delta`, { delta });
  }

  seal(sealed: Sealed): void {
    this.sealed = sealed;
  }

  stop(): void {
    // A call is one block: it is whole with its item.
  }

  close(status: ItemStatus): object {
    // Clients parse the arguments, and nothing is no JSON.
    if (this.#call.form === 'function' && this.#input === '') this.addText('{}');
    const { name, form } = this.#call;
    if (form === 'custom') this.#place.tell('custom_tool_call_input.done', { input: this.#input });
    else this.#place.tell('function_call_arguments.done', { name, arguments: this.#input });
    const item = this.#item(status);
    this.#place.done(item);
    return item;
  }

  #item(status: ItemStatus | 'in_progress'): object {
    const { id, name, namespace, form } = this.#call;
    const call_id = legalName(id, callIdRule);
    const common = { call_id, name, ...(namespace === null ? {} : { namespace }), status };
    return form === 'custom'
      ? { id: this.#place.id, type: 'custom_tool_call', ...common, input: this.#input }
      : { id: this.#place.id, type: 'function_call', ...common, arguments: this.#input };
  }
}

/** A picture the model made, as if by the vendor's own tool; it comes in one piece. */
export class ImageItem implements OutputItem {
  readonly #place: ItemPlace;
  readonly #data: string;
  readonly #format: string;

  constructor(place: ItemPlace, { source, mediaType }: MediaBlock) {
    this.#place = place;
    this.#data = source.kind === 'base64' ? source.data : '';
    this.#format = mediaType?.split('/')[1] ?? 'png';
    place.added(this.#item('in_progress', null));
  }

  addText(): void {
    // Nothing is added to what is whole.
  }

  seal(): void {
    // Pictures are not sealed.
  }

  stop(): void {
    // It is whole from the beginning.
  }

  close(status: ItemStatus): object {
    const item = this.#item(status, this.#data);
    this.#place.done(item);
    return item;
  }

  #item(status: ItemStatus | 'in_progress', result: string | null): object {
    return { id: this.#place.id, type: 'image_generation_call', status, output_format: this.#format, result };
  }
}
