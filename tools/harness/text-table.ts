/** The titles of a table and what each says of a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/** Lines of equal width, titles first, everything to the right. */
export function textTable<Row>(columns: Columns<Row>, rows: readonly Row[]): string[] {
  const lines = [Object.keys(columns), ...rows.map((row) => Object.values(columns).map((cell) => cell(row)))];
  const widths = Object.keys(columns).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines.map((line) => line.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '));
}
