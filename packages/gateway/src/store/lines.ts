import { type Cell, callColumns, divider, lineColumns, usageColumns } from './columns.ts';

/** The cells that a row may not lack, before its call has ended. */
const whileOpen: Readonly<Record<string, Cell>> = {
  status: 'open',
  ...Object.fromEntries(usageColumns.map((column) => [column, 0])),
  usage_source: 'none',
  charge_nano_usd: 0,
  leased: 0,
  duration_ms: 0,
  overhead_us: 0,
  attempts: '[]',
};

/** A line as the row it becomes: an entry's, or that of a call which has only begun. */
export interface Row {
  readonly isOpen: boolean;
  /** In the order of `callColumns`. */
  readonly cells: Cell[];
}

/**
 * Reads a line written with these columns, which may be those of another version: what it did not know is null, and what only
 * it knew is left out. Throws when it is no line.
 */
export function readLine(line: string, written: readonly string[]): Row {
  const [head = '', attempts, route] = line.slice(1).split(divider);
  const values: unknown = JSON.parse(head);
  const isOpen = line.startsWith('O');
  const isWhole = isOpen || (line.startsWith('E') && attempts !== undefined);
  if (!isWhole || !Array.isArray(values) || (!isOpen && values.length !== written.length))
    throw new Error('this is no line of the ledger');
  const cells = written === lineColumns ? (values as Cell[]) : rearrange(values as Cell[], written);
  if (isOpen)
    return { isOpen, cells: callColumns.map((column, at) => cells[at] ?? whileOpen[column] ?? null) };
  cells.push(attempts ?? '[]', route === undefined || route === '' ? null : route);
  return { isOpen, cells };
}

function rearrange(values: readonly Cell[], written: readonly string[]): Cell[] {
  const cells = new Map(written.map((column, at) => [column, values[at] ?? null]));
  return lineColumns.map((column) => cells.get(column) ?? whileOpen[column] ?? null);
}

/** True when a cell of the store, in whichever form it comes back, is the one of a line. */
export function isSameCell(stored: Cell, given: Cell): boolean {
  if (stored === null || given === null) return stored === given;
  return String(stored) === String(given);
}
