import type { SignedInPlace, SignedInPlaces } from '@headgate/gateway/console';
import { useMemo } from 'react';
import { useChange, useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Time } from '../../ui/figures.tsx';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { browserName } from './browser-name.ts';
import * as texts from './texts.ts';

/** Everywhere that the person is signed in. */
export function SessionSection() {
  const t = useTexts(texts);
  const places = useGet<SignedInPlaces>('/sessions');
  const { mutate: end } = useChange('DELETE', '/sessions', {
    invalidates: ['/sessions'],
    onDone: () => toast.success(t('revoked')),
  });
  const columns = useMemo<readonly Column<SignedInPlace>[]>(
    () => [
      {
        id: 'device',
        header: t('device'),
        cell: ({ userAgent, isThis }) => (
          <span className="flex items-center gap-2">
            <span className="truncate">{browserName(userAgent)}</span>
            {isThis && <Badge tone="accent">{t('thisOne')}</Badge>}
          </span>
        ),
      },
      {
        id: 'address',
        header: t('address'),
        width: 150,
        cell: ({ address }) => address ?? '–',
        hideBelow: 'sm',
      },
      {
        id: 'since',
        header: t('signedIn'),
        width: 130,
        cell: ({ createdAt }) => <Time iso={createdAt} />,
        hideBelow: 'md',
      },
      {
        id: 'seen',
        header: t('lastSeen'),
        width: 130,
        cell: ({ lastSeenAt }) => <Time iso={lastSeenAt} />,
        hideBelow: 'sm',
      },
      {
        id: 'end',
        header: <span className="sr-only">{t('revoke')}</span>,
        width: 90,
        align: 'end',
        cell: ({ id, isThis }) =>
          !isThis && (
            <Button size="sm" variant="ghost" onClick={() => end({ path: `/sessions/${id}` })}>
              {t('revoke')}
            </Button>
          ),
      },
    ],
    [t, end],
  );
  return (
    <Section title={t('sessions')} description={t('sessionsDetail')} plain>
      <Table
        label={t('sessions')}
        columns={columns}
        rows={places.data?.items}
        rowKey={({ id }) => id}
        source={places}
        empty={<p className="px-4 py-6 text-center text-soft">{t('noSessions')}</p>}
      />
    </Section>
  );
}
