import type { JsonReader } from '../bytes/json-reader.ts';

/** Strings longer than this are noted, and may be data. Bytes. */
export const longBytesMin = 4_096;
/** Of a call's strings the first so many are noted: what a conversation begins with. */
const notedMax = 8;

/** Where long strings end that were passed once, so that to pass over them again costs nothing. */
export class LongStrings {
  readonly #ends = new Map<number, number>();

  /** `start` and `end` exclude the quotes. */
  note(start: number, end: number): void {
    if (this.#ends.size < notedMax) this.#ends.set(start, end);
  }

  /** Skips the value at hand; see `JsonReader.skip`. */
  skip(reader: JsonReader): number {
    const end = this.#ends.get(reader.at + 1);
    if (end === undefined) return reader.skip();
    reader.at = end + 1;
    return reader.at;
  }
}
