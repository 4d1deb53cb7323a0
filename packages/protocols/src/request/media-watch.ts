import { KeyNames } from '../bytes/json-text.ts';
import type { JsonReader, StringWatch } from '../bytes/scan.ts';
import type { Need } from '../request.ts';
import { sealMark } from '../translate/seals.ts';

/** Strings longer than this are noted, and may be data. Bytes. */
const longBytesMin = 4_096;
/** The first strings of a call are noted, as many as this: a conversation begins with them. */
const notedMax = 8;

/** Knows where long strings end that were passed once, so that to pass over them again costs nothing. */
export class LongStrings {
  readonly #ends = new Map<number, number>();

  /** `start` and `end` exclude the quotes. */
  note(start: number, end: number): void {
    if (this.#ends.size < notedMax) this.#ends.set(start, end);
  }

  /** Skips the value at hand; see `JsonReader.skip`. */
  skip(reader: JsonReader): number {
    const end = this.#ends.get(reader.at + 1);
    if (end === undefined) return reader.skip();
    reader.at = end + 1;
    return reader.at;
  }
}

/** Bytes of text per token, on the low side of what tokenizers make of prose with the JSON around it. */
const bytesPerToken = 4;
/** A picture, a sound or a file is taken for as much as this. Tokens; for admission only. */
const tokensPerPart = 1_000;
/** Its first bytes tell data from text: as many as this. */
const probeBytes = 256;

const typeKey = new KeyNames(['type']);

/**
 * Looks at a conversation on the way past it, for what admission and routing need: long strings, how much of them is data,
 * pictures, sounds and files, and whether a string begins with the mark of sealed state.
 */
export abstract class ConversationWatch implements StringWatch {
  readonly lengths: number;
  readonly longerThan = longBytesMin;
  readonly mark: Uint8Array;
  readonly longStrings = new LongStrings();
  readonly needs = new Set<Need>();
  hasMark = false;
  #parts = 0;
  #dataBytes = 0;

  constructor(lengths: number, mark: Uint8Array) {
    this.lengths = lengths;
    this.mark = mark;
  }

  see(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > longBytesMin) {
      this.longStrings.note(start, end);
      if (isData(bytes, start)) this.#dataBytes += end - start;
      return;
    }
    const need = this.needOf(bytes, start, end);
    if (need === null) return;
    this.needs.add(need);
    this.#parts++;
  }

  /** Tokens of the whole body: its text by bytes, its media by their number. For admission, never for a bill. */
  estimate(bodyBytes: number): number {
    return Math.ceil((bodyBytes - this.#dataBytes) / bytesPerToken) + this.#parts * tokensPerPart;
  }

  /** The ability that a model must have for the part that a short string says it is; null when it says nothing of the kind. */
  protected abstract needOf(bytes: Uint8Array, start: number, end: number): Need | null;
}

/** The types of message parts that not every model can read, prepared once for each protocol. */
interface MediaParts {
  readonly types: KeyNames<string>;
  readonly needs: ReadonlyMap<string, Need>;
  /** As `StringWatch` wants it. */
  readonly lengths: number;
}

export function mediaParts(needs: Readonly<Record<string, Need>>): MediaParts {
  const types = Object.keys(needs);
  return {
    types: new KeyNames(types),
    needs: new Map(Object.entries(needs)),
    lengths: types.reduce((bits, type) => bits | (1 << type.length), 0),
  };
}

/**
 * Finds media by the types of parts: the string `image_url` as the value of a `type` is a part of that type. (An object of
 * someone else's with such a `type`, deeper in a message, is taken for a part too: then a need is seen where there is none.)
 */
export class MediaWatch extends ConversationWatch {
  readonly #media: MediaParts;

  constructor(media: MediaParts) {
    super(media.lengths, sealMark);
    this.#media = media;
  }

  protected needOf(bytes: Uint8Array, start: number, end: number): Need | null {
    const type = this.#media.types.find(bytes, start, end);
    const need = type === null ? undefined : this.#media.needs.get(type);
    return need !== undefined && isValueOfType(bytes, start) ? need : null;
  }
}

/** Base64 and data URLs have neither spaces nor escapes nor letters beyond ASCII; long texts do. */
function isData(bytes: Uint8Array, start: number): boolean {
  for (let at = start; at < start + probeBytes; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= 0x20 || byte >= 0x7f || byte === 0x5c) return false;
  }
  return true;
}

/** The string whose text begins at `start` follows `"type":`. */
function isValueOfType(bytes: Uint8Array, start: number): boolean {
  const colon = skipSpaceBack(bytes, start - 2);
  const keyEnd = skipSpaceBack(bytes, colon - 1);
  const key = keyEnd - 'type'.length;
  return bytes[colon] === 0x3a && bytes[key - 1] === 0x22 && typeKey.find(bytes, key, keyEnd) !== null;
}

function skipSpaceBack(bytes: Uint8Array, at: number): number {
  while (at > 0 && (bytes[at] ?? 0) <= 0x20) at--;
  return at;
}
