/** Rises when a number changes its meaning. What another version has written is not read. */
const version = 1;

/**
 * Numbers by name, as they are kept for the next process: finite ones, times on the clock of the wall. One that is missing
 * is as it was in the beginning.
 */
export type Saved<Name extends string> = Readonly<Partial<Record<Name, number>>>;

/** What is kept of one thing, by its parts. */
export type SavedParts = Readonly<Record<string, Saved<string>>>;

/** As it is stored. Infinities are left out: they stand for what has never been. */
export function writeSaved(parts: SavedParts): string {
  return JSON.stringify({ version, parts });
}

/** Null when it was not written by this version. */
export function readSaved(text: string): SavedParts | null {
  const value = parsed(text);
  if (!isRecord(value) || value['version'] !== version || !isRecord(value['parts'])) return null;
  return Object.fromEntries(Object.entries(value['parts']).map(([name, part]) => [name, numbersOf(part)]));
}

function numbersOf(part: unknown): Saved<string> {
  const numbers: Record<string, number> = {};
  if (!isRecord(part)) return numbers;
  for (const [name, value] of Object.entries(part)) {
    if (typeof value === 'number' && Number.isFinite(value)) numbers[name] = value;
  }
  return numbers;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
