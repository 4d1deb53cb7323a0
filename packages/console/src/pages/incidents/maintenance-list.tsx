import type { MaintenancePage, MaintenanceView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useChange, useGet } from '../../api/hooks.ts';
import { isolated } from '../../app/language.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Time } from '../../ui/figures.tsx';
import { Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { AnnounceMaintenance } from './announce-maintenance.tsx';
import * as texts from './texts.ts';

type Phase = 'planned' | 'running' | 'done' | 'cancelled';

function phaseOf({ startsAt, endsAt, cancelledAt }: MaintenanceView, nowMs: number): Phase {
  if (cancelledAt !== null) return 'cancelled';
  if (nowMs < Date.parse(startsAt)) return 'planned';
  return nowMs < Date.parse(endsAt) ? 'running' : 'done';
}

/** Maintenance that is announced, or was. */
export function MaintenanceList() {
  const t = useTexts(texts);
  const list = useGet<MaintenancePage>('/status/maintenance');
  const cancel = useChange<never>('POST', '/status/maintenance', { invalidates: ['/status/maintenance'] });
  const [isAnnouncing, setAnnouncing] = useState(false);
  const [taken, setTaken] = useState<MaintenanceView | null>(null);
  const titleOf = ({ title }: MaintenanceView) => title.en ?? title.zh ?? '';
  return (
    <Section
      title={t('maintenance')}
      actions={<Button onClick={() => setAnnouncing(true)}>{t('announce')}</Button>}
    >
      {list.isPending && <Skeleton className="h-8 w-full" />}
      {list.error !== null && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.items.length === 0 && <p className="text-sm text-soft">{t('maintenance.none')}</p>}
      <ul className="flex flex-col">
        {list.data?.items.map((work) => {
          const phase = phaseOf(work, Date.now());
          return (
            <li
              key={work.id}
              className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-line py-2.5 text-sm not-last:border-b"
            >
              <Badge tone={phase === 'running' ? 'accent' : 'neutral'}>{t(phase)}</Badge>
              <bdi className="font-medium break-words">{titleOf(work)}</bdi>
              <span className="text-soft">
                <Time iso={work.startsAt} absolute /> – <Time iso={work.endsAt} absolute />
              </span>
              <bdi className="text-soft break-all">
                {work.subjects?.map(({ name }) => isolated(name)).join(', ') ?? t('everything')}
              </bdi>
              {(phase === 'planned' || phase === 'running') && (
                <span className="ml-auto">
                  <Button size="sm" variant="danger" onClick={() => setTaken(work)}>
                    {t('cancel')}
                  </Button>
                </span>
              )}
            </li>
          );
        })}
      </ul>
      {isAnnouncing && <AnnounceMaintenance onClose={() => setAnnouncing(false)} />}
      <Confirm
        open={taken !== null}
        onClose={() => setTaken(null)}
        title={t('cancel.title', { title: taken === null ? '' : titleOf(taken) })}
        description={t('cancel.text')}
        confirmLabel={t('cancel')}
        onConfirm={() => cancel.mutateAsync({ path: `/status/maintenance/${taken?.id ?? ''}/cancel` })}
      />
    </Section>
  );
}
