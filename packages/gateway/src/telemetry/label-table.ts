/**
 * One cell per combination of label values, found by one look-up. Bounded: past `cellsMax` every new combination
 * shares one cell whose labels are all `other`, so that nobody can grow the exposition.
 */
export class LabelTable<Cell> {
  readonly #cells = new Map<string, LabelledCell<Cell>>();
  readonly #create: () => Cell;
  readonly #cellsMax: number;

  constructor(create: () => Cell, cellsMax = 1000) {
    this.#create = create;
    this.#cellsMax = cellsMax;
  }

  at(...labels: readonly string[]): Cell {
    return (this.#cells.get(labels.join('\n')) ?? this.#add(labels)).cell;
  }

  entries(): Iterable<LabelledCell<Cell>> {
    return this.#cells.values();
  }

  #add(labels: readonly string[]): LabelledCell<Cell> {
    const kept = this.#cells.size < this.#cellsMax ? labels : labels.map(() => 'other');
    const key = kept.join('\n');
    const entry = this.#cells.get(key) ?? { labels: kept, cell: this.#create() };
    this.#cells.set(key, entry);
    return entry;
  }
}

export interface LabelledCell<Cell> {
  readonly labels: readonly string[];
  readonly cell: Cell;
}
