/** Reads the words of a command once each and remembers what is wrong with them. */
export class WordReader {
  readonly #words = new Map<string, string>();
  readonly #known = new Set<string>();
  #malformed: string | null = null;

  /** Later texts override the words of earlier ones. */
  constructor(texts: readonly string[]) {
    for (const text of texts) {
      for (const word of text.split(',')) this.#add(word.trim());
    }
  }

  text(name: string): string | undefined {
    this.#known.add(name);
    return this.#words.get(name);
  }

  flag(name: string): boolean {
    return this.value(name, readFlag) ?? false;
  }

  /** The word's value, or undefined when it is absent or malformed; the latter is a problem. */
  value<Value>(name: string, read: (text: string) => Value | undefined): Value | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = read(text);
    if (value === undefined) this.#malformed ??= `${name}=${text}`;
    return value;
  }

  /** The first malformed or unknown word as a sentence; null when all is well. Ask after reading every word. */
  problem(): string | null {
    if (this.#malformed !== null) return `The simulator cannot read '${this.#malformed}'.`;
    const unknown = this.#words.keys().find((name) => !this.#known.has(name));
    return unknown === undefined ? null : `The simulator does not know the word '${unknown}'.`;
  }

  #add(word: string): void {
    if (word === '') return;
    const equals = word.indexOf('=');
    const name = equals < 0 ? word : word.slice(0, equals);
    this.#words.set(name, equals < 0 ? '' : this.#decode(word.slice(equals + 1)));
  }

  #decode(text: string): string {
    try {
      return decodeURIComponent(text);
    } catch {
      // A stray per cent sign, as in `share=30%`, stands for itself.
      return text;
    }
  }
}

function readFlag(text: string): boolean | undefined {
  if (text === '' || text === 'yes') return true;
  return text === 'no' ? false : undefined;
}
