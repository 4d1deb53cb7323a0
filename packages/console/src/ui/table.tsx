import type { LinkOptions } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { CursorList } from '../api/hooks.ts';
import { useTexts } from '../app/texts.ts';
import { classes } from './class.ts';
import { ErrorState } from './error-state.tsx';
import { PlainLink } from './link.tsx';
import { Skeleton } from './skeleton.tsx';
import { type Column, type TableModel, useTableModel, useWidth } from './table-model.ts';
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
  readonly error?: unknown;
}

const rowHeight = 37;
const skeletonRows = 8;

/** Rows and columns, of which only those are drawn that can be seen. Arrows, Home and End go from row to row, Enter opens. */
export function Table<Row extends object>(props: TableProps<Row>) {
  const { label, query } = props;
  const t = useTexts(texts);
  const place = useRef<HTMLDivElement>(null);
  const rows = useRows(props);
  const model = useTableModel(props.columns, rows, useWidth(place));
  const isLoading = props.isLoading ?? (query === undefined ? props.rows === undefined : query.isPending);
  const error = props.error ?? (rows.length === 0 ? query?.error : undefined);
  const frame = 'min-w-0 rounded-lg border border-line bg-surface';
  if (error)
    return (
      <div className={frame}>
        <ErrorState error={error} onRetry={query && (() => void query.refetch())} />
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
            <Rows {...props} model={model} place={place} />
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

interface RowsProps<Row extends object> extends TableProps<Row> {
  readonly model: TableModel<Row>;
  readonly place: RefObject<HTMLDivElement | null>;
}

function Rows<Row extends object>({ model, place, query, rowKey, rowLink }: RowsProps<Row>) {
  const count = model.rows.length;
  const [focused, setFocused] = useState(0);
  const current = Math.min(focused, count - 1);
  const offset = useOffset(place);
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: offset,
    getItemKey: (index) => {
      const row = model.rows[index];
      return row === undefined ? index : rowKey(row);
    },
  });
  const items = virtual.getVirtualItems();
  useNextPage(query, items.at(-1)?.index ?? 0, count);
  const go = (index: number) => {
    const next = Math.min(count - 1, Math.max(0, index));
    setFocused(next);
    virtual.scrollToIndex(next);
    // The row may have to be drawn first.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        place.current?.querySelector<HTMLElement>(`[data-index="${next}"] a`)?.focus(),
      ),
    );
  };
  const before = (items[0]?.start ?? offset) - offset;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? offset) - offset);
  return (
    <tbody onKeyDown={(event) => onArrow(event, current, count, go)}>
      <Gap height={before} columns={model.columns.length} />
      {items.map(({ index }) => {
        const row = model.rows[index];
        if (row === undefined) return null;
        return (
          <tr
            key={rowKey(row)}
            ref={virtual.measureElement}
            data-index={index}
            aria-rowindex={index + 2}
            className={classes('relative', rowLink && 'hover:bg-hover focus-within:bg-hover')}
          >
            {model.columns.map((column, at) => (
              <td
                key={column.id}
                className={cellClass(column.align, 'border-b border-line py-2 [&_button]:-my-1')}
              >
                {at === 0 && rowLink !== undefined ? (
                  <RowLink
                    {...rowLink(row)}
                    tabIndex={index === current ? 0 : -1}
                    onFocus={() => setFocused(index)}
                  >
                    {column.cell(row)}
                  </RowLink>
                ) : (
                  column.cell(row)
                )}
              </td>
            ))}
          </tr>
        );
      })}
      <Gap height={after} columns={model.columns.length} />
    </tbody>
  );
}

type RowLinkProps = LinkOptions & {
  readonly tabIndex: number;
  readonly onFocus: () => void;
  readonly children: ReactNode;
};

/** A link that reaches over all of its row. */
function RowLink(props: RowLinkProps) {
  return (
    <PlainLink
      {...props}
      className="outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:outline-solid focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
    />
  );
}

/** Asks for the next page when its rows will soon be in sight. */
function useNextPage(
  query: Pick<CursorList<object>, 'hasNextPage' | 'isFetching' | 'fetchNextPage'> | undefined,
  lastSeen: number,
  count: number,
): void {
  useEffect(() => {
    if (query?.hasNextPage && !query.isFetching && lastSeen >= count - 20) void query.fetchNextPage();
  }, [query, lastSeen, count]);
}

const noRows: readonly never[] = [];

function useRows<Row extends object>({ rows, query }: TableProps<Row>): readonly Row[] {
  const pages = query?.data?.pages;
  const fetched = useMemo(() => pages?.flatMap(({ items }) => items), [pages]);
  return rows ?? fetched ?? noRows;
}

/** How far below the top of the page the table begins. */
function useOffset(place: { readonly current: HTMLElement | null }): number {
  const [offset, setOffset] = useState(0);
  const measure = useCallback(() => {
    if (place.current !== null) setOffset(place.current.getBoundingClientRect().top + window.scrollY);
  }, [place]);
  useEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [measure]);
  return offset;
}

function onArrow(event: KeyboardEvent, current: number, count: number, go: (index: number) => void): void {
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: current + 1,
    ArrowUp: current - 1,
    Home: 0,
    End: count - 1,
    PageDown: current + 10,
    PageUp: current - 10,
  };
  const target = targets[event.key];
  // Keys in a control inside of a row are the control's.
  if (target === undefined || !(event.target as HTMLElement).matches('a')) return;
  event.preventDefault();
  go(target);
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

function cellClass(align: 'end' | undefined, more: string): string {
  return classes('truncate px-3', align === 'end' ? 'text-right' : 'text-left', more);
}

/** Stands for the rows that are not drawn. */
function Gap({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height }} />
    </tr>
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
