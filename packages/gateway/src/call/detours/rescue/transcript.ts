import type { TurnEvent } from '@headgate/protocols';
import { type MemoryShare, uncountedBytesMax } from '../../../ports/data-plane.ts';

/** Characters of an answer that are kept; a longer one is not continued. */
const lengthMax = 262_144;
/** Bytes that a character may take in memory. */
const bytesPerCharacter = 2;

/**
 * The words of an answer as they have gone to its caller. Only words can be gone on with elsewhere: nothing of a call, a picture, a
 * refusal or a thought may be half said.
 */
export class Transcript {
  readonly #memory: MemoryShare;
  #counted = uncountedBytesMax;
  #text = '';
  #isInText = false;
  #isLost = false;

  constructor(memory: MemoryShare) {
    this.#memory = memory;
  }

  /** All of the words; null where there are none to go on with. */
  get text(): string | null {
    return this.#isInText && !this.#isLost && this.#text.trim() !== '' ? this.#text : null;
  }

  take(events: readonly TurnEvent[]): void {
    for (const event of events) this.#note(event);
  }

  addText(text: string): void {
    if (this.#isLost || !this.#isInText) return;
    if (this.#hasRoom(this.#text.length + text.length)) this.#text += text;
    else this.#lose();
  }

  #note(event: TurnEvent): void {
    switch (event.kind) {
      case 'start':
        return;
      case 'block-start':
        this.#isInText = event.block.kind === 'text';
        if (!this.#isInText && event.block.kind !== 'reasoning') this.#lose();
        return;
      case 'delta':
        if (event.delta.kind === 'text') this.addText(event.delta.text);
        else if (event.delta.kind === 'sealed' && this.#isInText) this.#lose();
        return;
      case 'block-stop':
        this.#isInText = false;
        return;
      case 'finish':
        return this.#lose();
    }
  }

  /** Memory is asked for in steps that double; without it the answer goes on, and is not continued elsewhere. */
  #hasRoom(length: number): boolean {
    if (length > lengthMax) return false;
    const bytes = length * bytesPerCharacter;
    if (bytes <= this.#counted) return true;
    const grown = Math.max(bytes, 2 * this.#counted);
    if (!this.#memory.take(grown - this.#counted)) return false;
    this.#counted = grown;
    return true;
  }

  #lose(): void {
    this.#isLost = true;
    this.#text = '';
  }
}
