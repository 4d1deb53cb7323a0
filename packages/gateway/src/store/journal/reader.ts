import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Damage } from '../../ports/store.ts';
import { lineColumns } from '../columns.ts';
import {
  findHead,
  headBytes,
  readHead,
  readHeader,
  readLines,
  salvageLines,
  segmentName,
  segmentStart,
} from './format.ts';

/** Lines that follow each other, with the columns they were written with, and the place behind them. */
export interface Passage {
  readonly lines: readonly string[];
  readonly columns: readonly string[];
  /** The place at which their segment begins. */
  readonly segment: number;
  readonly end: number;
}

/** How far what is asked for reaches. */
export interface Extent {
  /**
   * Known to be durable up to here: what cannot be read before it is damaged. Left out, the end is where nothing readable follows;
   * and only in the journal of a process that is dead can that be told from a frame that is just being written.
   */
  readonly until?: number;
  readonly isDead?: boolean;
  /**
   * Tells how far another process has fed the journal, or null once its run is no more. Segments that are fed are taken away, also
   * while they are read: what is gone that way is no damage.
   */
  readonly fed?: () => number | null;
}

interface OpenSegment {
  readonly start: number;
  readonly path: string;
  readonly file: number;
  readonly columns: readonly string[];
  /** The fault of its header, which would have named the columns. */
  readonly fault: string | null;
}

const firstBytes = 256 * 1024;

/** The reading end of a run's journal. One thread uses it. */
export class JournalReader {
  readonly #directory: string;
  #segment: OpenSegment | null = null;
  #bytes = Buffer.allocUnsafeSlow(firstBytes);

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The places at which segments begin, ascending; empty when there is no such journal. */
  starts(): readonly number[] {
    let files: readonly string[];
    try {
      files = readdirSync(this.#directory);
    } catch {
      return [];
    }
    return files
      .map(segmentStart)
      .filter((start) => start !== null)
      .sort((a, b) => a - b);
  }

  /** The place behind the last byte that is there now: where to stop reading the journal of a process that writes on. */
  end(): number {
    const start = this.starts().at(-1);
    if (start === undefined) return 0;
    const segment = statSync(join(this.#directory, segmentName(start)), { throwIfNoEntry: false });
    return segment === undefined ? this.end() : start + segment.size;
  }

  /** Whole frames from a place on, until they are so many lines; null at the end of the journal. */
  read(place: number, linesMax: number, extent: Extent): Passage | Damage | null {
    if (extent.until !== undefined && place >= extent.until) return null;
    const starts = this.starts();
    const start = starts.findLast((each) => each <= place);
    if (start === undefined) {
      const kept = this.#readKept(place, linesMax);
      if (kept !== null) return kept;
      const [first] = starts;
      if (first === undefined && place === 0 && extent.until === undefined) return null;
      const fed = extent.fed?.();
      if (fed === null) return null;
      if (fed !== undefined && fed > place) return this.read(fed, linesMax, extent);
      return this.#missing(place, first ?? null);
    }
    const segment = this.#open(start);
    // Taken away since it was listed.
    if (segment === null) return this.read(place, linesMax, extent);
    if (segment.fault !== null) {
      const isFinal = extent.isDead || extent.until !== undefined;
      return isFinal ? { file: segment.path, offset: 0, detail: segment.fault } : null;
    }
    const passage = this.#readFrames(segment, place, linesMax);
    if (passage.end > place) return passage;
    if (extent.until !== undefined) return this.#judgeGap(segment, place);
    if (!extent.isDead) return null;
    return this.#judgeEnd(segment, place, starts.find((each) => each > place) ?? null);
  }

  /**
   * Reads what it can behind damage: the lines there that are whole, and the place where the journal goes on.
   */
  salvage(place: number): Passage {
    const starts = this.starts();
    const start = starts.findLast((each) => each <= place);
    const next = starts.find((each) => each > place) ?? null;
    if (start === undefined) return { lines: [], columns: lineColumns, segment: place, end: next ?? place };
    const segment = this.#open(start);
    if (segment === null) return this.salvage(place);
    const rest = this.#load(segment, place, Number.POSITIVE_INFINITY);
    const frame = segment.fault === null ? findHead(rest, 1, place) : null;
    const bytes = frame === null ? rest : rest.subarray(0, frame - place);
    const end = frame ?? next ?? place + bytes.length;
    return { lines: salvageLines(bytes), columns: segment.columns, segment: start, end };
  }

  close(): void {
    if (this.#segment !== null) closeSync(this.#segment.file);
    this.#segment = null;
  }

  /** A segment that somebody has taken away can be read as long as it is open here. */
  #readKept(place: number, linesMax: number): Passage | null {
    const segment = this.#segment;
    if (segment === null || segment.fault !== null || segment.start > place) return null;
    const passage = this.#readFrames(segment, place, linesMax);
    return passage.end > place ? passage : null;
  }

  #readFrames(segment: OpenSegment, place: number, linesMax: number): Passage {
    let bytes = this.#load(segment, place, firstBytes);
    const lines: string[] = [];
    let at = 0;
    while (lines.length < linesMax) {
      const body = readHead(bytes, at, place + at);
      if (body === null) break;
      const end = at + headBytes + body;
      if (end > bytes.length) {
        if (at > 0) break;
        // The first one may be larger than the buffer.
        bytes = this.#load(segment, place, end);
        if (end > bytes.length) break;
      }
      const read = readLines(bytes, at + headBytes, end);
      if (read === null) break;
      if (place + at > segment.start) lines.push(...read);
      at = end;
    }
    return { lines, columns: segment.columns, segment: segment.start, end: place + at };
  }

  /** More is durable than can be read here. Behind the last frame of a segment it is in the next one, which somebody took away. */
  #judgeGap(segment: OpenSegment, place: number): Damage {
    const rest = this.#load(segment, place, Number.POSITIVE_INFINITY);
    const isAtEnd = place > segment.start && rest.every((byte) => byte === 0);
    return isAtEnd ? this.#missing(place, null) : damaged(segment, place);
  }

  /** A dead process leaves at most one frame that is not whole, and nothing behind it: nobody was told that it is durable. */
  #judgeEnd(segment: OpenSegment, place: number, next: number | null): Damage | null {
    const rest = this.#load(segment, place, Number.POSITIVE_INFINITY);
    if (findHead(rest, 1, place) !== null) return damaged(segment, place);
    if (next === null) return null;
    return rest.some((byte) => byte !== 0) ? damaged(segment, place) : this.#missing(place, next);
  }

  /** Reads bytes of a segment from a place on, or as many as there are. Good until the next call. */
  #load({ file, start }: OpenSegment, place: number, bytesMax: number): Buffer {
    const wanted = Math.min(bytesMax, Math.max(0, fstatSync(file).size - (place - start)));
    if (wanted > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(wanted);
    let length = 0;
    while (length < wanted) {
      const read = readSync(file, this.#bytes, length, wanted - length, place - start + length);
      if (read === 0) break;
      length += read;
    }
    return this.#bytes.subarray(0, length);
  }

  /** Null when there is no such segment any more. */
  #open(start: number): OpenSegment | null {
    if (this.#segment?.start === start && this.#segment.fault === null) return this.#segment;
    this.close();
    const path = join(this.#directory, segmentName(start));
    let file: number;
    try {
      file = openSync(path, 'r');
    } catch (error) {
      if (!this.starts().includes(start)) return null;
      throw error;
    }
    const segment = { start, path, file, columns: lineColumns, fault: null };
    this.#segment = segment;
    const header = this.#readHeader(segment);
    this.#segment =
      typeof header === 'string' ? { ...segment, fault: header } : { ...segment, columns: header };
    return this.#segment;
  }

  /** The columns of a segment's lines, or what is wrong with its header. */
  #readHeader(segment: OpenSegment): readonly string[] | string {
    const bytes = this.#load(segment, segment.start, firstBytes);
    const end = headBytes + (readHead(bytes, 0, segment.start) ?? 0);
    const line = end > bytes.length ? undefined : readLines(bytes, headBytes, end)?.[0];
    if (line === undefined) return 'the header of the segment cannot be read';
    try {
      const columns = readHeader(line);
      return columns.join() === lineColumns.join() ? lineColumns : columns;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #missing(place: number, next: number | null): Damage {
    const file = join(this.#directory, segmentName(place));
    const rest = next === null ? 'nothing follows' : `the next segment is ${segmentName(next)}`;
    return { file, offset: 0, detail: `the segment that begins here is missing; ${rest}` };
  }
}

function damaged({ path, start }: OpenSegment, place: number): Damage {
  return { file: path, offset: place - start, detail: 'what stands there is not what was written' };
}
