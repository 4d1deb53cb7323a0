import type { Json } from './surfaces.ts';

/** A refusal of the API, as far as it says something to people. */
export interface Refusal {
  readonly message: string;
  /** The API's own name for it; null where it gives none. */
  readonly code: string | null;
}

/** Reads the envelope of an error, whichever surface it is of; null of what is none. */
export function readRefusal(text: string): Refusal | null {
  const error = mapOf(mapOf(parsed(text))?.['error']);
  const message = error?.['message'];
  if (error === null || typeof message !== 'string') return null;
  const named = [error['code'], error['type'], error['status']].find((name) => typeof name === 'string');
  return { message, code: typeof named === 'string' ? named : null };
}

/** The statuses that somebody at this page can do something about. */
const mended = ['400', '401', '402', '403', '404', '413', '429', '502', '503', '504'] as const;
type Mended = (typeof mended)[number];

/** The name of the words that help with a status; null where there are none. */
export function helpFor(status: number | null): `fix.${Mended}` | null {
  const found = mended.find((each) => each === String(status));
  return found === undefined ? null : `fix.${found}`;
}

/** JSON as people read it; what is none, as it is. */
export function indented(text: string): string {
  const value = parsed(text);
  return value === null ? text : JSON.stringify(value, null, 2);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function mapOf(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}
