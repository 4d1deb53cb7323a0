import type { CallRow, CallRowPage } from '@headgate/gateway/console';
import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useLive } from '../../api/live.ts';
import type { FilterValues } from '../../ui/filters.tsx';
import { passes } from './ledger-filters.ts';

interface LiveCalls {
  readonly items: readonly CallRow[];
  readonly skipped: number;
}

/** The calls that came live, and whether there were more than these. */
interface News {
  readonly calls: readonly CallRow[];
  readonly isWhole: boolean;
}

const nothing: News = { calls: [], isWhole: true };

/** Calls that are kept of those that come live; who wants more of them asks again. */
const keptMax = 200;

/**
 * The calls of a filter that have ended since the page was opened, above those that were fetched. They wait while somebody reads, so that
 * nothing moves under their eyes: further down, or with the pointer or the keyboard in the rows.
 */
export function useLiveCalls(fetched: readonly CallRow[], query: FilterValues, isLive: boolean) {
  const [shown, setShown] = useState(nothing);
  const [waiting, setWaiting] = useState(nothing);
  const queries = useQueryClient();
  const asked = useRef(query);
  const forget = useCallback(() => {
    setShown(nothing);
    setWaiting(nothing);
  }, []);
  useEffect(() => {
    asked.current = query;
    forget();
  }, [query, forget]);
  const miss = useCallback(() => setWaiting((news) => ({ ...news, isWhole: false })), []);
  useLive<LiveCalls>(
    'calls',
    ({ items, skipped }) => {
      const calls = items.filter((call) => passes(call, asked.current));
      const news = { calls, isWhole: skipped === 0 };
      if (calls.length === 0 && news.isWhole) return;
      if (isRead() || !news.isWhole) setWaiting((before) => joined(news, before));
      else setShown((before) => joined(news, before));
    },
    { enabled: isLive, miss },
  );
  const show = useCallback(async () => {
    window.scrollTo({ top: 0 });
    if (waiting.isWhole) setShown((before) => joined(waiting, before));
    else {
      // No frame has the calls that were left out: the list begins anew, with its first page alone.
      queries.setQueriesData<InfiniteData<CallRowPage>>({ queryKey: ['/calls', query, 'pages'] }, firstPage);
      await queries.invalidateQueries({ queryKey: ['/calls'] });
      setShown(nothing);
    }
    setWaiting(nothing);
  }, [waiting, query, queries]);
  const rows = useMemo(() => merged(shown.calls, fetched), [shown, fetched]);
  return { rows, waiting: waiting.calls.length, isWhole: waiting.isWhole, show };
}

/** A list that is at its top, and in which nobody points at a row or has come to one by the keyboard, may move. */
function isRead(): boolean {
  return window.scrollY >= 120 || document.querySelector('tbody:hover, tbody:focus-within') !== null;
}

function joined(news: News, before: News): News {
  const calls = merged(news.calls, before.calls);
  return {
    calls: calls.slice(0, keptMax),
    isWhole: news.isWhole && before.isWhole && calls.length <= keptMax,
  };
}

function firstPage(data: InfiniteData<CallRowPage> | undefined) {
  return data && { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) };
}

function merged(first: readonly CallRow[], second: readonly CallRow[]): readonly CallRow[] {
  if (first.length === 0) return second;
  const known = new Set(first.map(({ traceId }) => traceId));
  return [...first, ...second.filter(({ traceId }) => !known.has(traceId))];
}
