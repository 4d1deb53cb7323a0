import type { AuditView, PersonView } from '@headgate/gateway/console';
import { FileDiff, ScrollText } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useCursorList, useGet } from '../../api/hooks.ts';
import { useSession } from '../../app/session.tsx';
import { type Translate, useTexts } from '../../app/texts.ts';
import { IconButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Time } from '../../ui/figures.tsx';
import { FilterBar, useFilters } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { auditKinds } from './audit-kinds.ts';
import { ChangeDialog } from './change-dialog.tsx';
import * as texts from './texts.ts';

const filterNames = ['within', 'person', 'target', 'thing', 'action'] as const;

const hourMs = 3_600_000;
const periods = [
  ['hour', hourMs],
  ['day', 24 * hourMs],
  ['week', 7 * 24 * hourMs],
  ['month', 30 * 24 * hourMs],
] as const;

/** The moment that a period began when it was chosen: a list that is read on has one beginning. */
function useStart(within: string | undefined): string | undefined {
  return useMemo(() => {
    const lengthMs = periods.find(([name]) => name === within)?.[1];
    return lengthMs === undefined ? undefined : new Date(Date.now() - lengthMs).toISOString();
  }, [within]);
}

/** Every change, newest first, with what was before and after it. */
export function AuditPage() {
  const t = useTexts(texts);
  const { may } = useSession();
  const [{ within, ...filters }] = useFilters(filterNames);
  const rows = useCursorList<AuditView>('/audit', { ...filters, from: useStart(within) });
  const people = useGet<{ readonly items: readonly PersonView[] }>(
    '/people',
    { limit: 200 },
    { enabled: may('operator') },
  );
  const [shown, setShown] = useState<AuditView | null>(null);
  const columns = useMemo(() => columnsOf(t, setShown), [t]);
  return (
    <Page title={t('title')} description={t('description')}>
      <FilterBar
        filters={[
          {
            ...{ name: 'within', label: t('when'), kind: 'select' },
            options: periods.map(([value]) => ({ value, label: t(`within.${value}`) })),
          },
          ...(people.data === undefined
            ? []
            : [
                {
                  ...{ name: 'person', label: t('who'), kind: 'select' as const },
                  options: people.data.items.map(({ id, name }) => ({ value: id, label: name })),
                },
              ]),
          {
            ...{ name: 'target', label: t('target'), kind: 'select' },
            options: auditKinds.map((kind) => ({ value: kind, label: t(`kind.${kind}`) })),
          },
          { name: 'thing', label: t('thing'), kind: 'text' },
          { name: 'action', label: t('action'), kind: 'text' },
        ]}
      />
      <Table
        label={t('title')}
        columns={columns}
        query={rows}
        rowKey={({ id }) => id}
        empty={
          <Empty icon={ScrollText} title={t('emptyTitle')}>
            {t('emptyDetail')}
          </Empty>
        }
      />
      {shown !== null && <ChangeDialog row={shown} onClose={() => setShown(null)} />}
    </Page>
  );
}

export function actorName({ actor }: AuditView, t: Translate<typeof texts.en>): string {
  return actor.kind === 'person' ? actor.name : t(`actor.${actor.kind}`);
}

function columnsOf(
  t: Translate<typeof texts.en>,
  onShow: (row: AuditView) => void,
): readonly Column<AuditView>[] {
  return [
    { id: 'when', header: t('when'), width: 120, cell: ({ at }) => <Time iso={at} /> },
    {
      id: 'who',
      header: t('who'),
      cell: (row) => <span title={row.address ?? undefined}>{actorName(row, t)}</span>,
      hideBelow: 'sm',
    },
    {
      id: 'did',
      header: t('did'),
      cell: ({ action }) => <span className="font-mono text-xs">{action}</span>,
    },
    {
      id: 'what',
      header: t('what'),
      hideBelow: 'md',
      cell: ({ target }) => <span title={target.id}>{target.name ?? target.id}</span>,
    },
    { id: 'account', header: t('account'), hideBelow: 'lg', cell: ({ account }) => account ?? '–' },
    {
      id: 'change',
      header: <span className="sr-only">{t('change')}</span>,
      width: 56,
      align: 'end',
      cell: (row) =>
        (row.before !== null || row.after !== null) && (
          <IconButton icon={FileDiff} label={t('show')} onClick={() => onShow(row)} />
        ),
    },
  ];
}
