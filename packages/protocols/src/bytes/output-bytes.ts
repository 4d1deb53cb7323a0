/** Bytes of UTF-8 a JSON string stands for, its quotes within the span: escapes count as what they mean. */
export function writtenBytes(bytes: Uint8Array, start: number, end: number): number {
  let length = 0;
  for (let at = start + 1; at < end - 1; at++) {
    length++;
    if (bytes[at] !== 0x5c) continue;
    at++;
    if (bytes[at] !== 0x75) continue;
    length += escapedBytes(bytes, at + 1) - 1;
    at += 4;
  }
  return length;
}

/** Bytes of UTF-8 for `\uXXXX`, by its first digits; each half of a pair counts two of its four. */
function escapedBytes(bytes: Uint8Array, digits: number): number {
  const isZero = (offset: number) => bytes[digits + offset] === 0x30;
  if (isZero(0) && isZero(1) && (bytes[digits + 2] ?? 0) < 0x38) return 1;
  if (isZero(0) && (bytes[digits + 1] ?? 0) < 0x38) return 2;
  const isSurrogate = ((bytes[digits] ?? 0) | 0x20) === 0x64 && (bytes[digits + 1] ?? 0) >= 0x38;
  return isSurrogate ? 2 : 3;
}
