import { unreachable } from '../../result.ts';
import type { MediaBlock } from '../../turn.ts';
import type { BlockDelta, OpenBlock } from '../../turn-event.ts';
import { CallItem } from './call-item.ts';
import { ImageItem } from './image-item.ts';
import { MessageItem } from './message-item.ts';
import { type Emit, ItemPlace, type ItemStatus, type OutputItem } from './output-item.ts';
import { ReasoningItem } from './reasoning-item.ts';
import { carry } from './state-carrier.ts';

/** What ids of items begin with; clients and the vendor tell items by it. */
type Prefix = 'msg' | 'rs' | 'fc' | 'ctc' | 'ig';

/**
 * Makes the items of a response out of blocks. An item is closed when something else begins: texts that follow each other
 * are parts of one message, and whether the last item was cut off is known at the end only.
 */
export class OutputBuilder {
  readonly items: object[] = [];
  readonly #traceId: string;
  readonly #emit: Emit;
  #open: OutputItem | null = null;

  constructor(traceId: string, emit: Emit) {
    this.#traceId = traceId;
    this.#emit = emit;
  }

  start(block: OpenBlock): void {
    switch (block.kind) {
      case 'text':
      case 'refusal':
        return this.#message().openPart(block.kind);
      case 'reasoning':
        return this.#begin('rs', (place) => new ReasoningItem(place));
      case 'tool-call':
        return this.#begin(block.form === 'custom' ? 'ctc' : 'fc', (place) => new CallItem(place, block));
      case 'media':
        return this.#picture(block);
      default:
        return unreachable(block);
    }
  }

  add(delta: BlockDelta): void {
    this.#open?.add(delta);
  }

  stop(): void {
    this.#open?.stop();
  }

  /** Closes the item at hand. */
  close(status: ItemStatus): void {
    const item = this.#open;
    if (item === null) return;
    this.#open = null;
    this.items.push(item.close(status));
    if (item instanceof CallItem && item.sealed !== null) this.#carrySealOf(item.sealed);
  }

  /** State that came with a call follows it in an item of its own. */
  #carrySealOf(sealed: NonNullable<CallItem['sealed']>): void {
    const carrier = new ReasoningItem(this.#place('rs'));
    carrier.seal(carry(sealed, 'call'));
    this.items.push(carrier.close());
  }

  #begin(prefix: Prefix, make: (place: ItemPlace) => OutputItem): void {
    this.close('completed');
    this.#open = make(this.#place(prefix));
  }

  #message(): MessageItem {
    if (this.#open instanceof MessageItem) return this.#open;
    this.close('completed');
    const message = new MessageItem(this.#place('msg'));
    this.#open = message;
    return message;
  }

  /** This protocol has pictures in its answers, and neither sounds nor files. */
  #picture(block: MediaBlock): void {
    if (block.media === 'image') this.#begin('ig', (place) => new ImageItem(place, block));
    else this.close('completed');
  }

  #place(prefix: Prefix): ItemPlace {
    const index = this.items.length;
    return new ItemPlace(`${prefix}_${this.#traceId}_${index}`, index, this.#emit);
  }
}
