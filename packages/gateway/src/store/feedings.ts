import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { segmentName } from './journal/format.ts';
import { JournalReader } from './journal/reader.ts';
import type { Books } from './sqlite/books.ts';
import { journalDirectory } from './sqlite/runs.ts';

/** The feeder's place in the journal of a run. */
export interface Feeding {
  readonly id: bigint;
  readonly reader: JournalReader;
  place: number;
}

/** The journals that the feeder reads, each open from its first line to its last. */
export class Feedings {
  readonly #file: string;
  readonly #now: () => number;
  readonly #books: Books;
  readonly #feedings = new Map<bigint, Feeding>();

  constructor({ file, now }: { readonly file: string; readonly now: () => number }, books: Books) {
    this.#file = file;
    this.#now = now;
    this.#books = books;
  }

  known(id: bigint): Feeding | undefined {
    return this.#feedings.get(id);
  }

  /** The store knows the place that one begins at. */
  of(id: bigint): Feeding {
    const known = this.#feedings.get(id);
    if (known !== undefined) return known;
    const reader = new JournalReader(journalDirectory(this.#file, id));
    const place = this.#books.fedOf(id) ?? reader.starts()[0] ?? 0;
    this.#books.adopt(id, place, this.#now());
    const feeding = { id, reader, place };
    this.#feedings.set(id, feeding);
    return feeding;
  }

  /** Segments that are fed, and durably so, are needed by nobody. */
  removeBefore({ id, reader }: Feeding, segment: number): void {
    const directory = journalDirectory(this.#file, id);
    for (const start of reader.starts())
      if (start < segment) rmSync(join(directory, segmentName(start)), { force: true });
  }

  forget(id: bigint): void {
    this.#feedings.get(id)?.reader.close();
    this.#feedings.delete(id);
  }

  forgetAll(): void {
    for (const id of [...this.#feedings.keys()]) this.forget(id);
  }
}
