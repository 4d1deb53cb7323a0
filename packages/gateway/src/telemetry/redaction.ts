/** Replaces live secrets in a text. */
export type Redact = (text: string) => string;

/** A shorter value would blot out ordinary words, and guards nothing. */
const secretLengthMin = 8;

// Keys of our own are known by their hash alone, so they are recognised by their form.
const ownKeyPattern = 'sk-[0-9A-Za-z]{49}';

/** `secrets` are the values themselves; they are found as such and as they are spelled inside JSON. */
export function createRedaction(secrets: Iterable<string>): Redact {
  const spellings = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < secretLengthMin) continue;
    spellings.add(secret);
    spellings.add(JSON.stringify(secret).slice(1, -1));
  }
  // The longest first, so that a secret which begins with another one is replaced whole.
  const literals = [...spellings].sort((a, b) => b.length - a.length).map(escapePattern);
  const pattern = new RegExp([...literals, ownKeyPattern].join('|'), 'g');
  return (text) => text.replace(pattern, '[redacted]');
}

function escapePattern(literal: string): string {
  return literal.replace(/[^0-9A-Za-z]/g, '\\$&');
}
