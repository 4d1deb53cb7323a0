import { isRecord, type WireRecord } from '../../wire-values.ts';

/** The JSON object of a text, an empty one for no text; null for anything else. */
export function parseObject(text: string): WireRecord | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
