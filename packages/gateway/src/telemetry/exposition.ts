/** A value with its labels. A decimal that a double cannot hold comes as text. */
export type Sample = LabelledCell<number | string>;

/** A counter or gauge in the Prometheus text format, version 0.0.4. */
export function exposeSamples(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  labelNames: readonly string[],
  samples: Iterable<Sample>,
): string {
  let text = headLines(type, name, help);
  for (const { labels, cell } of samples) text += `${name}${labelText(labelNames, labels)} ${cell}\n`;
  return text;
}

/** Histograms in the same format: cumulative buckets, sum and count. */
export function exposeHistograms(
  name: string,
  help: string,
  labelNames: readonly string[],
  histograms: Iterable<LabelledCell<Histogram>>,
): string {
  let text = headLines('histogram', name, help);
  const names = [...labelNames, 'le'];
  for (const { labels, cell } of histograms) {
    let count = 0;
    for (const [index, bucket] of cell.counts.entries()) {
      count += bucket;
      const bound = cell.bounds[index] ?? '+Inf';
      text += `${name}_bucket${labelText(names, [...labels, String(bound)])} ${count}\n`;
    }
    const own = labelText(labelNames, labels);
    text += `${name}_sum${own} ${cell.sum}\n${name}_count${own} ${count}\n`;
  }
  return text;
}

function headLines(type: string, name: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function labelText(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return '';
  return `{${names.map((name, index) => `${name}="${escapeLabel(values[index] ?? '')}"`).join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** Counts per bucket, with the sum: what a Prometheus histogram is made of. */
export interface Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** Not cumulative; one more than there are bounds, for what exceeds them all. */
  readonly counts: number[];
  sum: number;
}

export function createHistogram(bounds: readonly number[]): Histogram {
  return { bounds, counts: new Array<number>(bounds.length + 1).fill(0), sum: 0 };
}

export function recordValue(histogram: Histogram, value: number): void {
  let bucket = 0;
  while (bucket < histogram.bounds.length && value > (histogram.bounds[bucket] ?? 0)) bucket++;
  histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
  histogram.sum += value;
}

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

  /** A value of each cell, with its labels. */
  map<Value>(read: (cell: Cell) => Value): LabelledCell<Value>[] {
    return this.#entries.map(({ labels, cell }) => ({ labels, cell: read(cell) }));
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

/** Counts of what happens, by its labels. */
export class CountTable {
  readonly #table = new LabelTable(() => ({ value: 0 }));

  count(...labels: readonly string[]): void {
    this.#table.at(...labels).value++;
  }

  samples(): readonly Sample[] {
    return this.#table.map(({ value }) => value);
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
