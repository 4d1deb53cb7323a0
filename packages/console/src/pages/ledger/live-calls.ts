import type { CallRow } from '@headgate/gateway/console';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLive } from '../../api/live.ts';
import type { FilterValues } from '../../ui/filters.tsx';
import { passes } from './ledger-filters.ts';

interface LiveCalls {
  readonly items: readonly CallRow[];
  readonly skipped: number;
}

/** Calls that are kept of those that come live; who wants more of them asks again. */
const keptMax = 200;

/**
 * The calls of a filter that have ended since the page was opened, above those that were fetched. While the reader is further down they wait,
 * so that nothing moves under their eyes.
 */
export function useLiveCalls(fetched: readonly CallRow[], query: FilterValues, isLive: boolean) {
  const [shown, setShown] = useState<readonly CallRow[]>([]);
  const [waiting, setWaiting] = useState<readonly CallRow[]>([]);
  const [skipped, setSkipped] = useState(0);
  const asked = useRef(query);
  useEffect(() => {
    asked.current = query;
    setShown([]);
    setWaiting([]);
    setSkipped(0);
  }, [query]);
  useLive<LiveCalls>(
    'calls',
    (frame) => {
      const news = frame.items.filter((call) => passes(call, asked.current));
      setSkipped((count) => count + frame.skipped);
      const add = (calls: readonly CallRow[]) => merged(news, calls).slice(0, keptMax);
      if (window.scrollY < 120) setShown(add);
      else setWaiting(add);
    },
    isLive,
  );
  const show = useCallback(() => {
    setShown((calls) => merged(waiting, calls).slice(0, keptMax));
    setWaiting([]);
    window.scrollTo({ top: 0 });
  }, [waiting]);
  return { rows: merged(shown, fetched), waiting: waiting.length, skipped, show };
}

function merged(first: readonly CallRow[], second: readonly CallRow[]): readonly CallRow[] {
  if (first.length === 0) return second;
  const known = new Set(first.map(({ traceId }) => traceId));
  return [...first, ...second.filter(({ traceId }) => !known.has(traceId))];
}
