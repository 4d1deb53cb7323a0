import { legalName } from '../../translate/tool-names.ts';
import type { Sealed, ToolCallBlock } from '../../turn.ts';
import type { BlockDelta } from '../../turn-event.ts';
import type { ItemPlace, ItemStatus, OutputItem } from './output-item.ts';
import { callIdRule } from './write-items.ts';

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

  add(delta: BlockDelta): void {
    if (delta.kind === 'sealed') this.sealed = delta.sealed;
    else if (delta.kind === 'text') this.#addInput(delta.text);
  }

  stop(): void {
    // A call is one block: it is whole with its item.
  }

  close(status: ItemStatus): object {
    // Clients parse the arguments, and nothing is no JSON.
    if (this.#call.form === 'function' && this.#input === '') this.#addInput('{}');
    const { name, form } = this.#call;
    if (form === 'custom') this.#place.tell('custom_tool_call_input.done', { input: this.#input });
    else this.#place.tell('function_call_arguments.done', { name, arguments: this.#input });
    const item = this.#item(status);
    this.#place.done(item);
    return item;
  }

  #addInput(delta: string): void {
    this.#input += delta;
    const family = this.#call.form === 'custom' ? 'custom_tool_call_input' : 'function_call_arguments';
    this.#place.tell(`${family}.delta`, { delta });
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
