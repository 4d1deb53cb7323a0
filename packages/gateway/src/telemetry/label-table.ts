/**
 * One cell per combination of label values, found by one look-up per label: joining them into one key first costs
 * three times as much. Bounded: past `cellsMax` every new combination
 * shares one cell whose labels are all `other`, so that nobody can grow the exposition.
 */
export class LabelTable<Cell> {
  readonly #root: Branch<Cell> = { branches: new Map(), entry: null };
  readonly #entries: LabelledCell<Cell>[] = [];
  readonly #create: () => Cell;
  readonly #cellsMax: number;

  constructor(create: () => Cell, cellsMax = 1000) {
    this.#create = create;
    this.#cellsMax = cellsMax;
  }

  at(...labels: readonly string[]): Cell {
    return (this.#find(labels)?.entry ?? this.#add(labels)).cell;
  }

  entries(): readonly LabelledCell<Cell>[] {
    return this.#entries;
  }

  #find(labels: readonly string[]): Branch<Cell> | undefined {
    let branch: Branch<Cell> | undefined = this.#root;
    for (const label of labels) branch = branch?.branches.get(label);
    return branch;
  }

  #add(labels: readonly string[]): LabelledCell<Cell> {
    const kept = this.#entries.length < this.#cellsMax ? labels : labels.map(() => 'other');
    const branch = this.#grow(kept);
    if (branch.entry !== null) return branch.entry;
    branch.entry = { labels: kept, cell: this.#create() };
    this.#entries.push(branch.entry);
    return branch.entry;
  }

  #grow(labels: readonly string[]): Branch<Cell> {
    let branch = this.#root;
    for (const label of labels) {
      const next: Branch<Cell> = branch.branches.get(label) ?? { branches: new Map(), entry: null };
      branch.branches.set(label, next);
      branch = next;
    }
    return branch;
  }
}

interface Branch<Cell> {
  readonly branches: Map<string, Branch<Cell>>;
  entry: LabelledCell<Cell> | null;
}

export interface LabelledCell<Cell> {
  readonly labels: readonly string[];
  readonly cell: Cell;
}
