import type { KeyChoicesView, KeyItem } from '@headgate/gateway/console';
import { KeyRound, Plus } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useCursorList, useGet } from '../../api/hooks.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Select } from '../../ui/field.tsx';
import { Money, Time } from '../../ui/figures.tsx';
import { type Filter, FilterBar, useFilters } from '../../ui/filters.tsx';
import { Meter } from '../../ui/meter.tsx';
import { usdText } from '../../ui/money.ts';
import { Page } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { KeyStateDot, keyStates, tightestOf } from './key-state.tsx';
import * as texts from './texts.ts';

const MakeKey = lazy(async () => ({ default: (await import('./make-key.tsx')).MakeKey }));
const orders = ['-created', 'name', '-lastUsed', '-spend30d'] as const;

/** All keys that the person may see. */
export function KeysPage() {
  const t = useTexts(texts);
  const session = useSession();
  const [isMaking, setMaking] = useState(false);
  const [filters, change] = useFilters(['q', 'state', 'account', 'group', 'sort']);
  const choices = useGet<KeyChoicesView>('/keys/choices', {}, { staleMs: 60_000 });
  const account = filters.account ?? session.account;
  const keys = useCursorList<KeyItem>('/keys', { ...filters, account });
  const columns = useColumns();
  const isFiltered = Object.keys(filters).some((name) => name !== 'sort');
  const mayMake = session.may('member');
  const makeButton = mayMake && (
    <Button variant="primary" icon={Plus} onClick={() => setMaking(true)}>
      {t('make')}
    </Button>
  );
  return (
    <Page title={t('title')} description={t('description')} actions={makeButton}>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <FilterBar filters={useKeyFilters(choices.data)} />
        <div className="w-44">
          <Select
            aria-label={t('sortedBy')}
            value={filters.sort ?? '-created'}
            onChange={(sort) => change({ sort: sort === '-created' ? undefined : sort })}
            options={orders.map((order) => ({ value: order, label: t(`order.${order}`) }))}
          />
        </div>
      </div>
      <Table
        label={t('title')}
        columns={columns}
        query={keys}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/keys/$id', params: { id } })}
        empty={
          isFiltered ? (
            <Empty title={t('noMatch')}>{t('noMatchDetail')}</Empty>
          ) : (
            <Empty title={t('none')} icon={KeyRound} action={makeButton || undefined}>
              {t(mayMake ? 'noneDetail' : 'noneForViewer')}
            </Empty>
          )
        }
      />
      {isMaking && (
        <Suspense>
          <MakeKey onClose={() => setMaking(false)} />
        </Suspense>
      )}
    </Page>
  );
}

function useKeyFilters(choices: KeyChoicesView | undefined): readonly Filter[] {
  const t = useTexts(texts);
  const named = (items: readonly { readonly id: string; readonly name: string }[] = []) =>
    items.map(({ id, name }) => ({ value: id, label: name }));
  return [
    { name: 'q', label: t('search'), kind: 'text' },
    {
      name: 'state',
      label: t('stateLabel'),
      kind: 'select',
      options: keyStates.map((state) => ({ value: state, label: t(`state.${state}`) })),
    },
    { name: 'account', label: t('account'), kind: 'select', options: named(choices?.accounts) },
    { name: 'group', label: t('group'), kind: 'select', options: named(choices?.groups) },
  ];
}

function useColumns(): readonly Column<KeyItem>[] {
  const t = useTexts(texts);
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('name'),
        cell: ({ name, hint, declared }) => (
          <span className="flex min-w-0 items-center gap-2">
            <span className="min-w-0 truncate font-medium">{name}</span>
            <code className="hidden shrink-0 font-mono text-xs text-faint sm:inline">{hint}</code>
            {declared && <Badge>{t('declaredShort')}</Badge>}
          </span>
        ),
      },
      {
        id: 'state',
        header: t('stateLabel'),
        width: 120,
        cell: ({ state }) => <KeyStateDot state={state} />,
      },
      { id: 'account', header: t('account'), width: 140, hideBelow: 'lg', cell: (key) => key.accountName },
      { id: 'group', header: t('group'), width: 140, hideBelow: 'lg', cell: (key) => key.groupName },
      {
        ...{ id: 'lastUsed', header: t('lastUsed'), width: 130, hideBelow: 'md' },
        cell: ({ lastUsedAt }) =>
          lastUsedAt === null ? <span className="text-faint">{t('never')}</span> : <Time iso={lastUsedAt} />,
      },
      {
        ...{ id: 'day', header: t('spend24h'), width: 110, align: 'end', hideBelow: 'md' },
        cell: ({ spend24h }) => <Money usd={spend24h} />,
      },
      {
        ...{ id: 'month', header: t('spend30d'), width: 110, align: 'end', hideBelow: 'xs' },
        cell: ({ spend30d }) => <Money usd={spend30d} />,
      },
      {
        ...{ id: 'budget', header: t('used'), width: 130, hideBelow: 'md' },
        cell: ({ budgets }) => <UsedBudget budgets={budgets} />,
      },
    ],
    [t],
  );
}

function UsedBudget({ budgets }: Pick<KeyItem, 'budgets'>) {
  const t = useTexts(texts);
  const tightest = tightestOf(budgets);
  if (tightest === null) return <span className="text-faint">{t('unlimited')}</span>;
  const { span, spent, amount } = tightest;
  const label = t('usedOf', { span: t(`budget.${span}`) });
  return (
    <span className="flex items-center gap-2" title={`${usdText(spent)} / ${usdText(amount)}`}>
      <Meter value={Number(spent)} max={Number(amount)} label={label} />
    </span>
  );
}
