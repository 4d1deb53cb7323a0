import { crc32 } from 'node:zlib';

/**
 * How a journal lies on disk. A run, which is a process, has a folder of segments; each is named by where it begins among all bytes
 * of the run, so a place in a journal is one number and a segment that is missing shows. A segment is a sequence of frames,
 * and behind the last one zeros. A frame is what one write made durable: a head, and lines. The first frame of a segment
 * names the columns that its lines have.
 *
 *     head   mark · place of the frame, its low 32 bits · bytes of lines · CRC-32 of these three        4 × 4 bytes
 *     line   bytes of text · CRC-32 of the text · text                                             4 + 4 + n bytes
 *
 * CRC-32 and not CRC-32C, because the runtime has the former in native code; at this length both find the same. Each line has
 * its own, so that one that cannot be read costs no other; the head holds its place, so that nothing is ever taken for a
 * frame but where it was written.
 */
export const headBytes = 16;
export const lineHeadBytes = 8;
const mark = 0x316a_6748;

/** Writes the head of a frame over the first bytes of its buffer. */
export function writeHead(frame: Buffer, place: number, length: number): void {
  frame.writeUInt32LE(mark, 0);
  frame.writeUInt32LE(place % 2 ** 32, 4);
  frame.writeUInt32LE(length - headBytes, 8);
  frame.writeUInt32LE(crc32(frame.subarray(0, 12)), 12);
}

/** Writes a line where the frame has room for it, which is three bytes for each of its characters. Returns where it ends. */
export function writeLine(frame: Buffer, at: number, line: string): number {
  const from = at + lineHeadBytes;
  const length = frame.write(line, from, 'utf8');
  frame.writeUInt32LE(length, at);
  frame.writeUInt32LE(crc32(frame.subarray(from, from + length)), at + 4);
  return from + length;
}

/** A frame of these lines, for what is not written in a hurry. */
export function frameOf(lines: readonly string[], place: number): Buffer {
  const room = lines.reduce((sum, line) => sum + lineHeadBytes + 3 * line.length, headBytes);
  const frame = Buffer.alloc(room);
  let end = headBytes;
  for (const line of lines) end = writeLine(frame, end, line);
  writeHead(frame, place, end);
  return frame.subarray(0, end);
}

/** Bytes of the lines of the frame whose head is here; null when there is none. */
export function readHead(bytes: Buffer, at: number, place: number): number | null {
  if (at + headBytes > bytes.length || bytes.readUInt32LE(at) !== mark) return null;
  if (bytes.readUInt32LE(at + 4) !== place % 2 ** 32) return null;
  if (bytes.readUInt32LE(at + 12) !== crc32(bytes.subarray(at, at + 12))) return null;
  return bytes.readUInt32LE(at + 8);
}

/** The text of the line that is here and where it ends; null when it is damaged. */
function readText(bytes: Buffer, at: number, end: number): { text: string; end: number } | null {
  if (at + lineHeadBytes > end) return null;
  const from = at + lineHeadBytes;
  const to = from + bytes.readUInt32LE(at);
  if (to === from || to > end || bytes.readUInt32LE(at + 4) !== crc32(bytes.subarray(from, to))) return null;
  return { text: bytes.toString('utf8', from, to), end: to };
}

/** All lines between two places of a buffer; null when one of them is damaged. */
export function readLines(bytes: Buffer, from: number, to: number): readonly string[] | null {
  const lines: string[] = [];
  for (let at = from; at < to; ) {
    const line = readText(bytes, at, to);
    if (line === null) return null;
    lines.push(line.text);
    at = line.end;
  }
  return lines;
}

/** The lines of entries and openings that can still be read, wherever they begin. */
export function salvageLines(bytes: Buffer): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    // Only what begins as a line does is worth the sum over all that its length would cover.
    const isLikely = /[EO]/.test(String.fromCharCode(bytes[at + lineHeadBytes] ?? 0));
    const line = isLikely ? readText(bytes, at, bytes.length) : null;
    if (line !== null) lines.push(line.text);
    at = line?.end ?? at + 1;
  }
  return lines;
}

/** The place of the next frame at or behind one, as far as the buffer goes; null when there is none. */
export function findHead(bytes: Buffer, from: number, bufferPlace: number): number | null {
  for (let at = bytes.indexOf(markBytes, from); at >= 0; at = bytes.indexOf(markBytes, at + 1)) {
    if (readHead(bytes, at, bufferPlace + at) !== null) return bufferPlace + at;
  }
  return null;
}

const markBytes = Buffer.from([mark & 0xff, (mark >> 8) & 0xff, (mark >> 16) & 0xff, mark >>> 24]);

const version = 1;

/** The first line of a segment: by what version of the format and with which columns the others are written. */
export function headerLine(columns: readonly string[]): string {
  return `H${JSON.stringify({ version, columns })}`;
}

/** The columns that a header names. Throws when it is of a version that is not known here. */
export function readHeader(line: string): readonly string[] {
  // `headerLine` has written it, of this version or another, which its first member tells.
  const header = JSON.parse(line.slice(1)) as {
    readonly version: number;
    readonly columns: readonly string[];
  };
  if (header.version !== version) throw new Error('the journal was written by another version of Headgate');
  return header.columns;
}

export function segmentName(start: number): string {
  return String(start).padStart(16, '0');
}

/** The place at which the segment of this file begins; null when it is no segment. */
export function segmentStart(file: string): number | null {
  return /^\d{16}$/.test(file) ? Number(file) : null;
}
