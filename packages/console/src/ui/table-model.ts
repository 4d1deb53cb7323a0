import {
  type ColumnDef,
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  sortFn_basic,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
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
  /** Left out where the table is narrower than 640, 768 or 1024 pixels. */
  readonly hideBelow?: keyof typeof breakpoints;
  /** Makes its head a button that sorts by this: only for tables that have all of their rows. */
  readonly sortBy?: (row: Row) => string | number | null;
}

export const breakpoints = { sm: 640, md: 768, lg: 1024 } as const;

const features = tableFeatures({
  columnVisibilityFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { basic: sortFn_basic },
});

/** The rows in their order and the columns that there is room for. */
export function useTableModel<Row extends object>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
) {
  const definitions = useMemo(
    () =>
      columns.map(
        ({ id, sortBy }): ColumnDef<typeof features, Row> => ({
          id,
          ...(sortBy === undefined
            ? { enableSorting: false }
            : { accessorFn: sortBy, sortFn: 'basic', sortUndefined: 'last' }),
        }),
      ),
    [columns],
  );
  const columnVisibility = useMemo(
    () =>
      Object.fromEntries(
        columns.map(({ id, hideBelow }) => [
          id,
          hideBelow === undefined || width === 0 || width >= breakpoints[hideBelow],
        ]),
      ),
    [columns, width],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: rows,
    state: { columnVisibility },
  });
  const shown = table.getVisibleLeafColumns().flatMap((column) => {
    const found = columns.find(({ id }) => id === column.id);
    return found === undefined ? [] : [{ ...found, sorting: column }];
  });
  return { columns: shown, rows: table.getRowModel().rows };
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
