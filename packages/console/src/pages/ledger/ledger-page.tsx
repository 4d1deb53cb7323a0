import type { CallRow, CallRowPage, CallSumsView } from '@headgate/gateway/console';
import { ArrowUp, Download, ScrollText } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import { urlOf } from '../../api/client.ts';
import { useCursorList, useGet } from '../../api/hooks.ts';
import { isLive as liveState } from '../../api/live.ts';
import { useChoice } from '../../app/choice.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Count, Money, MoneyIn } from '../../ui/figures.tsx';
import { FilterBar, type FilterValues } from '../../ui/filters.tsx';
import { Menu } from '../../ui/menu.tsx';
import { countText } from '../../ui/numbers.ts';
import { Page } from '../../ui/page.tsx';
import { Stat, Stats } from '../../ui/stat.tsx';
import { Table } from '../../ui/table.tsx';
import { useLedgerColumns } from './ledger-columns.tsx';
import { useLedgerFilters, useLedgerQuery } from './ledger-filters.ts';
import { useLiveCalls } from './live-calls.ts';
import * as texts from './texts.ts';

/** Every call: filters in the address, sums of the filter, and new calls as they end. */
export function LedgerPage() {
  const t = useTexts(texts);
  const { query, isLive } = useLedgerQuery();
  const list = useCursorList<CallRow, CallRowPage>('/calls', query);
  const pages = list.data?.pages;
  const fetched = useMemo(() => pages?.flatMap(({ items }) => items) ?? [], [pages]);
  const live = useLiveCalls(fetched, query, isLive);
  const isOpen = useChoice(liveState);
  const searchedTo = pages?.at(-1)?.searchedTo ?? null;
  // A page that ended before it was full is gone on with, as long as nothing is found.
  const { hasNextPage, isFetching, fetchNextPage } = list;
  useEffect(() => {
    if (searchedTo !== null && fetched.length < 50 && hasNextPage && !isFetching) void fetchNextPage();
  }, [searchedTo, fetched.length, hasNextPage, isFetching, fetchNextPage]);
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <>
          {isLive && isOpen && <Badge tone="good">{t('live')}</Badge>}
          <ExportMenu query={query} />
        </>
      }
    >
      <FilterBar filters={useLedgerFilters()} />
      <Sums query={query} />
      {(live.waiting > 0 || !live.isWhole) && (
        <div className="sticky top-10 z-30 flex justify-center">
          <Button variant="primary" size="sm" icon={ArrowUp} onClick={() => void live.show()}>
            {live.isWhole ? t('show', { count: live.waiting }) : t('showMany')}
          </Button>
        </div>
      )}
      <Table
        label={t('title')}
        columns={useLedgerColumns()}
        query={list}
        rows={live.rows}
        isLoading={list.isPending}
        rowKey={({ traceId }) => traceId}
        rowLink={({ traceId }) => ({ to: '/calls/$id', params: { id: traceId } })}
        empty={
          <Empty title={t('empty')} icon={ScrollText}>
            {t('emptyHint')}
          </Empty>
        }
      />
    </Page>
  );
}

function Sums({ query }: { readonly query: FilterValues }) {
  const t = useTexts(texts);
  const { data, isPending } = useGet<CallSumsView>('/calls/sums', query);
  const isWhole = data?.isWhole ?? true;
  const common = { isLoading: isPending };
  return (
    <Stats>
      <Stat
        {...common}
        label={t('calls')}
        value={<Count value={data?.calls} />}
        detail={
          isWhole
            ? t('endedAs', {
                billed: countText(data?.billedCalls ?? 0),
                failed: countText(data?.failedCalls ?? 0),
              })
            : t('atLeast')
        }
      />
      <Stat
        {...common}
        label={t('inputTokens')}
        value={<Count value={data?.inputTokens} compact />}
        detail={t('cachedOf', { count: countText(data?.cachedTokens ?? 0) })}
      />
      <Stat {...common} label={t('outputTokens')} value={<Count value={data?.outputTokens} compact />} />
      <Stat
        {...common}
        label={t('spent')}
        value={<Money usd={data?.charge} />}
        detail={data?.cost && <MoneyIn usd={data.cost} say={(cost) => t('costOf', { cost })} />}
      />
    </Stats>
  );
}

function ExportMenu({ query }: { readonly query: FilterValues }) {
  const t = useTexts(texts);
  const download = (format: 'csv' | 'ndjson') => () => {
    const link = document.createElement('a');
    link.href = urlOf('/calls/export', { ...query, format });
    link.download = `headgate-calls.${format}`;
    link.click();
  };
  return (
    <Menu
      trigger={<Button icon={Download}>{t('export')}</Button>}
      groups={[
        {
          items: [
            { label: t('exportCsv'), onSelect: download('csv') },
            { label: t('exportLines'), onSelect: download('ndjson') },
          ],
        },
      ]}
    />
  );
}
