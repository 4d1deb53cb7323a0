import type { IncidentView } from '@headgate/gateway/console';
import { CircleCheck } from 'lucide-react';
import { useCursorList } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { IncidentCard } from './incident-card.tsx';
import { MaintenanceList } from './maintenance-list.tsx';
import * as texts from './texts.ts';

/** The operator's side of the public status page. */
export function IncidentsPage() {
  const t = useTexts(texts);
  const list = useCursorList<IncidentView>('/status/incidents', { limit: 20 }, { refetchMs: 60_000 });
  const incidents = list.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <a href="/status" className="text-sm text-accent underline underline-offset-2">
          {t('public')}
        </a>
      }
    >
      <MaintenanceList />
      <Section title={t('incidents')}>
        {list.isPending && <Skeleton className="h-16 w-full" />}
        {list.error !== null && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isSuccess && incidents.length === 0 && (
          <Empty title={t('incidents.none')} icon={CircleCheck}>
            {t('incidents.none.text')}
          </Empty>
        )}
        <ul className="flex flex-col">
          {incidents.map((incident) => (
            <IncidentCard key={incident.id} incident={incident} />
          ))}
        </ul>
        {list.hasNextPage && (
          <div className="pt-3">
            <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              {t('more')}
            </Button>
          </div>
        )}
      </Section>
    </Page>
  );
}
