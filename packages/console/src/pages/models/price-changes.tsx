import type { ChangesView } from '@headgate/gateway/console';
import { useMemo } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Time } from '../../ui/figures.tsx';
import { Notice } from '../../ui/notice.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import * as texts from './price-texts.ts';

type Change = ChangesView['items'][number];

/** Every part of every price that changes, with what it was before. */
export function PriceChanges({ changes }: { readonly changes: ChangesView }) {
  const t = useTexts(texts);
  const columns = useMemo(
    (): readonly Column<Change>[] => [
      {
        ...{ id: 'subject', header: t('subject') },
        cell: ({ subject }) => (
          <bdi className="block truncate">{subject.replace(/^(model|channel):/, '')}</bdi>
        ),
      },
      { id: 'what', header: t('what'), width: 120, cell: ({ what }) => what },
      {
        ...{ id: 'from', header: t('from'), width: 190, hideBelow: 'xs' },
        cell: ({ from }) => (from === null ? t('now') : <Time iso={from} absolute />),
      },
      {
        ...{ id: 'before', header: t('before'), width: 80, align: 'end' },
        cell: ({ before }) => <span className="text-soft">{before ?? '–'}</span>,
      },
      { id: 'after', header: t('after'), width: 80, align: 'end', cell: ({ after }) => after ?? '–' },
    ],
    [t],
  );
  if (changes.items.length === 0) return <Notice>{t('same')}</Notice>;
  return (
    <Table
      label={t('changes')}
      columns={columns}
      rows={changes.items}
      rowKey={({ subject, from, what }) => `${subject} ${from} ${what}`}
      empty={null}
    />
  );
}
