import { isRecord, type WireRecord } from '../../wire-values.ts';

/** The JSON object of a text, an empty one for no text; null for anything else. */
export function parseObject(text: string): WireRecord | null {
  const trimmed = text.trim();
  if (trimmed === '') return {};
  // To fail at parsing is dear, and what tools return is mostly text.
  if (!trimmed.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(trimmed);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
