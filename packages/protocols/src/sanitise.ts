import { beginningOf } from './bytes/whole-text.ts';

/** Read of a message. Characters. */
const readCharsMax = 2_000;
/** Kept of a message. Characters. */
const keptCharsMax = 600;

/** Patterns of anything that an upstream's message may tell about us or our account there, and the words in its place. */
const secrets: readonly (readonly [RegExp, string])[] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'`<>)\]]+/gi, '[address]'],
  [/\bbearer\s+[\w.~+/=*-]+/gi, '[key]'],
  [/\b(?:sk|pk|rk|gsk|xai|pplx|nvapi|hf|AKIA|AIza|ghp)[-_*]?[\w*.…-]{8,}/g, '[key]'],
  [/\b(?:org|proj|user|acct|account|key|project)[-_][A-Za-z0-9*]{6,}/g, '[account]'],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[address]'],
  [/(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?![\w.])/g, '[address]'],
  [/(?<![\w.])\[?(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{0,4}\]?/gi, '[address]'],
  [
    /\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|ai|dev|app|cloud|cn|eu|co|info|local|internal|lan|svc|test|example)\b(?::\d+)?(?:\/[^\s"'`<>)\]]*)?/gi,
    '[address]',
  ],
];

/** Shorter names are words of every language, and say nothing. */
const nameCharsMin = 3;

/** Names that only we and one upstream have for something, and the ones that callers read instead. */
export type PrivateNames = ReadonlyMap<string, string>;

const noNames: ReadonlyMap<string, string> = new Map();

/**
 * An upstream's message, fit for a caller's eyes: keys, accounts, addresses and `names` taken out, on one line, bounded.
 * Words that clients look for, as in `maximum context length`, stay.
 */
export function sanitiseUpstreamMessage(message: string, names: PrivateNames = noNames): string {
  let text = beginningOf(message, readCharsMax).replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ');
  for (const [pattern, placeholder] of secrets) text = text.replace(pattern, placeholder);
  for (const [name, placeholder] of names) text = withoutName(text, name, placeholder);
  text = text.trim();
  return text.length <= keptCharsMax ? text : `${beginningOf(text, keptCharsMax - 1)}…`;
}

/** Whole names only: `gpt-4` is not a part of `gpt-4.1`. */
function withoutName(text: string, name: string, placeholder: string): string {
  if (name.length < nameCharsMin || name === placeholder) return text;
  const literal = name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const pattern = new RegExp(`(?<![\\w-]|\\w\\.)${literal}(?![\\w-]|\\.\\w)`, 'gi');
  return text.replace(pattern, () => placeholder);
}
