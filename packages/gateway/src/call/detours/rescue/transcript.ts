import type { TurnEvent } from '@headgate/protocols';
import { type MemoryShare, uncountedBytesMax } from '../../../ports/data-plane.ts';

/** Characters of an answer that are kept; a longer one is not continued. */
const lengthMax = 262_144;
/** Characters of all that is kept to go on with it: its words, its thoughts, and frames that have neither. */
const keptMax = 4 * lengthMax;
/** Bytes that a character may take in memory: what has been said is kept here and by whoever goes on with the caller's stream. */
const bytesPerCharacter = 4;

/**
 * The words of an answer as they have gone to its caller. Only words can be gone on with elsewhere: nothing of a call, a picture, a
 * refusal or a thought may be half said.
 */
export class Transcript {
  readonly #memory: MemoryShare;
  #counted = uncountedBytesMax;
  #text = '';
  #kept = 0;
  #isInText = false;
  /** There is nothing to go on with, and will be nothing: whoever reads for it may stop. */
  isLost = false;

  constructor(memory: MemoryShare) {
    this.#memory = memory;
  }

  /** All of the words; null where there are none to go on with. */
  get text(): string | null {
    return this.#isInText && !this.isLost && this.#text.trim() !== '' ? this.#text : null;
  }

  /** `frameLength`: of the frame that they were read from, all of which may be kept where there are no words in it. Bytes. */
  take(events: readonly TurnEvent[], frameLength = 0): void {
    let words = 0;
    for (const event of events) {
      this.#note(event);
      if (event.kind === 'delta' && event.delta.kind === 'text') words += event.delta.text.length;
    }
    if (frameLength > 0 && !this.isLost && !this.#keeps(words === 0 ? frameLength : words)) this.lose();
  }

  addText(text: string): void {
    if (this.isLost || !this.#isInText) return;
    const length = this.#text.length + text.length;
    if (length <= lengthMax && this.#hasRoom(length)) this.#text += text;
    else this.lose();
  }

  #note(event: TurnEvent): void {
    switch (event.kind) {
      case 'start':
        return;
      case 'block-start':
        this.#isInText = event.block.kind === 'text';
        if (!this.#isInText && event.block.kind !== 'reasoning') this.lose();
        return;
      case 'delta':
        if (event.delta.kind === 'text') this.addText(event.delta.text);
        else if (event.delta.kind === 'sealed' && this.#isInText) this.lose();
        return;
      case 'block-stop':
        this.#isInText = false;
        return;
      case 'finish':
        return this.lose();
    }
  }

  #keeps(characters: number): boolean {
    this.#kept += characters;
    return this.#kept <= keptMax && this.#hasRoom(this.#kept);
  }

  /** Memory is asked for in steps that double; without it the answer goes on, and is not continued elsewhere. */
  #hasRoom(length: number): boolean {
    const bytes = length * bytesPerCharacter;
    if (bytes <= this.#counted) return true;
    const grown = Math.max(bytes, 2 * this.#counted);
    if (!this.#memory.take(grown - this.#counted)) return false;
    this.#counted = grown;
    return true;
  }

  lose(): void {
    this.isLost = true;
    this.#text = '';
  }
}
