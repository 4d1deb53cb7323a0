const escapeBytesMax = 6;

interface Name {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/**
 * The member names a reader looks for, compared in place: `find` makes no string for a key that is not among them.
 * Names are ASCII.
 */
export class KeyNames<Text extends string> {
  readonly #byLength: readonly (readonly (Name & { readonly text: Text })[])[];

  constructor(names: readonly Text[]) {
    const encoder = new TextEncoder();
    const longest = Math.max(...names.map((name) => name.length));
    this.#byLength = Array.from({ length: longest + 1 }, (_, length) =>
      names.filter((name) => name.length === length).map((text) => ({ text, bytes: encoder.encode(text) })),
    );
  }

  /** The name a key spells, its escapes decoded (`"mod\u0065l"` is `model`), or null. The span excludes the quotes. */
  find(bytes: Uint8Array, start: number, end: number): Text | null {
    const candidates = this.#byLength[end - start];
    if (candidates !== undefined) {
      for (const name of candidates) if (isSame(bytes, start, name.bytes, 0)) return name.text;
    }
    return this.#isEscaped(bytes, start, end) ? this.#findDecoded(bytes, start, end) : null;
  }

  /** The name a key spells when the case of its letters is ignored, or null. */
  findAnyCase(bytes: Uint8Array, start: number, end: number): Text | null {
    const candidates = this.#byLength[end - start];
    if (candidates === undefined) return null;
    for (const name of candidates) if (isSame(bytes, start, name.bytes, 0x20)) return name.text;
    return null;
  }

  /** Whether a key has escapes and is short enough to be one of the names with every letter escaped. */
  #isEscaped(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start > this.#byLength.length * escapeBytesMax) return false;
    for (let at = start; at < end; at++) if (bytes[at] === 0x5c) return true;
    return false;
  }

  #findDecoded(bytes: Uint8Array, start: number, end: number): Text | null {
    const key = decodeString(bytes, start - 1, end + 1);
    if (key === null) return null;
    return this.#byLength[key.length]?.find((name) => name.text === key)?.text ?? null;
  }
}

/** `ignored` are bits that may differ: 0x20 is the difference between an upper-case and a lower-case letter. */
function isSame(bytes: Uint8Array, start: number, name: Uint8Array, ignored: number): boolean {
  for (let offset = 0; offset < name.length; offset++) {
    if ((((bytes[start + offset] ?? 0) ^ (name[offset] ?? 0)) & ~ignored) !== 0) return false;
  }
  return true;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a JSON string, its quotes within the span; null when its escapes or its UTF-8 are not valid. */
export function decodeString(bytes: Uint8Array, start: number, end: number): string | null {
  const value = decodeJson(bytes, start, end);
  return typeof value === 'string' ? value : null;
}

/** The value a span of JSON text stands for; undefined when it is not valid JSON in valid UTF-8. */
export function decodeJson(bytes: Uint8Array, start: number, end: number): unknown {
  try {
    return JSON.parse(strictUtf8.decode(bytes.subarray(start, end)));
  } catch {
    return undefined;
  }
}
