import type { MediaBlock } from '../../turn.ts';
import type { ItemPlace, ItemStatus, OutputItem } from './output-item.ts';

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

  add(): void {
    // Nothing is added to what is whole.
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
