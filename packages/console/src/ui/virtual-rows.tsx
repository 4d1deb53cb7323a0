import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useState,
} from 'react';
import type { CursorList } from '../api/hooks.ts';

const usualHeight = 37;

type NextPage = Pick<CursorList<object>, 'hasNextPage' | 'isFetching' | 'fetchNextPage'>;

interface VirtualRowsProps {
  readonly count: number;
  readonly columns: number;
  readonly keyOf: (index: number) => string | number;
  /** The table as a whole. */
  readonly place: RefObject<HTMLDivElement | null>;
  /** Brings a row into sight. */
  readonly scroll: RefObject<((index: number) => void) | null>;
  readonly draw: (index: number) => ReactNode;
  /** The next page of the list comes when its end comes near. */
  readonly query: NextPage | undefined;
}

/** Rows of which only those are drawn that can be seen; the page is what scrolls. */
export function VirtualRows({ count, columns, keyOf, place, scroll, draw, query }: VirtualRowsProps) {
  const offset = useOffset(place);
  const height = useRowHeight(place);
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => height,
    overscan: 12,
    scrollMargin: offset,
    getItemKey: keyOf,
  });
  useImperativeHandle(scroll, () => (index: number) => virtual.scrollToIndex(index), [virtual]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: Another height is another place for every row.
  useLayoutEffect(() => virtual.measure(), [height]);
  const items = virtual.getVirtualItems();
  useNextPage(query, items.at(-1)?.index ?? 0, count);
  const before = (items[0]?.start ?? offset) - offset;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? offset) - offset);
  return (
    <>
      <Gap height={before} columns={columns} />
      {items.map(({ index }) => draw(index))}
      <Gap height={after} columns={columns} />
    </>
  );
}

/** Rows ahead of those in sight, at which the next ones are asked for. */
const aheadMax = 100;

/** Asks for the next page when its rows will soon be in sight. */
function useNextPage(query: NextPage | undefined, lastSeen: number, count: number): void {
  useEffect(() => {
    if (query?.hasNextPage && !query.isFetching && lastSeen >= count - Math.min(aheadMax, count / 2))
      void query.fetchNextPage();
  }, [query, lastSeen, count]);
}

/** Rows of a table are all as high as its first one: to measure each of them would cost as much as to draw it. */
function useRowHeight(place: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(usualHeight);
  useLayoutEffect(() => {
    const row = place.current?.querySelector('tr[data-index]');
    if (row) setHeight(row.getBoundingClientRect().height);
  }, [place]);
  return height;
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

/** Stands for the rows that are not drawn. */
function Gap({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}
