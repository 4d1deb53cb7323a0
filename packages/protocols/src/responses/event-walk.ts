import { JsonReader } from '../bytes/json-reader.ts';
import { decodeJson, KeyNames } from '../bytes/key-names.ts';
import { OutputCount } from './output-count.ts';
import { ResponseWalk } from './response-walk.ts';
import { type EventType, eventMembers, eventTypes } from './wire.ts';

const memberNames = new KeyNames(eventMembers);
const typeNames = new KeyNames<EventType>(eventTypes);
const deltaEnding = new KeyNames(['.delta']);
const imageType = new KeyNames(['response.image_generation_call.partial_image']);

/** Walks one event of a stream and notes what is in it. A stream passes through here event by event. */
export class EventWalk {
  readonly #reader = new JsonReader(new Uint8Array(0));
  #bytes: Uint8Array = new Uint8Array(0);
  #valueStart = 0;
  #errorStart = 0;
  #errorEnd = 0;
  /** What the event's item, part, delta or text says. */
  readonly output = new OutputCount();
  response: ResponseWalk | null = null;
  /** Null for the types that are not told apart. */
  type: EventType | null = null;
  hasType = false;
  /** Whether it brings the next piece of a text. */
  isDelta = false;
  /** Whether it brings a picture. */
  isImage = false;

  /** False when the bytes from `at` on are not exactly one JSON object. */
  walk(bytes: Uint8Array, at: number): boolean {
    this.#start(bytes, at);
    const reader = this.#reader;
    if (!reader.enterObject()) return false;
    while (reader.nextMember()) this.#member();
    return reader.isAtEnd();
  }

  /** The whole event, parsed. */
  get value(): unknown {
    return decodeJson(this.#bytes, this.#valueStart, this.#bytes.length);
  }

  /** An object under `error`. */
  get hasError(): boolean {
    return this.#errorEnd !== 0;
  }

  get error(): unknown {
    return this.hasError ? decodeJson(this.#bytes, this.#errorStart, this.#errorEnd) : null;
  }

  /** For events whose type stands in the frame alone. */
  nameType(name: string): void {
    this.hasType = true;
    this.type = eventTypes.find((type) => type === name) ?? null;
    this.isDelta = name.endsWith('.delta');
  }

  #start(bytes: Uint8Array, at: number): void {
    this.#bytes = bytes;
    this.#valueStart = at;
    this.#errorEnd = 0;
    this.#reader.reset(bytes, at);
    this.output.reset();
    this.response = null;
    this.type = null;
    this.hasType = false;
    this.isDelta = false;
    this.isImage = false;
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
