import { decodeJson, decodeSpan, decodeString, KeyNames, type TextSpan } from '../bytes/json-text.ts';
import { JsonReader } from '../bytes/scan.ts';
import { isRecord, recordOf } from '../wire-values.ts';
import { OutputCount } from './meter.ts';
import { type EventType, eventMembers, eventTypes, responseMembers } from './wire.ts';

const memberNames = new KeyNames(eventMembers);
const typeNames = new KeyNames<EventType>(eventTypes);
const deltaEnding = new KeyNames(['.delta']);
const imageType = new KeyNames(['response.image_generation_call.partial_image']);

/** Walks one event of a stream and notes what is in it. A stream passes through here event by event. */
export class EventWalk {
  /** The bytes are exactly one JSON object. */
  readonly isWhole: boolean;
  readonly #reader: JsonReader;
  readonly #bytes: Uint8Array;
  readonly #valueStart: number;
  #errorStart = 0;
  #errorEnd = 0;
  /** The output in the event's item, part, delta or text. */
  readonly output = new OutputCount();
  response: ResponseWalk | null = null;
  /** Null for the types that are not told apart. */
  type: EventType | null = null;
  hasType = false;
  /** The event brings the next piece of a text. */
  isDelta = false;
  /** The event brings a picture. */
  isImage = false;

  constructor(bytes: Uint8Array, at: number) {
    const reader = new JsonReader(bytes, at);
    this.#bytes = bytes;
    this.#valueStart = at;
    this.#reader = reader;
    const isObject = reader.enterObject();
    while (isObject && reader.nextMember()) this.#member();
    this.isWhole = isObject && reader.isAtEnd();
  }

  /** The whole event, parsed. */
  get value(): unknown {
    return decodeSpan(this.#bytes, { start: this.#valueStart, end: this.#bytes.length });
  }

  /** An object under `error`. */
  get hasError(): boolean {
    return this.#errorEnd !== 0;
  }

  get error(): unknown {
    return this.hasError ? decodeJson(this.#bytes, this.#errorStart, this.#errorEnd) : null;
  }

  /** Items with a fee, parsed. */
  get feeItems(): readonly unknown[] {
    return this.output.feeItems.map((span) => decodeSpan(this.#bytes, span));
  }

  /** For events whose type stands in the frame alone. */
  nameType(name: string): void {
    this.hasType = true;
    this.type = eventTypes.find((type) => type === name) ?? null;
    this.isDelta = name.endsWith('.delta');
  }

  #member(): void {
    const reader = this.#reader;
    const name = memberNames.find(this.#bytes, reader.keyStart, reader.keyEnd);
    if (name === null) this.output.takeMember(reader);
    else if (name === 'type') this.#takeType();
    else if (name === 'response') this.response = new ResponseWalk(reader);
    else if (name === 'item') this.output.takeItem(reader);
    else this.#noteError();
  }

  #takeType(): void {
    const isString = this.#reader.kind === 'string';
    const start = this.#reader.at + 1;
    const end = this.#reader.skip() - 1;
    if (!isString || end < start) return;
    this.hasType = true;
    this.isDelta = deltaEnding.find(this.#bytes, end - '.delta'.length, end) !== null;
    if (this.isDelta) return;
    this.type = typeNames.find(this.#bytes, start, end);
    this.isImage = imageType.find(this.#bytes, start, end) !== null;
  }

  #noteError(): void {
    const isObject = this.#reader.kind === 'object';
    const start = this.#reader.at;
    const end = this.#reader.skip();
    if (!isObject || end === -1) return;
    this.#errorStart = start;
    this.#errorEnd = end;
  }
}

const decoder = new TextDecoder();
const names = new KeyNames(responseMembers);

/**
 * A response object, as a whole answer or in an event, walked through: nothing is parsed but what is short, since it
 * repeats the caller's instructions and tools.
 */
export class ResponseWalk {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #end: number = 0;
  readonly #spans = new Map<Exclude<(typeof responseMembers)[number], 'output'>, TextSpan>();
  readonly output = new OutputCount();
  /** There is a list of items, empty or not. */
  hasOutputList = false;

  /** Takes the object at the reader, which is left behind it. */
  constructor(reader: JsonReader) {
    this.#bytes = reader.bytes;
    this.#start = reader.at;
    if (!reader.enterObject()) return;
    while (reader.nextMember()) {
      const name = names.find(reader.bytes, reader.keyStart, reader.keyEnd);
      if (name === null) reader.skip();
      else if (name === 'output') this.#takeItems(reader);
      else this.#spans.set(name, { start: reader.at, end: reader.skip() });
    }
    this.#end = reader.at;
  }

  /** As it came. */
  get text(): string {
    return decoder.decode(this.#bytes.subarray(this.#start, this.#end));
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

  get service(): string | null {
    return this.#text('service_tier');
  }

  /** Items with a fee, parsed. */
  get feeItems(): readonly unknown[] {
    return this.output.feeItems.map((span) => decodeSpan(this.#bytes, span));
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

  #text(name: 'id' | 'model' | 'status' | 'service_tier'): string | null {
    const span = this.#spans.get(name);
    return span === undefined ? null : decodeString(this.#bytes, span.start, span.end) || null;
  }

  #value(name: 'usage' | 'error' | 'incomplete_details'): unknown {
    const span = this.#spans.get(name);
    const value = span === undefined ? null : decodeJson(this.#bytes, span.start, span.end);
    return isRecord(value) ? value : null;
  }
}
