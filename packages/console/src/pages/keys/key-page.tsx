import type { DeclarationView, KeyChoicesView, KeyUsageView, KeyView } from '@headgate/gateway/console';
import { lazy, Suspense } from 'react';
import { useGet, useTagged } from '../../api/hooks.ts';
import { usePathId } from '../../app/path.ts';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { Chart } from '../../ui/chart.tsx';
import { Code } from '../../ui/code.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Count, Money, Time } from '../../ui/figures.tsx';
import { Link } from '../../ui/link.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Stat, Stats } from '../../ui/stat.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { BudgetBars } from './budget-bars.tsx';
import { KeyActions } from './key-actions.tsx';
import { modelsOf } from './key-place.ts';
import { KeyStateDot } from './key-state.tsx';
import { rateNames } from './limit-names.ts';
import { RateLimits } from './rate-limits.tsx';
import { KeySnippets } from './secret-once.tsx';
import * as texts from './texts.ts';

const ChangeKey = lazy(async () => ({ default: (await import('./change-key.tsx')).ChangeKey }));

/** One key: what it has spent, what it may, how it is used. */
export function KeyPage() {
  const t = useTexts(texts);
  const id = usePathId('id');
  const session = useSession();
  const key = useTagged<KeyView>(`/keys/${id}`);
  const choices = useGet<KeyChoicesView>('/keys/choices', {}, { staleMs: 60_000 });
  const back = <Link to="/keys">{t('title')}</Link>;
  if (key.error)
    return (
      <Page title={t('key')} back={back}>
        <ErrorState error={key.error} onRetry={() => void key.refetch()} />
      </Page>
    );
  if (key.data === undefined)
    return (
      <Page title={t('key')} back={back}>
        <Skeleton className="h-72 w-full" />
      </Page>
    );
  const { value, etag } = key.data;
  const mayChange = session.may('member', value.account);
  const tabs = [
    { id: 'usage', label: t('usage'), content: <Usage keyView={value} /> },
    { id: 'settings', label: t('settings'), content: <Settings keyView={value} /> },
    ...(mayChange && !value.declared && value.state !== 'revoked' && choices.data !== undefined
      ? [
          {
            ...{ id: 'change', label: t('change') },
            content: (
              <Suspense fallback={<Skeleton className="h-72 w-full" />}>
                <ChangeKey key={etag} keyView={value} etag={etag} choices={choices.data} />
              </Suspense>
            ),
          },
        ]
      : []),
    { id: 'use', label: t('howToUse'), content: <HowToUse keyView={value} choices={choices.data} /> },
    { id: 'yaml', label: 'YAML', content: <Yaml id={id} /> },
  ];
  return (
    <Page
      title={value.name}
      back={back}
      description={<Head keyView={value} />}
      actions={mayChange && <KeyActions keyView={value} choices={choices.data} />}
    >
      {value.declared && <Notice title={t('declaredTitle')}>{t('declaredDetail', { id })}</Notice>}
      <Tabs items={tabs} />
    </Page>
  );
}

function Head({ keyView: { state, hint, retiresAt, replacedBy } }: { readonly keyView: KeyView }) {
  const t = useTexts(texts);
  return (
    <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <KeyStateDot state={state} />
      <code className="font-mono text-xs">{hint}</code>
      {retiresAt !== null && (
        <span>
          {t('retires')} <Time iso={retiresAt} />
        </span>
      )}
      {replacedBy !== null && (
        <Link to="/keys/$id" params={{ id: replacedBy }}>
          {t('successor')}
        </Link>
      )}
    </span>
  );
}

function Usage({ keyView }: { readonly keyView: KeyView }) {
  const t = useTexts(texts);
  const usage = useGet<KeyUsageView>(`/keys/${keyView.id}/usage`, { days: 30 });
  const days = usage.data?.days ?? [];
  return (
    <>
      <Stats>
        <Stat label={t('spend24h')} value={<Money usd={keyView.spend24h} />} />
        <Stat label={t('spend30d')} value={<Money usd={keyView.spend30d} />} />
        <Stat
          label={t('calls30d')}
          isLoading={usage.isPending}
          value={<Count value={days.reduce((sum, { calls }) => sum + calls, 0)} />}
        />
        <Stat
          label={t('lastUsed')}
          value={keyView.lastUsedAt === null ? t('never') : <Time iso={keyView.lastUsedAt} />}
        />
      </Stats>
      {keyView.budgets.length > 0 && (
        <Section title={t('budgets')}>
          <BudgetBars budgets={keyView.budgets} />
        </Section>
      )}
      <RateLimits of={`/keys/${keyView.id}`} limits={keyView.limits} />
      {usage.error ? (
        <ErrorState error={usage.error} onRetry={() => void usage.refetch()} />
      ) : (
        <Section title={t('spendByDay')}>
          <Chart
            label={t('spendByDay')}
            times={days.map(({ day }) => Date.parse(day) / 1000)}
            unit="usd"
            series={[{ label: t('charge'), kind: 'bars', values: days.map(({ charge }) => Number(charge)) }]}
          />
        </Section>
      )}
      <Section title={t('models')} plain>
        <Table
          label={t('models')}
          rows={usage.data?.models}
          rowKey={({ model }) => model}
          columns={useModelColumns()}
          empty={<Empty title={t('notUsed')}>{t('notUsedDetail')}</Empty>}
        />
      </Section>
    </>
  );
}

function useModelColumns(): readonly Column<KeyUsageView['models'][number]>[] {
  const t = useTexts(texts);
  return [
    { id: 'model', header: t('model'), cell: ({ model }) => model },
    {
      id: 'calls',
      header: t('calls'),
      align: 'end',
      width: 90,
      cell: ({ calls }) => <Count value={calls} />,
    },
    {
      ...{ id: 'input', header: t('inputTokens'), align: 'end', width: 120, hideBelow: 'sm' },
      cell: ({ inputTokens }) => <Count value={inputTokens} />,
    },
    {
      ...{ id: 'output', header: t('outputTokens'), align: 'end', width: 120, hideBelow: 'sm' },
      cell: ({ outputTokens }) => <Count value={outputTokens} />,
    },
    {
      id: 'charge',
      header: t('charge'),
      align: 'end',
      width: 100,
      cell: ({ charge }) => <Money usd={charge} />,
    },
  ];
}

function Settings({ keyView }: { readonly keyView: KeyView }) {
  const t = useTexts(texts);
  const { limits } = keyView;
  const rates = rateNames.flatMap((name) => {
    const rate = limits?.[name];
    return rate === undefined ? [] : [{ label: t(`rate.${name}`), value: <Count value={rate} /> }];
  });
  return (
    <Section>
      <Facts
        items={[
          { label: 'Id', value: <code className="font-mono text-xs">{keyView.id}</code> },
          { label: t('account'), value: keyView.accountName },
          { label: t('group'), value: `${keyView.groupName} · ${t(`platform.${keyView.platform}`)}` },
          { label: t('models'), value: keyView.models?.join(', ') ?? t('everyModel') },
          { label: t('created'), value: <Time iso={keyView.createdAt} absolute /> },
          {
            label: t('expires'),
            value: keyView.expires === null ? t('never') : <Time iso={keyView.expires} absolute />,
          },
          { label: t('addresses'), value: keyView.addressRanges?.join(', ') ?? t('anyAddress') },
          { label: t('strict'), value: keyView.strict ? t('yes') : t('no') },
          { label: t('alertAt'), value: keyView.alertAt ?? '–' },
          ...rates,
        ]}
      />
    </Section>
  );
}

interface HowToUseProps {
  readonly keyView: KeyView;
  readonly choices: KeyChoicesView | undefined;
}

/** The same snippets as when it was made, with a gap where its secret stood. */
function HowToUse({ keyView, choices }: HowToUseProps) {
  const t = useTexts(texts);
  const { deployment } = useSession();
  const models = choices === undefined ? [] : modelsOf(keyView.group, choices);
  return (
    <Section description={t('useDetail')}>
      <KeySnippets
        secret="YOUR_KEY"
        platform={keyView.platform}
        origin={deployment.apiOrigin}
        model={keyView.models?.[0] ?? models[0] ?? null}
      />
    </Section>
  );
}

function Yaml({ id }: { readonly id: string }) {
  const t = useTexts(texts);
  const declaration = useGet<DeclarationView>(`/keys/${id}/declaration`);
  if (declaration.error) return <ErrorState error={declaration.error} />;
  return (
    <Section description={t('yamlDetail')} plain>
      {declaration.data === undefined ? (
        <Skeleton className="h-32 w-full" />
      ) : (
        <Code>{declaration.data.yaml}</Code>
      )}
    </Section>
  );
}
