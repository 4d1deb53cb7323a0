import type { GroupView } from '@headgate/gateway/console';
import { Boxes, Plus } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useCursorList } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Count } from '../../ui/figures.tsx';
import { Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import * as texts from './texts.ts';

const GroupDialog = lazy(async () => ({ default: (await import('./group-dialog.tsx')).GroupDialog }));

/** Keys of a group have surface, models, price, limits and routing in common. */
export function GroupsPage() {
  const t = useTexts(texts);
  const [isMaking, setMaking] = useState(false);
  const groups = useCursorList<GroupView>('/groups');
  const columns = useColumns();
  const make = (
    <Button variant="primary" icon={Plus} onClick={() => setMaking(true)}>
      {t('make')}
    </Button>
  );
  return (
    <Page title={t('title')} description={t('description')} actions={make}>
      <Table
        label={t('title')}
        columns={columns}
        query={groups}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/groups/$id', params: { id } })}
        empty={
          <Empty title={t('none')} icon={Boxes} action={make}>
            {t('noneDetail')}
          </Empty>
        }
      />
      {isMaking && (
        <Suspense>
          <GroupDialog onClose={() => setMaking(false)} />
        </Suspense>
      )}
    </Page>
  );
}

function useColumns(): readonly Column<GroupView>[] {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('name'),
        cell: ({ id, name, declared }) => (
          <span className="flex min-w-0 items-center gap-2">
            <span className="min-w-0 truncate font-medium">{name}</span>
            <code className="hidden shrink-0 font-mono text-xs text-faint sm:inline">{id}</code>
            {declared && <Badge>{t('file')}</Badge>}
          </span>
        ),
        sortBy: ({ name }) => name,
      },
      { id: 'platform', header: t('platform'), width: 130, cell: ({ platform }) => platform },
      {
        ...{ id: 'multiplier', header: t('multiplier'), align: 'end', width: 100, hideBelow: 'sm' },
        cell: ({ multiplier }) => `× ${multiplier}`,
        sortBy: ({ multiplier }) => Number(multiplier),
      },
      {
        ...{ id: 'models', header: t('models'), align: 'end', width: 100, hideBelow: 'md' },
        cell: ({ models }) => (models === null ? t('all') : <Count value={models.length} />),
      },
      {
        id: 'preset',
        header: t('preset'),
        width: 120,
        hideBelow: 'md',
        cell: (row) => t(row.routing.preset),
      },
      {
        ...{ id: 'keys', header: t('keys'), align: 'end', width: 90, hideBelow: 'xs' },
        cell: ({ keys }) => <Count value={keys} />,
        sortBy: ({ keys }) => keys,
      },
    ],
    [t],
  );
}
