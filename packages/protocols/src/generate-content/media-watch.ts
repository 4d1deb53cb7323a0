import type { StringWatch } from '../bytes/json-skip.ts';
import { skipSpace } from '../bytes/json-skip.ts';
import { KeyNames } from '../bytes/key-names.ts';
import type { Need } from '../inbound-request.ts';
import { LongStrings, longBytesMin } from '../request/long-strings.ts';
import { estimateTokens, isData } from '../request/media-watch.ts';

const typeKeys = new KeyNames(['mimeType', 'mime_type']);
const image = new KeyNames(['image/']);
const audio = new KeyNames(['audio/']);
const prefixBytes = 'image/'.length;

/**
 * Finds media among the contents by the strings they contain, without reading them: whatever has a `mimeType` is a
 * picture, a sound or a file.
 */
export class MimeTypeWatch implements StringWatch {
  readonly lengths = (1 << 'mimeType'.length) | (1 << 'mime_type'.length);
  readonly longerThan = longBytesMin;
  readonly longStrings = new LongStrings();
  readonly needs = new Set<Need>();
  #parts = 0;
  #dataBytes = 0;

  see(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > longBytesMin) {
      this.longStrings.note(start, end);
      if (isData(bytes, start)) this.#dataBytes += end - start;
      return;
    }
    if (typeKeys.find(bytes, start, end) === null) return;
    const colon = skipSpace(bytes, end + 1);
    const value = skipSpace(bytes, colon + 1);
    if (bytes[colon] !== 0x3a || bytes[value] !== 0x22) return;
    this.needs.add(needOf(bytes, value + 1));
    this.#parts++;
  }

  /** Tokens of the whole body: its text by bytes, its media by their number. */
  estimate(bodyBytes: number): number {
    return estimateTokens(bodyBytes - this.#dataBytes, this.#parts);
  }
}

/** Films and documents are files. */
function needOf(bytes: Uint8Array, start: number): Need {
  const end = start + prefixBytes;
  if (image.find(bytes, start, end) !== null) return 'image-input';
  return audio.find(bytes, start, end) !== null ? 'audio-input' : 'file-input';
}
