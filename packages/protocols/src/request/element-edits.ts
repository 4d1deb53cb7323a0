import type { Edit } from '../bytes/splice.ts';

/** An element of a JSON list, where it stands. Bytes. */
export interface ElementSpan {
  readonly start: number;
  readonly end: number;
  readonly isLeftOut: boolean;
}

/** Leaves elements out of a list, with the commas that were due to them; `elements` are all of the list, in order. */
export function leaveOut(name: string, elements: readonly ElementSpan[]): readonly Edit[] {
  const edits: Edit[] = [];
  let isFirst = true;
  for (const [index, { start, end, isLeftOut }] of elements.entries()) {
    const next = elements[index + 1];
    const previous = elements[index - 1];
    if (!isLeftOut) isFirst = false;
    // As long as nothing is kept before it, the comma behind it goes with it; from then on, the one before it.
    else if (isFirst) edits.push(cut(name, start, next?.start ?? end));
    else edits.push(cut(name, previous?.end ?? start, end));
  }
  return edits;
}

function cut(name: string, start: number, end: number): Edit {
  return { name, start, end, insert: new Uint8Array(0) };
}
