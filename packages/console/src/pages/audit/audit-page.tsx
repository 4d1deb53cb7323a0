import type { AuditView } from '@headgate/gateway/console';
import { ScrollText } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useCursorList } from '../../api/hooks.ts';
import { type Translate, useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Time } from '../../ui/figures.tsx';
import { FilterBar, useFilters } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import * as texts from './texts.ts';

/** Every change, newest first, with what was before and after it. */
export function AuditPage() {
  const t = useTexts(texts);
  const [filters] = useFilters(['action', 'target']);
  const rows = useCursorList<AuditView>('/audit', filters);
  const [shown, setShown] = useState<AuditView | null>(null);
  const columns = useMemo(() => columnsOf(t, setShown), [t]);
  return (
    <Page title={t('title')} description={t('description')}>
      <FilterBar
        filters={[
          { name: 'action', label: t('action'), kind: 'text' },
          { name: 'target', label: t('target'), kind: 'text' },
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
    { id: 'when', header: t('when'), width: 130, cell: ({ at }) => <Time iso={at} /> },
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
      width: 150,
      align: 'end',
      cell: (row) =>
        (row.before !== null || row.after !== null) && (
          <Button size="sm" variant="ghost" onClick={() => onShow(row)}>
            {t('show')}
          </Button>
        ),
    },
  ];
}
