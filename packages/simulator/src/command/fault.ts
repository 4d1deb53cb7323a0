/** What a placed fault does when its place in the answer is reached. */
const acts = ['reset', 'stall', 'end', 'cut', 'garble', 'error'] as const;

/** Where in an answer a placed fault strikes. */
const places = ['before-head', 'before-content', 'mid-stream', 'before-done'] as const;

/** Faults that replace the answer or its labels as a whole. */
const replacements = ['html', 'html-403', 'empty', 'wrong-type'] as const;

/**
 * `reset` sends RST · `stall` falls silent · `end` ends the HTTP message cleanly, too early · `cut` closes the
 * connection in the middle of the HTTP message · `garble` slips in bytes that are not of the protocol ·
 * `error` puts an error in the place of content, under status 200.
 */
export type FaultAct = (typeof acts)[number];
export type FaultPlace = (typeof places)[number];
export type Replacement = (typeof replacements)[number];

export type Fault =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'replacement'; readonly replacement: Replacement }
  | { readonly kind: 'placed'; readonly act: FaultAct; readonly place: FaultPlace };

/** The fault a word of the vocabulary names (`503`, `html`, `reset-mid-stream`), or undefined. */
export function readFault(word: string): Fault | undefined {
  if (/^[45]\d\d$/.test(word)) return { kind: 'status', status: Number(word) };
  const replacement = replacements.find((name) => name === word);
  if (replacement !== undefined) return { kind: 'replacement', replacement };
  return readPlacedFault(word);
}

function readPlacedFault(word: string): Fault | undefined {
  const act = acts.find((name) => word.startsWith(`${name}-`));
  const place = places.find((name) => word === `${act}-${name}`);
  if (act === undefined || place === undefined) return undefined;
  // An error before the head is an error status, and that has its own word.
  if (act === 'error' && place === 'before-head') return undefined;
  return { kind: 'placed', act, place };
}

/** Every fault with a name, for documentation and for tests that walk all of them. Statuses come beside these. */
export const faultNames: readonly string[] = [
  ...replacements,
  ...acts.flatMap((act) => places.map((place) => `${act}-${place}`)),
].filter((name) => readFault(name) !== undefined);
