import { DatabaseSync } from 'node:sqlite';
import { type NanoUsd, nanoUsd } from '../../money/money.ts';

/** Sums of one side. Null: that side says nothing of it, or not for all. */
export interface Side {
  readonly requests: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costNanoUsd: NanoUsd | null;
}

export type DriftKind = 'missing-here' | 'missing-upstream' | 'differs';

/** A request, or a day and model, of which the two sides do not say the same. */
export interface Drift {
  readonly kind: DriftKind;
  /** Id of the request, or the day. */
  readonly name: string;
  readonly model: string | null;
  readonly upstream: Side | null;
  readonly ours: Side | null;
}

export interface StatementTotals {
  readonly upstream: Side;
  readonly ours: Side;
  readonly rows: number;
  readonly counts: Readonly<Record<DriftKind, number>>;
}

/** Rows are written this many at once. */
const batchRows = 10_000;

const sides = ['upstream', 'ours'] as const;

const sumsOf = (side: string) => ['requests', 'input', 'output', 'cost'].map((column) => `${side}_${column}`);

/**
 * An upstream's statement beside ours, in a table of a temporary file that the system takes away: however many lines it has, they are
 * not held in memory.
 */
export class StatementTable implements Disposable {
  readonly #database: DatabaseSync;
  readonly #adds: Readonly<Record<(typeof sides)[number], ReturnType<DatabaseSync['prepare']>>>;
  readonly #find: ReturnType<DatabaseSync['prepare']>;
  #unwritten = 0;

  constructor() {
    this.#database = new DatabaseSync('', { readBigInts: true });
    this.#database.exec(`CREATE TABLE statement (
      name TEXT NOT NULL, model TEXT NOT NULL,
      ${sides
        .flatMap(sumsOf)
        .map((column) => `${column} INTEGER`)
        .join(', ')}, PRIMARY KEY (name, model)
    ) STRICT, WITHOUT ROWID; BEGIN`);
    const add = (side: string) => {
      const columns = sumsOf(side);
      // A first row of its side is as it is; with others, what one of them does not know the sum does not.
      const sums = columns.map(
        (column) =>
          `${column} = CASE WHEN ${side}_requests IS NULL THEN excluded.${column} ELSE ${column} + excluded.${column} END`,
      );
      return this.#database.prepare(`INSERT INTO statement (name, model, ${columns.join(', ')}) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET ${sums.join(', ')}`);
    };
    this.#find = this.#database.prepare('SELECT 1 FROM statement WHERE name = ? AND upstream_requests > 0');
    this.#adds = { upstream: add('upstream'), ours: add('ours') };
  }

  add(side: (typeof sides)[number], name: string, model: string, sums: Side): void {
    const { requests, inputTokens, outputTokens, costNanoUsd } = sums;
    this.#adds[side].run(name, model, requests, inputTokens, outputTokens, costNanoUsd);
    if (++this.#unwritten < batchRows) return;
    this.#database.exec('COMMIT; BEGIN');
    this.#unwritten = 0;
  }

  /** True when the upstream's side has it. */
  has(name: string): boolean {
    return this.#find.get(name) !== undefined;
  }

  /** The models that the upstream names. */
  models(): ReadonlySet<string> {
    const rows = this.#database
      .prepare('SELECT DISTINCT model FROM statement WHERE upstream_requests > 0')
      .all();
    return new Set(rows.map(({ model }) => String(model)));
  }

  totals(tolerance: NanoUsd): StatementTotals {
    const counts = this.#database
      .prepare(`SELECT kind, count(*) AS rows FROM (${drifts}) GROUP BY kind`)
      .all({ tolerance });
    const countOf = (kind: DriftKind) => Number(counts.find((row) => row['kind'] === kind)?.['rows'] ?? 0);
    const sums = sides.flatMap(sumsOf).map((column) => `sum(${column}) AS ${column}`);
    const row =
      this.#database.prepare(`SELECT count(*) AS rows, ${sums.join(', ')} FROM statement`).get() ?? {};
    const none: Side = { requests: 0, inputTokens: null, outputTokens: null, costNanoUsd: null };
    return {
      upstream: sideOf(row, 'upstream') ?? none,
      ours: sideOf(row, 'ours') ?? none,
      rows: Number(row['rows']),
      counts: {
        'missing-here': countOf('missing-here'),
        'missing-upstream': countOf('missing-upstream'),
        differs: countOf('differs'),
      },
    };
  }

  /** In the order of their names, so many at most. `tolerance` is by how much costs may differ. */
  drifts(tolerance: NanoUsd, limit: number): readonly Drift[] {
    const rows = this.#database
      .prepare(`${drifts} ORDER BY name, model LIMIT :limit`)
      .all({ tolerance, limit });
    return rows.map((row) => ({
      // The query gives these and no others.
      kind: String(row['kind']) as DriftKind,
      name: String(row['name']),
      model: row['model'] === '' ? null : String(row['model']),
      upstream: sideOf(row, 'upstream'),
      ours: sideOf(row, 'ours'),
    }));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

const differs = (column: string) => `upstream_${column} <> ours_${column}`;

const drifts = `SELECT * FROM (SELECT CASE WHEN ours_requests IS NULL THEN 'missing-here'
    WHEN upstream_requests IS NULL THEN 'missing-upstream'
    WHEN ${differs('input')} OR ${differs('output')} OR abs(upstream_cost - ours_cost) > :tolerance THEN 'differs' END AS kind, *
  FROM statement) WHERE kind IS NOT NULL`;

function sideOf(row: Readonly<Record<string, unknown>>, side: string): Side | null {
  const read = (column: string) => {
    const cell = row[`${side}_${column}`];
    return typeof cell === 'bigint' ? cell : null;
  };
  const numberOf = (cell: bigint | null) => (cell === null ? null : Number(cell));
  const [requests, cost] = [read('requests'), read('cost')];
  if (requests === null) return null;
  return {
    requests: Number(requests),
    inputTokens: numberOf(read('input')),
    outputTokens: numberOf(read('output')),
    costNanoUsd: cost === null ? null : nanoUsd(cost),
  };
}
