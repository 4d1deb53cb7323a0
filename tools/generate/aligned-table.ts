/** A Markdown table whose columns line up in the source, too; the first row is the heading. */
export function alignedTable(rows: readonly (readonly string[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = (escaped[0] ?? []).map((_, column) =>
    Math.max(3, ...escaped.map((row) => row[column]?.length ?? 0)),
  );
  const lines = escaped.map((row) => line(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))));
  lines.splice(1, 0, line(widths.map((width) => '-'.repeat(width))));
  return lines.join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
