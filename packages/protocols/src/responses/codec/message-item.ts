import type { Citation } from '../../turn.ts';
import type { BlockDelta } from '../../turn-event.ts';
import type { ItemPlace, ItemStatus, OutputItem } from './output-item.ts';
import { writeCitations } from './write-parts.ts';

interface OpenPart {
  readonly kind: 'text' | 'refusal';
  text: string;
  readonly citations: Citation[];
}

/** A message: texts and refusals, each a part of it. */
export class MessageItem implements OutputItem {
  readonly #place: ItemPlace;
  readonly #parts: object[] = [];
  #open: OpenPart | null = null;

  constructor(place: ItemPlace) {
    this.#place = place;
    place.added(this.#item('in_progress'));
  }

  openPart(kind: OpenPart['kind']): void {
    this.stop();
    this.#open = { kind, text: '', citations: [] };
    this.#tell('content_part.added', { part: encodePart(this.#open, []) });
  }

  add(delta: BlockDelta): void {
    if (this.#open === null) return;
    if (delta.kind === 'citation') this.#open.citations.push(delta.citation);
    else if (delta.kind === 'text') this.#addText(this.#open, delta.text);
  }

  /** Citations come at the end of their text: only then is it known how far those go that name no place in it. */
  stop(): void {
    const part = this.#open;
    if (part === null) return;
    const annotations = part.kind === 'text' ? writeCitations(part) : [];
    for (const [annotation_index, annotation] of annotations.entries())
      this.#tell('output_text.annotation.added', { annotation_index, annotation });
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

  #addText(part: OpenPart, delta: string): void {
    part.text += delta;
    if (part.kind === 'text') this.#tell('output_text.delta', { delta, logprobs: [] });
    else this.#tell('refusal.delta', { delta });
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
