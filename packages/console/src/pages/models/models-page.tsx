import type { DifferencePage, ModelItem, ModelPage } from '@headgate/gateway/console';
import { Boxes } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useCursorList, useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Count } from '../../ui/figures.tsx';
import { FilterBar, useFilters } from '../../ui/filters.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import * as priceTexts from './price-texts.ts';
import * as texts from './texts.ts';

const ImportPrices = lazy(async () => ({ default: (await import('./import-prices.tsx')).ImportPrices }));

/** Every public model, with what callers pay for it and what it costs. */
export function ModelsPage() {
  const t = useTexts(texts);
  const [values] = useFilters(['search', 'unpriced']);
  const query = useCursorList<ModelItem, ModelPage>('/models', values);
  const ofPrices = useTexts(priceTexts);
  const [open, setOpen] = useState<'differences' | 'import' | null>(null);
  const columns = useColumns();
  const unpriced = query.data?.pages[0]?.unpriced ?? 0;
  const isFiltered = Object.keys(values).length > 0;
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <>
          <Button onClick={() => setOpen('differences')}>{t('differences')}</Button>
          <Button onClick={() => setOpen('import')}>{ofPrices('import')}</Button>
        </>
      }
    >
      {unpriced > 0 && (
        <Notice tone="warn" title={t('unpriced.notice', { count: unpriced })}>
          {t('unpriced.text')}
        </Notice>
      )}
      <FilterBar
        filters={[
          { name: 'search', label: t('search'), kind: 'text' },
          {
            ...{ name: 'unpriced', label: t('unpriced'), kind: 'select' },
            options: [{ value: 'true', label: t('unpriced.true') }],
          },
        ]}
      />
      <Table
        label={t('title')}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/models/$id', params: { id } })}
        empty={
          isFiltered ? (
            <Empty title={t('empty.filtered')} />
          ) : (
            <Empty title={t('empty')} icon={Boxes}>
              {t('empty.text')}
            </Empty>
          )
        }
      />
      {open === 'differences' && <Differences onClose={() => setOpen(null)} />}
      {open === 'import' && (
        <Suspense>
          <ImportPrices onClose={() => setOpen(null)} />
        </Suspense>
      )}
    </Page>
  );
}

function useColumns(): readonly Column<ModelItem>[] {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'model',
        header: t('model'),
        width: 'grow',
        cell: ({ id, name }) => (
          <bdi className="truncate font-medium" title={name}>
            {id}
          </bdi>
        ),
      },
      {
        ...{ id: 'price', header: t('price'), width: 170, align: 'end' },
        cell: ({ price, planned }) => (
          <span className="flex items-center justify-end gap-2">
            {planned > 0 && <Badge tone="accent">{t('planned')}</Badge>}
            {price === null ? <Badge tone="warn">{t('none')}</Badge> : `$${price.input} / $${price.output}`}
          </span>
        ),
      },
      {
        ...{ id: 'cost', header: t('cost'), width: 190, align: 'end', hideBelow: 'md' },
        cell: ({ cost }) => (cost === null ? '–' : `${rangeText(cost.input)} / ${rangeText(cost.output)}`),
      },
      {
        ...{ id: 'margin', header: t('margin'), width: 100, align: 'end', hideBelow: 'sm' },
        cell: ({ margin }) =>
          margin === null
            ? '–'
            : margin.least === margin.most
              ? `${margin.most} %`
              : `${margin.least}–${margin.most} %`,
      },
      { id: 'from', header: t('from'), width: 170, hideBelow: 'lg', cell: ({ from }) => from },
      {
        id: 'context',
        header: t('context'),
        width: 90,
        align: 'end',
        hideBelow: 'lg',
        cell: ({ contextWindow }) => <Count value={contextWindow} compact />,
      },
      {
        id: 'channels',
        header: t('channels'),
        width: 90,
        align: 'end',
        hideBelow: 'sm',
        cell: ({ channels }) => <span title={channels.slice(0, 20).join(', ')}>{channels.length}</span>,
      },
    ],
    [t],
  );
}

function rangeText({ least, most }: { readonly least: string; readonly most: string }): string {
  return least === most ? `$${least}` : `$${least}–${most}`;
}

type Difference = DifferencePage['items'][number];

function Differences({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(texts);
  const found = useGet<DifferencePage>('/price-differences');
  const columns: readonly Column<Difference>[] = [
    {
      id: 'model',
      header: t('model'),
      width: 'grow',
      cell: ({ model }) => <bdi className="truncate">{model}</bdi>,
    },
    { id: 'of', header: t('of'), width: 130, hideBelow: 'sm', cell: ({ what }) => what },
    { id: 'inForce', header: t('inForce'), width: 90, align: 'end', cell: ({ inForce }) => inForce ?? '–' },
    { id: 'other', header: t('other'), width: 90, align: 'end', cell: ({ other }) => other ?? '–' },
    { id: 'by', header: t('by'), width: 170, hideBelow: 'md', cell: ({ otherBy }) => otherBy },
  ];
  return (
    <Dialog open size="lg" onClose={onClose} title={t('differences.title')}>
      <Table
        label={t('differences.title')}
        columns={columns}
        rows={found.data?.items}
        source={found}
        rowKey={({ model, what, otherBy }) => `${model} ${what} ${otherBy}`}
        empty={<Empty title={t('differences.none')} />}
      />
    </Dialog>
  );
}
