import type {
  ChannelCosts,
  ChannelCourses,
  ChannelItem,
  ChannelPage as ChannelListPage,
} from '@headgate/gateway/console';
import { Waypoints } from 'lucide-react';
import { useMemo } from 'react';
import { useCursorList, useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Count, Duration, Money, Percent, Time } from '../../ui/figures.tsx';
import { FilterBar, useFilters } from '../../ui/filters.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { Spark } from '../../ui/spark.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import * as historyTexts from './history-texts.ts';
import { useLiveList } from './live-channels.ts';
import { ChannelState } from './states.tsx';
import * as texts from './texts.ts';

const states = ['down', 'degraded', 'draining', 'up', 'off'] as const;
/** The stream tells of calls of its own process; what other processes do is seen by asking. What it costs, and its day, move slowly. */
const [standingMs, costsMs, coursesMs] = [20_000, 60_000, 300_000];

/** Every channel, with how it stands. */
export function ChannelsPage() {
  const t = useTexts(texts);
  const [values] = useFilters(['search', 'state', 'model']);
  const query = useCursorList<ChannelItem, ChannelListPage>('/channels', values, { refetchMs: standingMs });
  const costs = useGet<ChannelCosts>('/channel-costs', { hours: '24' }, { refetchMs: costsMs });
  const courses = useGet<ChannelCourses>('/channel-courses', {}, { refetchMs: coursesMs });
  useLiveList();
  const columns = useColumns(costs.data, courses.data);
  const counts = query.data?.pages[0]?.counts;
  const isFiltered = Object.keys(values).length > 0;
  const make = (
    <ButtonLink to="/channels/new" variant="primary">
      {t('new')}
    </ButtonLink>
  );
  return (
    <Page title={t('title')} description={t('description')} actions={make}>
      <FilterBar
        filters={[
          { name: 'search', label: t('search'), kind: 'text' },
          {
            ...{ name: 'state', label: t('state'), kind: 'select' },
            options: states.map((value) => ({
              value,
              label: `${t(`state.${value}`)} (${counts?.[value] ?? 0})`,
            })),
          },
          { name: 'model', label: t('model'), kind: 'text' },
        ]}
      />
      <Table
        label={t('title')}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/channels/$id', params: { id } })}
        empty={
          isFiltered ? (
            <Empty title={t('empty.filtered')} />
          ) : (
            <Empty title={t('empty')} icon={Waypoints} action={make}>
              {t('empty.text')}
            </Empty>
          )
        }
      />
    </Page>
  );
}

function useColumns(
  costs: ChannelCosts | undefined,
  courses: ChannelCourses | undefined,
): readonly Column<ChannelItem>[] {
  const t = useTexts(texts);
  const ofHistory = useTexts(historyTexts);
  return useMemo(() => {
    const costOf = new Map(costs?.items.map(({ id, cost }) => [id, cost]));
    const courseOf = new Map(courses?.items.map(({ id, success }) => [id, success]));
    return [
      { id: 'state', header: t('state'), width: 110, cell: ({ state }) => <ChannelState state={state} /> },
      { id: 'channel', header: t('channel'), width: 'grow', cell: (row) => <NameOf row={row} /> },
      {
        id: 'provider',
        header: t('provider'),
        width: 150,
        hideBelow: 'lg',
        cell: ({ providerName }) => providerName,
      },
      {
        ...{ id: 'success', header: t('success'), width: 80, align: 'end' },
        cell: ({ success }) => <Percent value={success} />,
      },
      {
        ...{ id: 'course', header: ofHistory('course'), width: 130, hideBelow: 'lg' },
        cell: ({ id }) => {
          const course = courseOf.get(id);
          return course === undefined ? '–' : <Spark values={course} />;
        },
      },
      {
        ...{ id: 'ttft', header: t('ttft'), width: 100, align: 'end', hideBelow: 'md' },
        cell: ({ ttftMs }) => <Duration ms={ttftMs} />,
      },
      {
        ...{ id: 'inFlight', header: t('inFlight'), width: 110, align: 'end', hideBelow: 'md' },
        cell: ({ inFlight, maxConcurrency: max }) => (
          <span>
            <Count value={inFlight} />
            {max !== null && <span className="text-soft"> {t('headroom', { max })}</span>}
          </span>
        ),
      },
      {
        ...{ id: 'models', header: t('models'), width: 80, align: 'end', hideBelow: 'sm' },
        cell: ({ models, modelsOut }) => (modelsOut === 0 ? models : `${models - modelsOut}/${models}`),
      },
      {
        ...{ id: 'cost', header: t('cost24'), width: 110, align: 'end', hideBelow: 'lg' },
        cell: ({ id }) => <Money usd={costOf.get(id) ?? null} />,
      },
      {
        ...{ id: 'error', header: t('lastError'), width: 110, align: 'end', hideBelow: 'lg' },
        cell: ({ lastFailure }) =>
          lastFailure === null ? (
            '–'
          ) : (
            <span title={lastFailure.words}>
              <Time iso={lastFailure.at} />
            </span>
          ),
      },
    ];
  }, [t, ofHistory, costs, courses]);
}

function NameOf({ row: { id, source, simulated, problems } }: { readonly row: ChannelItem }) {
  const t = useTexts(texts);
  return (
    <span className="flex min-w-0 items-center gap-2">
      <bdi className="truncate font-medium" title={problems.length === 0 ? id : problems.join('; ')}>
        {id}
      </bdi>
      {/* A narrow window has room for the name alone. */}
      <span className="hidden shrink-0 sm:inline">
        {simulated && <Badge tone="accent">{t('simulated')}</Badge>}
        {source !== 'console' && !simulated && <Badge>{t(`source.${source}`)}</Badge>}
      </span>
      {problems.length > 0 && <Badge tone="bad">{t('missing')}</Badge>}
    </span>
  );
}
