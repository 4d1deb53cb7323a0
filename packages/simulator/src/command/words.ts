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

/** Pieces an answer's bytes are cut into: all of one size, or of sizes drawn from a seed. */
export type Split =
  | { readonly kind: 'every'; readonly bytes: number }
  | { readonly kind: 'random'; readonly seed: number };

export interface Drip {
  readonly bytes: number;
  readonly everyMs: number;
}

export interface RetryAfter {
  /** `seconds` and `date` are the two forms of `retry-after`; `ms` is `retry-after-ms`; `info` is in the error's body. */
  readonly form: 'seconds' | 'date' | 'ms' | 'info';
  readonly delayMs: number;
}

/** A whole number from 0 to ten million. */
export function readCount(text: string): number | undefined {
  return /^\d{1,7}$/.test(text) ? Number(text) : undefined;
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

/** `200ms`, `1.5s` or `2m`, in milliseconds. */
export function readDuration(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)$/.exec(text);
  const unitMs = unitsMs[match?.[2] ?? ''];
  return match === null || unitMs === undefined ? undefined : Number(match[1]) * unitMs;
}

/** `50/s`, in events per second. */
export function readRate(text: string): number | undefined {
  const match = /^(\d{1,6}(?:\.\d{1,3})?)\/s$/.exec(text);
  const rate = Number(match?.[1]);
  return rate > 0 ? rate : undefined;
}

/** `30%`, as a probability. */
export function readShare(text: string): number | undefined {
  const match = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(text);
  const share = Number(match?.[1]) / 100;
  return share <= 1 ? share : undefined;
}

/** `7` for pieces of seven bytes, `seed:7` for sizes drawn from that seed. */
export function readSplit(text: string): Split | undefined {
  const isRandom = text.startsWith('seed:');
  const number = readCount(isRandom ? text.slice(5) : text);
  if (number === undefined) return undefined;
  if (isRandom) return { kind: 'random', seed: number };
  return number > 0 ? { kind: 'every', bytes: number } : undefined;
}

/** `5/10ms`: five bytes every ten milliseconds. */
export function readDrip(text: string): Drip | undefined {
  const [bytesText = '', everyText = ''] = text.split('/', 2);
  const bytes = readCount(bytesText);
  const everyMs = readDuration(everyText);
  return bytes === undefined || bytes === 0 || everyMs === undefined ? undefined : { bytes, everyMs };
}

/** `30s`, `date:30s`, `ms:1500ms` or `info:1500ms`. */
export function readRetryAfter(text: string): RetryAfter | undefined {
  const form = (['date', 'ms', 'info'] as const).find((name) => text.startsWith(`${name}:`));
  const delayMs = readDuration(form === undefined ? text : text.slice(form.length + 1));
  return delayMs === undefined ? undefined : { form: form ?? 'seconds', delayMs };
}
