import type { LinkOptions } from '@tanstack/react-router';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type ReactNode, useMemo, useRef } from 'react';
import type { AskedOnce, CursorList } from '../api/hooks.ts';
import { useTexts } from '../app/texts.ts';
import { ErrorState } from './error-state.tsx';
import { Skeleton } from './skeleton.tsx';
import { type Column, type TableModel, useTableModel, useWidth } from './table-model.ts';
import { cellClass, Rows } from './table-rows.tsx';
import * as texts from './texts.ts';

export type { Column } from './table-model.ts';

interface TableProps<Row extends object> {
  /** Says to readers of the screen what the table is. */
  readonly label: string;
  /** Keep them from draw to draw (`useMemo`) where there are many rows. */
  readonly columns: readonly Column<Row>[];
  /** All rows; or `query`. */
  readonly rows?: readonly Row[] | undefined;
  /** A list that is fetched by pages: the next one comes when the end comes near. */
  readonly query?: CursorList<Row>;
  readonly rowKey: (row: Row) => string;
  /** The page of the row: all of the row leads to it. */
  readonly rowLink?: (row: Row) => LinkOptions;
  /** Stands in the place of rows when there are none. */
  readonly empty: ReactNode;
  readonly isLoading?: boolean;
  /** The question that `rows` came from, which may fail and be asked again. */
  readonly source?: AskedOnce;
}

const skeletonRows = 5;

/** Rows and columns. */
export function Table<Row extends object>(props: TableProps<Row>) {
  const { label, query } = props;
  const t = useTexts(texts);
  const place = useRef<HTMLDivElement>(null);
  const rows = useRows(props);
  const model = useTableModel(props.columns, rows, useWidth(place));
  const asked = query ?? props.source;
  const isLoading = props.isLoading ?? (asked === undefined ? props.rows === undefined : asked.isPending);
  const error = rows.length === 0 && asked?.data === undefined ? asked?.error : undefined;
  const frame = 'min-w-0 rounded-lg border border-line bg-surface';
  if (error)
    return (
      <div className={frame}>
        <ErrorState error={error} onRetry={() => void asked?.refetch()} />
      </div>
    );
  return (
    <div ref={place} className={frame}>
      {!isLoading && rows.length === 0 ? (
        props.empty
      ) : (
        <table
          aria-label={label}
          aria-rowcount={query?.hasNextPage === true ? -1 : rows.length + 1}
          aria-busy={isLoading}
          className="w-full table-fixed border-separate border-spacing-0 [&_tbody>tr:last-child>td]:border-b-0"
        >
          <Head model={model} />
          {isLoading ? (
            <SkeletonRows columns={model.columns.length} />
          ) : (
            <Rows model={model} place={place} query={query} rowKey={props.rowKey} rowLink={props.rowLink} />
          )}
        </table>
      )}
      {query?.isFetchingNextPage === true && (
        <p className="px-3 py-2 text-xs text-soft" role="status">
          {t('loadingMore')} …
        </p>
      )}
    </div>
  );
}

const noRows: readonly never[] = [];

function useRows<Row extends object>({ rows, query }: TableProps<Row>): readonly Row[] {
  const pages = query?.data?.pages;
  const fetched = useMemo(() => pages?.flatMap(({ items }) => items), [pages]);
  return rows ?? fetched ?? noRows;
}

function Head<Row extends object>({ model }: { readonly model: TableModel<Row> }) {
  const t = useTexts(texts);
  return (
    <thead>
      <tr>
        {model.columns.map(({ id, header, align, width = 'grow', sortBy }) => {
          const order =
            model.sorting?.id !== id ? null : model.sorting.descending ? 'descending' : 'ascending';
          return (
            <th
              key={id}
              scope="col"
              style={width === 'grow' ? undefined : { width }}
              aria-sort={order ?? undefined}
              className={cellClass(
                align,
                'sticky top-0 z-20 h-8 border-b border-line bg-surface text-xs font-medium text-soft first:rounded-tl-lg last:rounded-tr-lg',
              )}
            >
              {sortBy === undefined ? (
                header || <span className="sr-only">{t('actions')}</span>
              ) : (
                <button
                  type="button"
                  onClick={() => model.sortNext(id)}
                  className="inline-flex items-center gap-1 hover:text-ink"
                >
                  {header}
                  {order === 'ascending' && <ArrowUp size={12} aria-hidden />}
                  {order === 'descending' && <ArrowDown size={12} aria-hidden />}
                </button>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function SkeletonRows({ columns }: { readonly columns: number }) {
  const rows = Array.from({ length: skeletonRows }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: They are all alike and never change places.
    <tr key={row} aria-hidden>
      {Array.from({ length: columns }, (_, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: They are all alike and never change places.
        <td key={column} className="border-b border-line px-3 py-2.5">
          <Skeleton className={column === 0 ? 'h-4 w-4/5' : 'h-4 w-3/5'} />
        </td>
      ))}
    </tr>
  ));
  return <tbody>{rows}</tbody>;
}
