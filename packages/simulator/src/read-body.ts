import { Buffer } from 'node:buffer';
import type { JsonRecord } from './json.ts';
import { isRecord, parseJson } from './json.ts';

/** One file of a form. */
export interface FormFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/**
 * A request's body as a record: JSON, or a form whose texts are strings, whose files are `FormFile`s, and whose
 * names ending in brackets (`image[]`, `image[0]`) are gathered into lists without them. Null when it is neither.
 */
export function readBody(contentType: string, body: Buffer): JsonRecord | null {
  const boundary = /^multipart\/form-data;.*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  if (boundary !== null) return readForm(body, boundary[1] ?? boundary[2] ?? '');
  const value = parseJson(body.toString());
  return isRecord(value) ? value : null;
}

function readForm(body: Buffer, boundary: string): JsonRecord | null {
  const fields = new Map<string, unknown>();
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter has no line before it to end.
  const lines = Buffer.concat([Buffer.from('\r\n'), body]);
  let at = lines.indexOf(delimiter);
  for (;;) {
    const start = at + delimiter.length;
    const end = at < 0 ? -1 : lines.indexOf(delimiter, start);
    if (end < 0) return at >= 0 && isClosing(lines, start) ? Object.fromEntries(fields) : null;
    const part = readPart(lines.subarray(start + 2, end));
    if (part === null) return null;
    addField(fields, part.name, part.value);
    at = end;
  }
}

function isClosing(lines: Buffer, at: number): boolean {
  return lines.toString('latin1', at, at + 2) === '--';
}

interface Part {
  readonly name: string;
  readonly value: string | FormFile;
}

function readPart(part: Buffer): Part | null {
  const headEnd = part.indexOf('\r\n\r\n');
  const head = part.toString('utf8', 0, Math.max(0, headEnd));
  const name = /^content-disposition:[^\r\n]*;\s*name="([^"]*)"/im.exec(head)?.[1];
  if (name === undefined) return null;
  const bytes = part.subarray(headEnd + 4);
  const isFile = /;\s*filename="/i.test(head);
  const contentType = /^content-type:\s*(\S+)/im.exec(head)?.[1] ?? 'application/octet-stream';
  return { name, value: isFile ? { contentType, bytes } : bytes.toString() };
}

function addField(fields: Map<string, unknown>, name: string, value: unknown): void {
  const base = name.replace(/\[\d*\]$/, '');
  const earlier = fields.get(base);
  if (Array.isArray(earlier)) earlier.push(value);
  else fields.set(base, base === name && earlier === undefined ? value : [...present(earlier), value]);
}

function present(value: unknown): readonly unknown[] {
  return value === undefined ? [] : [value];
}
