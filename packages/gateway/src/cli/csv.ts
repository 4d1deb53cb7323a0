/** Rows as CSV with a line of titles. */
export function csvText(
  titles: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return [titles, ...rows].map((row) => `${row.map(csvCell).join(',')}\n`).join('');
}

/** Quoted where it must be; a leading sign of a formula is defused, because spreadsheets run them (OWASP, CSV injection). */
export function csvCell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  // An amount may be negative, and is no formula.
  const isNumber = /^-?\d+(\.\d+)?$/.test(value);
  const text = !isNumber && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
