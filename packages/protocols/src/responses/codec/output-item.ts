import type { BlockDelta } from '../../turn-event.ts';

/** Takes one event of the stream, without its type's prefix. */
export type Emit = (name: string, members: object) => void;

/** Whether an item was said to its end. */
export type ItemStatus = 'completed' | 'incomplete';

/** An item of the output while it is being said. It tells its events as they come, and is in the end what they add up to. */
export interface OutputItem {
  add(delta: BlockDelta): void;
  /** The block at hand is whole. */
  stop(): void;
  /** The item itself is. */
  close(status: ItemStatus): object;
}

/** Where an item stands, and who hears of it. */
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
