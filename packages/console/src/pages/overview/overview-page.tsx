import type { OverviewView } from '@headgate/gateway/console';
import { Activity } from 'lucide-react';
import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { useFilters } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Segments } from '../../ui/segments.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Attention } from './attention.tsx';
import { Courses } from './courses.tsx';
import { LiveRates } from './live-rates.tsx';
import * as texts from './texts.ts';
import { Tops } from './tops.tsx';
import { Totals } from './totals.tsx';

const ranges = ['24h', '7d', '30d'] as const;
/** Rates come by the stream; sums of hours and days need no more than this. */
const refetchMs = 60_000;

/** The page that says how it goes, what it costs, and what needs attention. */
export function OverviewPage() {
  const t = useTexts(texts);
  const { account } = useSession();
  const [filters, change] = useFilters(['range']);
  const range = ranges.find((name) => name === filters['range']) ?? '24h';
  const overview = useGet<OverviewView>('/overview', { range, account }, { refetchMs });
  const choice = (
    <Segments
      label={t('range')}
      value={range}
      options={ranges.map((value) => ({ value, label: t(`range.${value}`) }))}
      onChange={(value) => change({ range: value === '24h' ? undefined : value })}
    />
  );
  return (
    <Page title={t('title')} actions={choice}>
      {/* Who sees nothing yet waits for the first call. */}
      <LiveRates onCalls={() => overview.data?.totals.calls === 0 && void overview.refetch()} />
      {overview.data !== undefined ? (
        <Figures overview={overview.data} />
      ) : overview.error !== null ? (
        <ErrorState error={overview.error} onRetry={() => void overview.refetch()} />
      ) : (
        <OverviewSkeleton />
      )}
    </Page>
  );
}

function Figures({ overview }: { readonly overview: OverviewView }) {
  const t = useTexts(texts);
  const isEmpty = overview.totals.calls === 0 && overview.before.calls === 0;
  return (
    <>
      <Attention items={overview.attention} />
      <Totals overview={overview} />
      {isEmpty ? (
        <div className="rounded-lg border border-line bg-surface">
          <Empty icon={Activity} title={t('emptyTitle')}>
            {t('emptyDetail')}
          </Empty>
        </div>
      ) : (
        <>
          <Courses overview={overview} />
          <Tops overview={overview} />
        </>
      )}
    </>
  );
}

function OverviewSkeleton() {
  return (
    <div className="flex flex-col gap-5" aria-busy="true">
      <Skeleton className="h-24 w-full rounded-lg" />
      <div className="grid gap-4 lg:grid-cols-2">
        <Skeleton className="h-64 w-full rounded-lg" />
        <Skeleton className="h-64 w-full rounded-lg" />
      </div>
    </div>
  );
}
