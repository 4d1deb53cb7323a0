import type { AdjustmentView, DeclarationView, OwnerView, SpendView } from '@headgate/gateway/console';
import { Minus, Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useCursorList, useGet, useTagged } from '../../api/hooks.ts';
import { usePathId } from '../../app/path.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { Code } from '../../ui/code.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Count, Money, MoneyIn, Time } from '../../ui/figures.tsx';
import { Link } from '../../ui/link.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Stat, Stats } from '../../ui/stat.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { BudgetBars } from '../keys/budget-bars.tsx';
import { RateLimits } from '../keys/rate-limits.tsx';
import { Adjust } from './adjust.tsx';
import type { DiscountView } from './discounts.tsx';
import * as texts from './texts.ts';

/** Few who look at an account look at its people, so they come when they are asked for. */
const Members = lazy(async () => ({ default: (await import('../people/members.tsx')).Members }));

const ChangeAccount = lazy(async () => ({ default: (await import('./change-account.tsx')).ChangeAccount }));

/** One account: its money, its budgets, what it was charged, and its postings. */
export function AccountPage() {
  const t = useTexts(texts);
  const id = usePathId('id');
  const { isOperator } = useSession();
  const [direction, setDirection] = useState<'credit' | 'debit' | null>(null);
  const account = useTagged<OwnerView>(`/accounts/${id}`);
  const back = <Link to="/accounts">{t('title')}</Link>;
  if (account.data === undefined)
    return (
      <Page title={t('account')} back={back}>
        {account.error ? (
          <ErrorState error={account.error} onRetry={() => void account.refetch()} />
        ) : (
          <Skeleton className="h-72 w-full" />
        )}
      </Page>
    );
  const { value, etag } = account.data;
  const isDeclared = value.source === 'file';
  const actions = isOperator && (
    <>
      <Button variant="primary" icon={Plus} onClick={() => setDirection('credit')}>
        {t('credit')}
      </Button>
      <Button icon={Minus} onClick={() => setDirection('debit')}>
        {t('debit')}
      </Button>
    </>
  );
  const change = (
    <Suspense fallback={<Skeleton className="h-72 w-full" />}>
      <ChangeAccount key={etag} account={value} etag={etag} />
    </Suspense>
  );
  const tabs = [
    { id: 'overview', label: t('overview'), content: <Overview account={value} /> },
    { id: 'postings', label: t('postings'), content: <Postings id={id} /> },
    {
      id: 'members',
      label: t('members'),
      content: (
        <Suspense fallback={<Skeleton />}>
          <Members accountId={id} />
        </Suspense>
      ),
    },
    ...(isOperator && !isDeclared ? [{ id: 'change', label: t('change'), content: change }] : []),
    { id: 'yaml', label: 'YAML', content: <Yaml id={id} /> },
  ];
  return (
    <Page
      title={value.name}
      back={back}
      description={<code className="font-mono text-xs">{id}</code>}
      actions={actions}
    >
      {isDeclared && <Notice title={t('declaredTitle')}>{t('declaredDetail', { id })}</Notice>}
      <Tabs items={tabs} />
      {direction !== null && <Adjust id={id} direction={direction} onClose={() => setDirection(null)} />}
    </Page>
  );
}

function Overview({ account }: { readonly account: OwnerView }) {
  const t = useTexts(texts);
  const money = account.account?.money;
  const spend = useGet<SpendView>(`/accounts/${account.id}/usage`, { days: 30 });
  const days = spend.data?.days ?? [];
  const discount = account.account?.discount ?? null;
  const groups = account.account?.groups ?? null;
  return (
    <>
      <Stats>
        <Stat label={t('balance')} value={<Money usd={money?.balance} />} />
        <Stat
          label={t('available')}
          value={money?.available == null ? t('unlimited') : <Money usd={money.available} />}
          detail={
            money?.creditLimit && (
              <MoneyIn usd={money.creditLimit} say={(amount) => t('withCredit', { amount })} />
            )
          }
        />
        <Stat label={t('held')} value={<Money usd={money?.leased} />} detail={t('heldHint')} />
        <Stat
          label={t('keys')}
          value={
            <Link to="/keys" search={{ account: account.id }}>
              <Count value={account.keyCount} />
            </Link>
          }
        />
      </Stats>
      {account.budgets.length > 0 && (
        <Section title={t('budgets')}>
          <BudgetBars budgets={account.budgets} />
        </Section>
      )}
      <RateLimits of={`/accounts/${account.id}`} limits={account.limits} />
      <Section title={t('spendByDay')}>
        {spend.error ? (
          <ErrorState error={spend.error} onRetry={() => void spend.refetch()} />
        ) : (
          <Chart
            label={t('spendByDay')}
            unit="usd"
            times={days.map(({ day }) => Date.parse(day) / 1000)}
            series={[{ label: t('charge'), kind: 'bars', values: days.map(({ charge }) => Number(charge)) }]}
          />
        )}
      </Section>
      <Section title={t('terms')}>
        <Facts
          items={[
            { label: t('kind'), value: t(money?.prepaid === true ? 'prepaid' : 'postpaid') },
            { label: t('timezone'), value: account.timezone },
            { label: t('discount'), value: discount === null ? '–' : discountText(discount) },
            { label: t('groups'), value: groups === null ? t('groupsInUse') : groups.join(', ') || '–' },
            ...(account.limits === null ? [{ label: t('limits'), value: '–' }] : []),
          ]}
        />
      </Section>
    </>
  );
}

export function discountText(discount: DiscountView): string {
  if (!Array.isArray(discount)) return `${discount} %`;
  return discount
    .map(({ percent, models }) => `${percent} %${models === undefined ? '' : ` (${models.join(', ')})`}`)
    .join('; ');
}

function Postings({ id }: { readonly id: string }) {
  const t = useTexts(texts);
  const postings = useCursorList<AdjustmentView>(`/accounts/${id}/postings`);
  const columns: readonly Column<AdjustmentView>[] = [
    { id: 'at', header: t('time'), width: 190, cell: ({ at }) => <Time iso={at} absolute /> },
    {
      ...{ id: 'amount', header: t('amount'), align: 'end', width: 120 },
      cell: ({ amount }) => <Money usd={amount} precision="full" />,
    },
    { id: 'reason', header: t('reason'), cell: ({ reason }) => reason },
    {
      id: 'reference',
      header: t('reference'),
      width: 160,
      hideBelow: 'md',
      cell: (row) => row.reference ?? '–',
    },
    { id: 'madeBy', header: t('madeBy'), width: 160, hideBelow: 'lg', cell: ({ madeBy }) => madeBy },
  ];
  return (
    <Table
      label={t('postings')}
      columns={columns}
      query={postings}
      rowKey={(row) => row.id}
      empty={<Empty title={t('noPostings')}>{t('noPostingsDetail')}</Empty>}
    />
  );
}

function Yaml({ id }: { readonly id: string }) {
  const declaration = useGet<DeclarationView>(`/accounts/${id}/declaration`);
  if (declaration.error) return <ErrorState error={declaration.error} />;
  return declaration.data === undefined ? (
    <Skeleton className="h-32 w-full" />
  ) : (
    <Code>{declaration.data.yaml}</Code>
  );
}
