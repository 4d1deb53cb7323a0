import { stripVTControlCharacters } from 'node:util';

interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
}

/** A column of numbers. */
export function right(title: string): Column {
  return { title, align: 'right' };
}

const usualGap = '   ';

/** Rows in columns as wide as their widest cell, or wider where that is asked for, under dim titles. No lines are drawn: alignment is enough. */
export function tableText(
  titles: readonly (string | Column)[],
  given: readonly (readonly string[])[],
  color: boolean,
  gap = usualGap,
  widthsMin: readonly number[] = [],
): string {
  // A text of others must not look like a row of ours.
  const rows = given.map((cells) => cells.map((cell) => cell.replaceAll(/[\r\n]+/g, ' ')));
  const columns = titles.map((title) =>
    typeof title === 'string' ? { title, align: 'left' as const } : title,
  );
  const widths = columns.map((column, index) =>
    Math.max(
      column.title.length,
      widthsMin[index] ?? 0,
      ...rows.map((row) => visibleLength(row[index] ?? '')),
    ),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, index) => padded(cells[index] ?? '', widths[index] ?? 0, align))
      .join(gap)
      .trimEnd();
  const head = line(columns.map((column) => column.title.toUpperCase()));
  return [color ? dim(head) : head, ...rows.map(line)].join('\n');
}

/** A text of so many characters at the most: what is left out is marked. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/** Characters of a line where nobody says how many there are. */
export const widthUsual = 80;

type Cells<Row> = Readonly<Record<string, (row: Row) => string>>;

/**
 * A table that is no wider than a line: the first columns always, and of the others, in their order, those that find room. What is not
 * shown is named under it.
 */
export function fittingTable<Row>(
  rows: readonly Row[],
  always: Cells<Row>,
  others: Cells<Row>,
  { color, columns = widthUsual }: { readonly color: boolean; readonly columns?: number | undefined },
): string {
  const textOf = (shown: Cells<Row>) =>
    tableText(
      Object.keys(shown),
      rows.map((row) => Object.values(shown).map((cell) => cell(row))),
      color,
      '  ',
    );
  const fits = (shown: Cells<Row>) =>
    textOf(shown)
      .split('\n')
      .every((line) => visibleLength(line) <= columns);
  let shown = always;
  const left: string[] = [];
  for (const [name, cell] of Object.entries(others)) {
    const wider = { ...shown, [name]: cell };
    if (fits(wider)) shown = wider;
    else left.push(name);
  }
  if (left.length === 0) return textOf(shown);
  const note = `Also known, in a wider window or with --json: ${left.join(', ')}.`;
  return `${textOf(shown)}\n${color ? dim(note) : note}`;
}

/** A table with words under those of its rows that have any, broken into lines of the width. */
export function tableWithNotes(
  titles: Parameters<typeof tableText>[0],
  rows: Parameters<typeof tableText>[1],
  notes: readonly (string | null)[],
  { color, columns = widthUsual }: { readonly color: boolean; readonly columns?: number | undefined },
  gap = usualGap,
): string {
  const [head = '', ...lines] = tableText(titles, rows, color, gap).split('\n');
  const body = lines.flatMap((line, index) => {
    const words = wrapped(notes[index] ?? '', columns - 2).map((part) => `  ${part}`);
    return [line, ...words.map((part) => (color ? dim(part) : part))];
  });
  return [head, ...body].join('\n');
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((each) => each !== '')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

function padded(cell: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, width - visibleLength(cell)));
  return align === 'right' ? space + cell : cell + space;
}

function visibleLength(cell: string): number {
  return stripVTControlCharacters(cell).length;
}

export function dim(text: string): string {
  return `\u001b[2m${text}\u001b[22m`;
}

/** `● active`: a dot in the colour of how things stand, or the word alone where there is no colour. */
export function statusText(word: string, mood: 'good' | 'bad' | 'idle', color: boolean): string {
  const codes = { good: 32, bad: 31, idle: 33 } as const;
  return color ? `\u001b[${codes[mood]}m●\u001b[39m ${word}` : word;
}
