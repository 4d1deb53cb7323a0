import type { EventView } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { BellOff } from 'lucide-react';
import { useMemo } from 'react';
import { useCursorList } from '../../api/hooks.ts';
import { useLive } from '../../api/live.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge, StateDot, type Tone } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Count, Time } from '../../ui/figures.tsx';
import { FilterBar, useFilters } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import * as texts from './texts.ts';

const tones: Readonly<Record<EventView['severity'], Tone>> = {
  error: 'bad',
  warning: 'warn',
  info: 'neutral',
};
const severities = ['error', 'warning', 'info'] as const;
const kinds = Object.keys(texts.en).flatMap((name) => (name.startsWith('kind.') ? [name.slice(5)] : []));

/** Lists the events that operators should hear of, as they happen. */
export function AlertsPage() {
  const t = useTexts(texts);
  const [values] = useFilters(['severity', 'kind']);
  const list = useCursorList<EventView>('/events', values);
  const queries = useQueryClient();
  useLive('events', () => void queries.invalidateQueries({ queryKey: ['/events'] }));
  return (
    <Page title={t('title')} description={t('description')}>
      <FilterBar
        filters={[
          {
            ...{ name: 'severity', label: t('severity'), kind: 'select' },
            options: severities.map((value) => ({ value, label: t(`severity.${value}`) })),
          },
          {
            ...{ name: 'kind', label: t('kind'), kind: 'select' },
            options: kinds.map((value) => ({ value, label: t(`kind.${value}` as Parameters<typeof t>[0]) })),
          },
        ]}
      />
      <Table
        label={t('title')}
        columns={useAlertColumns()}
        query={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t('empty')} icon={BellOff}>
            {t('emptyHint')}
          </Empty>
        }
      />
    </Page>
  );
}

function useAlertColumns(): readonly Column<EventView>[] {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        ...{ id: 'severity', header: t('severity'), width: 96 },
        cell: ({ severity }) => <Badge tone={tones[severity]}>{t(`severity.${severity}`)}</Badge>,
      },
      { id: 'what', header: t('what'), cell: ({ kind }) => <span title={kind}>{t(`kind.${kind}`)}</span> },
      {
        ...{ id: 'about', header: t('about'), hideBelow: 'sm' },
        cell: ({ subject }) => <span title={subject}>{subject || '–'}</span>,
      },
      {
        ...{ id: 'detail', header: t('detail'), hideBelow: 'md' },
        cell: ({ detail }) => {
          const words = Object.entries(detail).map(([name, value]) => `${name}: ${value}`);
          return (
            <span className="text-soft" title={words.join('\n')}>
              {words.join(' · ')}
            </span>
          );
        },
      },
      {
        ...{ id: 'state', header: t('state'), hideBelow: 'lg', width: 110 },
        cell: ({ endedAt }) => (
          <StateDot
            state={endedAt === null ? 'warn' : 'neutral'}
            label={endedAt === null ? t('lasts') : t('ended')}
          />
        ),
      },
      {
        ...{ id: 'times', header: t('times'), hideBelow: 'sm', align: 'end', width: 80 },
        cell: ({ count }) => <Count value={count} />,
      },
      {
        id: 'last',
        header: t('last'),
        align: 'end',
        width: 118,
        cell: ({ lastAt }) => <Time iso={lastAt} />,
      },
    ],
    [t],
  );
}
