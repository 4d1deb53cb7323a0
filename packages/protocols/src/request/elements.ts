import { skipString } from '../bytes/scan.ts';
import { type Fault, fault } from '../error.ts';

/**
 * Values of one request that is translated: whatever holds them, each costs about a microsecond. Several times what the longest sessions
 * of agents have; a text is one, however long it is.
 */
const elementsMax = 250_000;

/** The same of one answer, or one frame of it: no model writes a tenth of them. */
const answerElementsMax = 20_000;

/** Tells if an answer is more than is read, since each of its elements takes its time of all calls. */
export function isBeyondReading(bytes: Uint8Array): boolean {
  return bytes.length > answerElementsMax && countElements(bytes, answerElementsMax) > answerElementsMax;
}

const quote = 0x22;
const comma = 0x2c;

/** Objects, lists and what is in them, as far as `max` and one more. Of what is no JSON it says no more than that. */
export function countElements(bytes: Uint8Array, max: number): number {
  let count = 0;
  let at = 0;
  while (at < bytes.length && count <= max) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) {
      const end = skipString(bytes, at);
      if (end < 0) return count;
      at = end;
      continue;
    }
    // In ASCII the brackets that open are 0x5b, with 0x20 added or not.
    if (byte === comma || (byte | 0x20) === 0x7b) count++;
    at++;
  }
  return count;
}

/** Why the request is not translated, where it has more parts than anybody means; null where it has not. */
export function tooManyElements(body: Uint8Array): Fault | null {
  return countElements(body, elementsMax) <= elementsMax ? null : manyElements;
}

const manyElements = fault('invalid_request', {
  message: `The request body has more than ${elementsMax.toLocaleString('en-US')} members and elements, which no channel that serves this model now can take; send fewer messages, parts or tools, or smaller schemas.`,
});
