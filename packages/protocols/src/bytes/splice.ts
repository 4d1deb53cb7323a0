/** One replacement: the bytes from `start` to `end` give way to `insert`; equal positions only insert. */
export interface Edit {
  /** What the attempt's record calls it. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly insert: Uint8Array;
}

/** Applies edits, which must not overlap, in the order of their positions. Without edits it returns the same array. */
export function splice(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  if (edits.length === 0) return bytes;
  const sorted = edits.toSorted((a, b) => a.start - b.start);
  const result = new Uint8Array(
    sorted.reduce((sum, edit) => sum + edit.insert.length - (edit.end - edit.start), bytes.length),
  );
  let from = 0;
  let to = 0;
  for (const edit of sorted) {
    if (edit.start < from) throw new Error(`edits overlap: ${edit.name} at ${edit.start}`);
    result.set(bytes.subarray(from, edit.start), to);
    to += edit.start - from;
    result.set(edit.insert, to);
    to += edit.insert.length;
    from = edit.end;
  }
  result.set(bytes.subarray(from), to);
  return result;
}
