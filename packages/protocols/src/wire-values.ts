/** A JSON object whose members are not known yet. */
export type WireRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is WireRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as a record, an empty one when it is anything else. */
export function recordOf(value: unknown): WireRecord {
  return isRecord(value) ? value : {};
}

/** The elements of a list, none when it is anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text, empty or not; null for anything else. */
export function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** The number; null for anything else. */
export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** The truth value; null for anything else. */
export function booleanOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** No call uses more; a larger count is a defect of the upstream and not a count. */
const tokensMax = 1_000_000_000;

/** A sane count of tokens, whole; null for anything else. */
export function tokenCount(value: unknown): number | null {
  if (typeof value !== 'number' || !(value >= 0) || value > tokensMax) return null;
  // JSON has a negative zero.
  return Math.abs(Math.round(value));
}

/** A table of meanings by word, from the words of each meaning with spaces between them. */
export function byWord<Meaning extends string>(
  words: Readonly<Partial<Record<Meaning, string>>>,
): ReadonlyMap<string, Meaning> {
  const meanings = Object.keys(words) as Meaning[]; // The keys of a record over a closed union are that union.
  return new Map(
    meanings.flatMap((meaning) => wordsOf(words[meaning] ?? '').map((word) => [word, meaning] as const)),
  );
}

/** The words of a text, which may have many lines. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(wordsOf(text));
}

function wordsOf(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
