import { type ReactNode, type RefObject, useEffect, useMemo, useState } from 'react';

/** A column: what its head says, and what stands in it. */
export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the end. */
  readonly align?: 'end';
  /** In pixels, or `grow` (the usual) for a part of what is left. */
  readonly width?: number | 'grow';
  /** Left out where the table is narrower than 420, 640, 768 or 1024 pixels. */
  readonly hideBelow?: keyof typeof breakpoints;
  /** Makes its head a button that sorts by this: only for tables that have all of their rows. */
  readonly sortBy?: (row: Row) => string | number | null;
}

export const breakpoints = { xs: 420, sm: 640, md: 768, lg: 1024 } as const;
const breakpointNames = Object.keys(breakpoints) as readonly (keyof typeof breakpoints)[]; // The keys of the table are its names.

/** The column that rows are sorted by, and which way. */
export interface Sorting {
  readonly id: string;
  readonly descending: boolean;
}

/** The rows in their order and the columns that there is room for. */
export function useTableModel<Row extends object>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
) {
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const room =
    width === 0
      ? breakpointNames.length
      : Object.values(breakpoints).filter((pixels) => width >= pixels).length;
  // The same list from draw to draw, so that rows that are drawn need not be drawn again.
  const shown = useMemo(
    () =>
      columns.filter(({ hideBelow }) => hideBelow === undefined || breakpointNames.indexOf(hideBelow) < room),
    [columns, room],
  );
  const by = columns.find(({ id }) => id === sorting?.id)?.sortBy;
  const sorted = useMemo(
    () => (sorting === null || by === undefined ? rows : sortRows(rows, by, sorting.descending)),
    [rows, by, sorting],
  );
  /** First ascending, then descending, then as they came. */
  const sortNext = (id: string) =>
    setSorting((before) =>
      before?.id !== id ? { id, descending: false } : before.descending ? null : { id, descending: true },
    );
  return { columns: shown, rows: sorted, sorting, sortNext };
}

export type TableModel<Row extends object> = ReturnType<typeof useTableModel<Row>>;

/** Rows without a value stand at the end, whichever way the others are sorted. */
export function sortRows<Row>(
  rows: readonly Row[],
  by: (row: Row) => string | number | null,
  descending: boolean,
): readonly Row[] {
  const sign = descending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [first, second] = [by(one), by(other)];
    if (first === null || second === null) return Number(first === null) - Number(second === null);
    if (typeof first === 'number' && typeof second === 'number') return sign * (first - second);
    return sign * String(first).localeCompare(String(second), undefined, { numeric: true });
  });
}

/** The width of an element as it is now; 0 before it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
