/** The place where a value turned up, and the word there that tells which of several it is. */
export interface Landing {
  /** Without positions: `messages[].content[]`. */
  readonly path: string;
  /** A type, a role, or a value that is not the caller's own; empty when the path says it all. */
  readonly word: string;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * The places where the second of two requests has something that the first has not, each once. `known` are the words the caller sent:
 * a value that is one of them need not be told.
 */
export function landings(before: Json, after: Json, known: ReadonlySet<string>): readonly Landing[] {
  const all = differences('', before, after, known);
  return all.filter(
    ({ path, word }, index) => all.findIndex((one) => one.path === path && one.word === word) === index,
  );
}

type Known = ReadonlySet<string>;

function differences(path: string, before: unknown, after: unknown, known: Known): readonly Landing[] {
  if (same(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return ofLists(path, before, after, known);
  // A text that became a list of parts is its first part.
  if (typeof before === 'string' && Array.isArray(after) && after.length > 1)
    return added(path, after.slice(1), known);
  if (isJson(before) && isJson(after) && before['type'] === after['type'])
    return ofRecords(path, before, after, known);
  return added(path, after, known);
}

function ofRecords(path: string, before: Json, after: Json, known: Known): readonly Landing[] {
  const names = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...names].flatMap((name) => {
    const place = below(path, name);
    if (!Object.hasOwn(after, name)) return [{ path: place, word: 'left out' }];
    return Object.hasOwn(before, name)
      ? differences(place, before[name], after[name], known)
      : added(place, after[name], known);
  });
}

/** The items that two lists have in common at both ends are passed over. */
function ofLists(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  known: Known,
): readonly Landing[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && same(before[head], after[head])) head++;
  let tail = 0;
  while (tail < shorter - head && same(before.at(-1 - tail), after.at(-1 - tail))) tail++;
  const mine = before.slice(head, before.length - tail);
  const others = after.slice(head, after.length - tail);
  if (others.length === 0) return [{ path: `${path}[]`, word: 'left out' }];
  return others.flatMap((value, index) =>
    index < mine.length
      ? differences(`${path}[]`, mine[index], value, known)
      : added(`${path}[]`, value, known),
  );
}

/** A value that was not there before: its members one by one as long as it is only a wrapping. */
function added(path: string, value: unknown, known: Known): readonly Landing[] {
  if (Array.isArray(value)) return value.flatMap((element) => added(`${path}[]`, element, known));
  if (!isJson(value)) return [{ path, word: known.has(String(value)) ? '' : shortWord(value) }];
  const word = value['type'] ?? value['role'];
  if (typeof word === 'string') return [{ path, word }];
  const names = Object.keys(value);
  const isWrapping = names.length === 1 || !path.includes('[]');
  return isWrapping && names.length > 0
    ? names.flatMap((name) => added(below(path, name), value[name], known))
    : [{ path, word: '' }];
}

/** A word of the protocol's; what was made of the caller's own is not. */
function shortWord(value: unknown): string {
  const text = String(value);
  return /^[\w./:?=-]{1,40}$/.test(text) && !text.includes('canary') ? text : '';
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
