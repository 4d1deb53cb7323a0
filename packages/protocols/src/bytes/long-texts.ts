/** Knows where the long strings of a JSON text end, by the positions of their opening quotes. */
export class LongTexts {
  /** The text has too much beside them to be read in one turn. */
  isCrumbled = false;
  readonly #ends = new Map<number, number>();

  note(start: number, end: number): void {
    this.#ends.set(start, end);
  }

  /** As `skipString` says it; undefined of a string that is not long. */
  endOf(start: number): number | undefined {
    return this.#ends.get(start);
  }
}

/** A body with all that is known of it before it is read. */
export interface WalkedBody {
  readonly body: Uint8Array;
  readonly longTexts: LongTexts | null;
}
