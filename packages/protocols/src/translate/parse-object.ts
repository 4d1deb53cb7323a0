import { depthMax } from '../bytes/json-skip.ts';
import { isRecord, type WireRecord } from '../wire-values.ts';

/** The JSON object of a text, an empty one for no text; null for anything else, and for what is nested too deep. */
export function parseObject(text: string): WireRecord | null {
  const trimmed = text.trim();
  if (trimmed === '') return {};
  // To fail at parsing is dear, and what tools return is mostly text.
  const value = trimmed.startsWith('{') ? parseShallow(trimmed) : null;
  return isRecord(value) ? value : null;
}

/** The JSON list of a text; null for anything else, and for what is nested too deep. */
export function parseList(text: string): readonly unknown[] | null {
  const value = text.startsWith('[') ? parseShallow(text) : null;
  return Array.isArray(value) ? value : null;
}

function parseShallow(text: string): unknown {
  if (isDeep(text)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const opening: readonly number[] = [0x5b, 0x7b];
const closing: readonly number[] = [0x5d, 0x7d];

/**
 * Whether brackets that are no part of a string are nested deeper than those of any request: what is parsed here is written
 * again, and whoever writes it recurses. The body's own nesting does not tell, since a string of it can hold any.
 */
function isDeep(text: string): boolean {
  // Every level has two brackets.
  if (text.length <= 2 * depthMax) return false;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) isString = !isString;
    else if (unit === backslash) at++;
    else if (isString) continue;
    else if (opening.includes(unit)) depth++;
    else if (closing.includes(unit)) depth--;
    if (depth > depthMax) return true;
  }
  return false;
}
