import type { JsonReader } from '../bytes/json-reader.ts';
import { decodeJson, type KeyNames } from '../bytes/key-names.ts';

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The members of an object that are looked for; the megabytes beside them are stepped over. */
export class Members<Name extends string> {
  readonly #bytes: Uint8Array;
  readonly #spans: ReadonlyMap<Name, Span>;

  constructor(bytes: Uint8Array, spans: ReadonlyMap<Name, Span>) {
    this.#bytes = bytes;
    this.#spans = spans;
  }

  start(name: Name): number | null {
    return this.#spans.get(name)?.start ?? null;
  }

  /** The parsed value; null when absent, undefined when it is not valid JSON. For short values. */
  value(name: Name): unknown {
    const span = this.#spans.get(name);
    return span === undefined ? null : decodeJson(this.#bytes, span.start, span.end);
  }

  /** Whether it is a string with something in it, however long. */
  isText(name: Name): boolean {
    const span = this.#spans.get(name);
    return span !== undefined && this.#bytes[span.start] === 0x22 && span.end - span.start > 2;
  }
}

/** Reads the object at hand to its end; null when there is none. Of a member given twice the last one counts. */
export function readMembers<Name extends string>(
  reader: JsonReader,
  names: KeyNames<Name>,
): Members<Name> | null {
  const spans = new Map<Name, Span>();
  if (!reader.enterObject()) return null;
  while (reader.nextMember()) {
    const { bytes, keyStart, keyEnd, at: start } = reader;
    const name = names.findDecoded(bytes, keyStart, keyEnd);
    const end = reader.skip();
    if (name !== null) spans.set(name, { start, end });
  }
  return reader.failure === null ? new Members(reader.bytes, spans) : null;
}
