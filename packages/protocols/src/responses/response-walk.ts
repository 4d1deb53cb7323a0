import type { JsonReader } from '../bytes/json-reader.ts';
import { decodeJson, decodeString, KeyNames } from '../bytes/key-names.ts';
import { isRecord, recordOf } from '../wire-values.ts';
import { OutputCount } from './output-count.ts';
import { responseMembers } from './wire.ts';

const names = new KeyNames(responseMembers);

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * A response object, as a whole answer or in an event, walked through: nothing is parsed but what is short, since it
 * repeats the caller's instructions and tools.
 */
export class ResponseWalk {
  readonly #bytes: Uint8Array;
  readonly #spans = new Map<Exclude<(typeof responseMembers)[number], 'output'>, Span>();
  readonly output = new OutputCount();
  /** Whether there is a list of items, empty or not. */
  hasOutputList = false;

  /** Takes the object at the reader, which is left behind it. */
  constructor(reader: JsonReader) {
    this.#bytes = reader.bytes;
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      const name = names.find(reader.bytes, reader.keyStart, reader.keyEnd);
      if (name === null) reader.skip();
      else if (name === 'output') this.#takeItems(reader);
      else this.#spans.set(name, { start: reader.at, end: reader.skip() });
    }
  }

  get id(): string | null {
    return this.#text('id');
  }

  get model(): string | null {
    return this.#text('model');
  }

  get status(): string | null {
    return this.#text('status');
  }

  get usage(): unknown {
    return this.#value('usage');
  }

  /** The error's own members; null when there is none. */
  get error(): unknown {
    return this.#value('error');
  }

  /** Why it stopped, in the words of the protocol: it is complete, or there is a reason why it is not. */
  get finishReason(): string | null {
    const reason = recordOf(this.#value('incomplete_details'))['reason'];
    if (this.status === 'completed') return 'completed';
    return typeof reason === 'string' && reason !== '' ? reason : null;
  }

  #takeItems(reader: JsonReader): void {
    this.hasOutputList = reader.enterArray();
    while (this.hasOutputList && reader.nextElement()) this.output.takeItem(reader);
  }

  #text(name: 'id' | 'model' | 'status'): string | null {
    const span = this.#spans.get(name);
    return span === undefined ? null : decodeString(this.#bytes, span.start, span.end) || null;
  }

  #value(name: 'usage' | 'error' | 'incomplete_details'): unknown {
    const span = this.#spans.get(name);
    const value = span === undefined ? null : decodeJson(this.#bytes, span.start, span.end);
    return isRecord(value) ? value : null;
  }
}
