import type { DatabaseSync } from 'node:sqlite';
import type { Progress } from './journal/progress.ts';
import { JournalReader } from './journal/reader.ts';
import { fedOf, journalDirectory, knownRuns, type Run } from './sqlite/runs.ts';

const linesMax = 2_000;

/** Tells for a process that does not feed the store how far it is behind the journals. */
export class Arrivals {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #now: () => number;

  constructor(options: {
    readonly database: DatabaseSync;
    readonly file: string;
    readonly now: () => number;
  }) {
    this.#database = options.database;
    this.#file = options.file;
    this.#now = options.now;
  }

  /** The ends of all journals. */
  ends(own: { readonly run: Run; readonly progress: Progress } | null): ReadonlyMap<bigint, number> {
    const ends = new Map<bigint, number>();
    for (const { id, fed } of knownRuns(this.#database, this.#file)) {
      if (id === own?.run.id) continue;
      const reader = new JournalReader(journalDirectory(this.#file, id));
      const until = reader.end();
      let end = fed ?? reader.starts()[0] ?? 0;
      while (end < until) {
        const passage = reader.read(end, linesMax, { fed: () => fedOf(this.#database, id) });
        if (passage === null || 'detail' in passage) break;
        end = passage.end;
      }
      reader.close();
      ends.set(id, end);
    }
    if (own !== null) ends.set(own.run.id, own.progress.durable);
    return ends;
  }

  /** The runs whose journals are not fed as far as it is asked for. */
  shortOf(targets: ReadonlyMap<bigint, number>): readonly bigint[] {
    const fed = new Map(knownRuns(this.#database, this.#file).map((run) => [run.id, run.fed ?? 0]));
    // A run that is gone has been fed to its end.
    return [...targets].filter(([id, target]) => (fed.get(id) ?? target) < target).map(([id]) => id);
  }

  /** The moment up to which the journals of these runs are fed. */
  fedAtMs(behind: readonly bigint[]): number {
    const runs = knownRuns(this.#database, this.#file).filter(({ id }) => behind.includes(id));
    return Math.min(...runs.map(({ fedAtMs }) => fedAtMs), this.#now());
  }
}
