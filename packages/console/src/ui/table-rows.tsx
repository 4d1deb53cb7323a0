import type { LinkOptions } from '@tanstack/react-router';
import {
  type KeyboardEvent,
  lazy,
  memo,
  type ReactNode,
  type RefObject,
  Suspense,
  useCallback,
  useRef,
  useState,
} from 'react';
import type { CursorList } from '../api/hooks.ts';
import { classes } from './class.ts';
import { PlainLink } from './link.tsx';
import type { TableModel } from './table-model.ts';

interface RowsProps<Row extends object> {
  readonly model: TableModel<Row>;
  readonly place: RefObject<HTMLDivElement | null>;
  readonly query?: CursorList<Row> | undefined;
  readonly rowKey: (row: Row) => string;
  readonly rowLink?: ((row: Row) => LinkOptions) | undefined;
}

/** A table up to this length draws each row; a longer one draws those in sight, by code that short tables need not wait for. */
const plainRowsMax = 60;

const VirtualRows = lazy(async () => ({ default: (await import('./virtual-rows.tsx')).VirtualRows }));

/** The rows of a table. Arrows, Home and End go from one to the other, Enter opens. */
export function Rows<Row extends object>({ model, place, query, rowKey, rowLink }: RowsProps<Row>) {
  const { rows, columns } = model;
  const count = rows.length;
  const [focused, setFocused] = useState(0);
  const scroll = useRef<(index: number) => void>(null);
  const current = Math.min(focused, count - 1);
  const go = (index: number) => {
    const next = Math.min(count - 1, Math.max(0, index));
    setFocused(next);
    scroll.current?.(next);
    // The row may have to be drawn first.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        place.current?.querySelector<HTMLElement>(`[data-index="${next}"] a`)?.focus(),
      ),
    );
  };
  const link = useRef(rowLink);
  link.current = rowLink;
  const linkOf = useCallback((row: Row) => link.current?.(row), []);
  const draw = (index: number) => {
    const row = rows[index];
    if (row === undefined) return null;
    const place = { index, isCurrent: index === current, onFocus: setFocused };
    // One row is drawn as the other, whatever it is a row of.
    return <TableRow key={rowKey(row)} {...place} {...{ row, columns, linkOf }} />;
  };
  const plain = Array.from({ length: Math.min(count, plainRowsMax) }, (_, index) => draw(index));
  const keyOf = (index: number) => {
    const row = rows[index];
    return row === undefined ? index : rowKey(row);
  };
  return (
    <tbody onKeyDown={(event) => onArrow(event, current, count, go)}>
      {count <= plainRowsMax && query?.hasNextPage !== true ? (
        plain
      ) : (
        <Suspense fallback={plain}>
          <VirtualRows {...{ count, keyOf, place, scroll, draw, query }} columns={columns.length} />
        </Suspense>
      )}
    </tbody>
  );
}

interface TableRowProps<Row extends object> {
  readonly row: Row;
  readonly index: number;
  readonly columns: TableModel<Row>['columns'];
  /** The row that the keyboard comes to. */
  readonly isCurrent: boolean;
  readonly linkOf: (row: Row) => LinkOptions | undefined;
  readonly onFocus: (index: number) => void;
}

function PlainTableRow<Row extends object>(props: TableRowProps<Row>) {
  const { row, index, columns, isCurrent, linkOf, onFocus } = props;
  const link = linkOf(row);
  return (
    <tr
      data-index={index}
      aria-rowindex={index + 2}
      className={classes('relative', link && 'hover:bg-hover focus-within:bg-hover')}
    >
      {columns.map((column, at) => (
        <td key={column.id} className={cellClass(column.align, 'border-b border-line py-2 [&_button]:-my-1')}>
          {at === 0 && link !== undefined ? (
            <RowLink {...link} tabIndex={isCurrent ? 0 : -1} onFocus={() => onFocus(index)}>
              {column.cell(row)}
            </RowLink>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  );
}

/** A row is drawn once, and not with each step of scrolling. */
const TableRow = memo(PlainTableRow) as typeof PlainTableRow; // A memo keeps what its component takes.

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

export function cellClass(align: 'end' | undefined, more: string): string {
  return classes('truncate px-3', align === 'end' ? 'text-right' : 'text-left', more);
}
