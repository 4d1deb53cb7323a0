/** Rows as CSV with a line of titles. */
export function csvText(
  titles: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return [titles, ...rows].map((row) => `${row.map(csvCell).join(',')}\n`).join('');
}

/** Quoted where it must be (RFC 4180); a leading sign of a formula is defused, because spreadsheets run them (OWASP, CSV injection). */
export function csvCell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  // An amount may be negative, and is no formula.
  const isNumber = /^-?\d+(\.\d+)?$/.test(value);
  // Spreadsheets look behind blanks, and take the wide forms of the signs too.
  const isFormula = !isNumber && /^[\s\0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(value);
  const text = isFormula ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
