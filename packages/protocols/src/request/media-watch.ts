import type { StringWatch } from '../bytes/json-skip.ts';
import { KeyNames } from '../bytes/key-names.ts';
import type { Need } from '../inbound-request.ts';
import { LongStrings, longBytesMin } from './long-strings.ts';

/** Bytes of text per token, on the low side of what tokenizers make of prose with the JSON around it. */
const bytesPerToken = 4;
/** What a picture, a sound or a file is taken for. Tokens; for admission only. */
const tokensPerPart = 1_000;
/** So many of its first bytes tell data from text. */
const probeBytes = 256;

const typeKey = new KeyNames(['type']);

/** The types of message parts that not every model can read, prepared once for each protocol. */
export interface MediaParts {
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
 * Finds pictures, sounds and files among the messages by the strings they contain, without reading the messages: the
 * string `image_url` as the value of a `type` is a part of that type. (An object of someone else's with such a `type`,
 * deeper in a message, is taken for a part too: then a need is seen where there is none.)
 */
export class MediaWatch implements StringWatch {
  readonly lengths: number;
  readonly longerThan = longBytesMin;
  readonly longStrings = new LongStrings();
  readonly needs = new Set<Need>();
  readonly #media: MediaParts;
  #parts = 0;
  #dataBytes = 0;

  constructor(media: MediaParts) {
    this.lengths = media.lengths;
    this.#media = media;
  }

  see(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > longBytesMin) {
      this.longStrings.note(start, end);
      if (isData(bytes, start)) this.#dataBytes += end - start;
      return;
    }
    const type = this.#media.types.find(bytes, start, end);
    const need = type === null ? undefined : this.#media.needs.get(type);
    if (need === undefined || !isValueOfType(bytes, start)) return;
    this.needs.add(need);
    this.#parts++;
  }

  /** Tokens of the whole body: its text by bytes, its media by their number. */
  estimate(bodyBytes: number): number {
    return estimateTokens(bodyBytes - this.#dataBytes, this.#parts);
  }
}

/** Tokens, of so much text and so many pictures, sounds and files. */
export function estimateTokens(textBytes: number, parts: number): number {
  return Math.ceil(textBytes / bytesPerToken) + parts * tokensPerPart;
}

/** Base64 and data URLs have neither spaces nor escapes nor letters beyond ASCII; long texts do. */
export function isData(bytes: Uint8Array, start: number): boolean {
  for (let at = start; at < start + probeBytes; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= 0x20 || byte >= 0x7f || byte === 0x5c) return false;
  }
  return true;
}

/** Whether the string whose text begins at `start` follows `"type":`. */
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
