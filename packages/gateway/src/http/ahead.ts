import { concatBytes } from '@headgate/protocols';
import type { Inlet } from './inlet.ts';
import type { Rounds, RoundTaker } from './rounds.ts';

/** Bytes that a caller may send ahead of their turn before it is no longer read. */
const aheadBytesMax = 16_384;

/** Bytes of one connection that have come and whose time has not: of a head that is not whole, or behind another request. */
export class Ahead implements RoundTaker {
  /** Not in Node's pool: they may be there long. */
  bytes: Buffer | null = null;
  awaitsRound = false;
  readonly #inlet: Inlet;
  readonly #goOn: () => void;

  /** `goOn` is called when another turn of the event loop has come, whatever has become of the connection since. */
  constructor(inlet: Inlet, goOn: () => void) {
    this.#inlet = inlet;
    this.#goOn = goOn;
  }

  keep(bytes: Buffer): void {
    this.bytes = this.bytes === null ? bytes : Buffer.from(concatBytes([this.bytes, bytes]).buffer);
  }

  get isFull(): boolean {
    return this.bytes !== null && this.bytes.length > aheadBytesMax;
  }

  awaitRound(row: Rounds): void {
    if (this.isFull) this.#inlet.halt();
    if (this.awaitsRound) return;
    this.awaitsRound = true;
    row.wait(this);
  }

  /** A read that was full is followed by others before the event loop turns, and what it brought may be much work. */
  rest(row: Rounds): void {
    this.#inlet.halt();
    this.awaitRound(row);
  }

  /** Reads on, unless something waits for its turn. */
  readOn(): void {
    if (!this.awaitsRound && !this.isFull) this.#inlet.resume();
  }

  onRound(): void {
    this.awaitsRound = false;
    this.#goOn();
  }
}
