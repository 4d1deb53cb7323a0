/** Longest text of others that one field of a log line keeps, in UTF-16 units. */
export const logTextLengthMax = 300;

const plainPattern = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

// JSON leaves these alone, but terminals and log viewers act on them: DEL, C1 controls (which contain an escape
// introducer and a line break) and the two Unicode line separators.
const hiddenControlPattern = /[\u007f-\u009f\u2028\u2029]/g;

/** A JSON string literal of a bounded text, on one line whatever the text holds. */
export function quoteLogText(text: string, lengthMax = logTextLengthMax): string {
  const bounded = text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
  if (plainPattern.test(bounded)) return `"${bounded}"`;
  return escapeHiddenControls(JSON.stringify(bounded));
}

/** Spells out, as JSON escapes, the control characters that JSON itself lets through. */
export function escapeHiddenControls(json: string): string {
  return json.replace(hiddenControlPattern, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
