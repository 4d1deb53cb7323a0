import type { BlockDelta } from '../../turn-event.ts';
import type { ItemPlace, OutputItem } from './output-item.ts';
import { carry } from './state-carrier.ts';

/** Thoughts, as a summary of one part; none where none are shown. */
export class ReasoningItem implements OutputItem {
  readonly #place: ItemPlace;
  #text: string | null = null;
  #encrypted: string | null = null;

  constructor(place: ItemPlace) {
    this.#place = place;
    place.added(this.#item([]));
  }

  add(delta: BlockDelta): void {
    if (delta.kind === 'sealed') this.#encrypted = carry(delta.sealed, delta.sealed.form);
    else if (delta.kind === 'text') this.#addText(delta.text);
  }

  /** State as it is to be handed back. */
  seal(encrypted: string): void {
    this.#encrypted = encrypted;
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

  #addText(delta: string): void {
    if (this.#text === null) this.#tell('reasoning_summary_part.added', { part: summaryPart('') });
    this.#text = (this.#text ?? '') + delta;
    this.#tell('reasoning_summary_text.delta', { delta });
  }

  #tell(name: string, members: object): void {
    this.#place.tell(name, { summary_index: 0, ...members });
  }

  /** State that is not there is left out: one schema has no null for it. */
  #item(summary: readonly object[]): object {
    const sealed = this.#encrypted === null ? {} : { encrypted_content: this.#encrypted };
    return { id: this.#place.id, type: 'reasoning', summary, ...sealed };
  }
}

function summaryPart(text: string): object {
  return { type: 'summary_text', text };
}
