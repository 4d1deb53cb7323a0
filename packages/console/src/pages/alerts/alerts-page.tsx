import type { EventView } from '@headgate/gateway/console';
import { useQueryClient } from '@tanstack/react-query';
import { BellOff, CheckCheck } from 'lucide-react';
import { useChange, useCursorList } from '../../api/hooks.ts';
import { useLive } from '../../api/live.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { useAlertColumns } from './alert-columns.tsx';
import { AlertFilters, useAlertQuery } from './alert-filters.tsx';
import * as texts from './texts.ts';

/** As many as one request takes. */
const acknowledgedMax = 100;

/** Lists the events that operators should hear of, as they happen. */
export function AlertsPage() {
  const t = useTexts(texts);
  const list = useCursorList<EventView>('/events', useAlertQuery());
  const queries = useQueryClient();
  const fetchAnew = () => void queries.invalidateQueries({ queryKey: ['/events'] });
  useLive('events', fetchAnew, { miss: fetchAnew });
  const acknowledge = useChange<{ readonly ids: readonly string[] }>('POST', '/events/acknowledge', {
    invalidates: ['/events', '/overview'],
  });
  const shown = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const unseen = shown.filter(({ acknowledgedAt }) => acknowledgedAt === null).slice(0, acknowledgedMax);
  const send = (ids: readonly string[]) => acknowledge.mutate({ body: { ids } });
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        unseen.length > 0 && (
          <Button
            icon={CheckCheck}
            busy={acknowledge.isPending}
            onClick={() => send(unseen.map(({ id }) => id))}
          >
            {t('acknowledgeShown', { count: unseen.length })}
          </Button>
        )
      }
    >
      <AlertFilters />
      <Table
        label={t('title')}
        columns={useAlertColumns((id) => send([id]))}
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
