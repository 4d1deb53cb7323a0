/** One replacement: the bytes from `start` to `end` give way to `insert`; equal positions only insert. */
export interface Edit {
  /** The name that the attempt's record has for it. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly insert: Uint8Array;
}

/**
 * Applies edits, which must not overlap, in the order of their positions. Gives the result in pieces, end to end: views
 * of the bytes and what was inserted. Nothing is copied, because a fresh megabyte costs more than everything else that is
 * done with a large request, its place in memory above all.
 */
export function splice(bytes: Uint8Array, edits: readonly Edit[]): readonly Uint8Array[] {
  if (edits.length === 0) return [bytes];
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    if (edit.start < from) throw new Error(`edits overlap: ${edit.name} at ${edit.start}`);
    pieces.push(bytes.subarray(from, edit.start), edit.insert);
    from = edit.end;
  }
  pieces.push(bytes.subarray(from));
  return pieces;
}

/** Puts chunks end to end; a single one is returned as it is. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Pieces that are put end to end. Those that lie side by side in their buffer are one run, and no object each. */
export class ByteRuns {
  #runs: Uint8Array[] = [];
  /** The first piece of the last run, and where that run ends. */
  #last: Uint8Array | null = null;
  #end = 0;

  add(bytes: Uint8Array): void {
    const last = this.#last;
    if (last !== null && last.buffer === bytes.buffer && this.#end === bytes.byteOffset) {
      this.#end += bytes.length;
      return;
    }
    this.#endRun();
    this.#last = bytes;
    this.#end = bytes.byteOffset + bytes.length;
  }

  /** All of them, and then there is none; one that is alone is no copy. */
  take(): Uint8Array {
    this.#endRun();
    const bytes = concatBytes(this.#runs);
    this.#runs = [];
    return bytes;
  }

  #endRun(): void {
    const last = this.#last;
    if (last === null) return;
    const length = this.#end - last.byteOffset;
    this.#runs.push(length === last.length ? last : new Uint8Array(last.buffer, last.byteOffset, length));
    this.#last = null;
  }
}
