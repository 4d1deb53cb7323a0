/** A record of a file, or why there is none at that line. */
export type CsvRecord =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly problem: string };

/** A record may have line breaks within quotes; beyond so many characters a quote was never closed. */
const recordCharactersMax = 256 * 1024;

/**
 * Reads CSV as RFC 4180 has it, in CRLF or LF, with or without a byte order mark, as it comes: no more than one record is held. Lines are
 * counted from 1, a record is named by its first one, and empty lines are passed over.
 */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<CsvRecord> {
  const assembly = new Assembly();
  for await (const line of linesOf(chunks)) {
    const record = assembly.take(line);
    if (record !== null) yield record;
    if (assembly.isLost) return;
  }
  const last = assembly.finish();
  if (last !== null) yield last;
}

/** Lines without their ends. UTF-8 that is not valid becomes a replacement character, which is no number and no id of ours. */
async function* linesOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const text = rest + decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      yield text.slice(start, end);
      start = end + 1;
    }
    rest = text.slice(start);
    // A file without line breaks is not held whole either.
    if (rest.length > recordCharactersMax) {
      yield rest;
      rest = '';
    }
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

/** Puts lines together where a quote goes on. */
class Assembly {
  isLost = false;
  #line = 0;
  #first = 0;
  /** The lines of a record whose quote goes on; none is looked at twice. */
  #open: string[] = [];
  #characters = 0;

  take(text: string): CsvRecord | null {
    this.#line++;
    const wasOpen = this.#open.length > 0;
    if (!wasOpen) {
      this.#first = this.#line;
      this.#characters = 0;
    }
    this.#characters += text.length + 1;
    if (this.#characters > recordCharactersMax) {
      this.isLost = true;
      return this.#unclosed();
    }
    const isOpen = hasOddQuotes(text) !== wasOpen;
    if (isOpen) {
      this.#open.push(text);
      return null;
    }
    const joined = wasOpen ? [...this.#open, text].join('\n') : text;
    this.#open = [];
    return recordOf(this.#first, joined.endsWith('\r') ? joined.slice(0, -1) : joined);
  }

  finish(): CsvRecord | null {
    return this.#open.length === 0 ? null : this.#unclosed();
  }

  #unclosed(): CsvRecord {
    return { line: this.#first, problem: 'a quote is opened and never closed' };
  }
}

/** True where a quote is opened and not closed, or the other way round. */
function hasOddQuotes(text: string): boolean {
  let isOdd = false;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) isOdd = !isOdd;
  return isOdd;
}

function recordOf(line: number, text: string): CsvRecord | null {
  if (text === '') return null;
  if (!text.includes('"')) return { line, cells: text.split(',') };
  const cells: string[] = [];
  // A quoted cell, or one without quotes, up to the comma behind it.
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const found = cell.exec(text);
    if (found === null) return { line, problem: 'a quote stands within a cell that is not quoted' };
    const [, quoted, plain = '', end] = found;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '') return { line, cells };
  }
}
