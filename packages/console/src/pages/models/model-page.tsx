import type { ModelView } from '@headgate/gateway/console';
import { useState } from 'react';
import { useChange, useGet } from '../../api/hooks.ts';
import { usePathId } from '../../app/path.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Time } from '../../ui/figures.tsx';
import { Link } from '../../ui/link.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { ModelDiscounts } from './model-discounts.tsx';
import { SetPrice } from './set-price.tsx';
import * as texts from './texts.ts';
import { Tiers } from './tiers.tsx';

type Version = ModelView['history'][number];
type Cost = ModelView['costs'][number];

/** One model: its price in force and later, where it comes from, and what it costs on each channel. */
export function ModelPage() {
  const t = useTexts(texts);
  const id = usePathId();
  const model = useGet<ModelView>(`/models/${encodeURIComponent(id)}`);
  const back = <Link to="/models">{t('back')}</Link>;
  if (model.data === undefined)
    return (
      <Page title={id} back={back}>
        {model.error ? (
          <ErrorState error={model.error} onRetry={() => void model.refetch()} />
        ) : (
          <Skeleton className="h-64 w-full" />
        )}
      </Page>
    );
  const { data } = model;
  return (
    <Page
      title={id}
      heading={<bdi className="break-all">{id}</bdi>}
      back={back}
      actions={<Actions model={data} />}
    >
      <Section
        title={t('current')}
        description={
          data.since !== null && (
            <>
              {t('since')} <Time iso={data.since} absolute />
            </>
          )
        }
      >
        <Tiers tiers={data.tiers} />
      </Section>
      {data.planned.map(({ from, tiers }) => (
        <Section
          key={from}
          title={
            <>
              {t('begins')} <Time iso={from} absolute />
            </>
          }
        >
          <Tiers tiers={tiers} />
        </Section>
      ))}
      <ModelDiscounts model={id} />
      <Costs costs={data.costs} />
      <Section
        title={t('list')}
        description={
          data.listPrice !== null && t('list.asOf', { list: data.listPrice.list, day: data.listPrice.asOf })
        }
      >
        {data.listPrice === null ? (
          <p className="text-sm text-soft">{t('list.none')}</p>
        ) : (
          <Tiers tiers={data.listPrice.tiers} />
        )}
      </Section>
      <History versions={data.history} />
    </Page>
  );
}

function Actions({ model }: { readonly model: ModelView }) {
  const t = useTexts(texts);
  const [open, setOpen] = useState<'set' | 'back' | null>(null);
  const close = () => setOpen(null);
  const onDone = () => toast.success(t('done'));
  const list = useChange<object, unknown>('POST', '/prices/list', {
    invalidates: ['/models', '/price'],
    onDone,
  });
  const remove = useChange<object, unknown>('POST', '/prices/remove', {
    invalidates: ['/models', '/price'],
    onDone,
  });
  const isSet = model.source === 'operator' || model.planned.some(({ source }) => source === 'operator');
  return (
    <>
      {model.listPrice !== null && (
        <Button
          busy={list.isPending}
          onClick={() => void list.mutateAsync({ body: { models: [model.model] } }).catch(toast.error)}
        >
          {t('takeList')}
        </Button>
      )}
      {isSet && <Button onClick={() => setOpen('back')}>{t('takeBack')}</Button>}
      <Button variant="primary" onClick={() => setOpen('set')}>
        {t('set')}
      </Button>
      {open === 'set' && <SetPrice model={model} onClose={close} />}
      <Confirm
        open={open === 'back'}
        onClose={close}
        title={t('takeBack.title', { model: model.model })}
        description={t('takeBack.text')}
        confirmLabel={t('takeBack')}
        onConfirm={() => remove.mutateAsync({ body: { model: model.model } })}
      />
    </>
  );
}

function Costs({ costs }: { readonly costs: readonly Cost[] }) {
  const t = useTexts(texts);
  const columns: readonly Column<Cost>[] = [
    {
      id: 'channel',
      header: t('channels'),
      width: 'grow',
      cell: ({ channel }) => <bdi className="truncate">{channel}</bdi>,
    },
    {
      id: 'upstream',
      header: t('model'),
      width: 220,
      hideBelow: 'md',
      cell: ({ upstreamModel }) => <bdi className="truncate">{upstreamModel}</bdi>,
    },
    {
      ...{ id: 'cost', header: t('cost'), width: 170, align: 'end' },
      cell: ({ tiers }) =>
        tiers === null
          ? t('unknown')
          : `$${tiers[0]?.prices['input'] ?? '–'} / $${tiers[0]?.prices['output'] ?? '–'}`,
    },
  ];
  return (
    <Section title={t('costs')} plain>
      <Table
        label={t('costs')}
        columns={columns}
        rows={costs}
        rowKey={({ channel, upstreamModel }) => `${channel} ${upstreamModel}`}
        rowLink={({ channel }) => ({ to: '/channels/$id', params: { id: channel } })}
        empty={<Empty title={t('unknown')} />}
      />
    </Section>
  );
}

function History({ versions }: { readonly versions: readonly Version[] }) {
  const t = useTexts(texts);
  const columns: readonly Column<Version>[] = [
    { id: 'written', header: t('written'), width: 130, cell: ({ writtenAt }) => <Time iso={writtenAt} /> },
    {
      id: 'from',
      header: t('begins'),
      width: 180,
      hideBelow: 'sm',
      cell: ({ since }) => <Time iso={since} absolute />,
    },
    { id: 'source', header: t('source'), width: 'grow', cell: ({ source }) => source ?? '–' },
    {
      ...{ id: 'price', header: t('price'), width: 170, align: 'end' },
      cell: ({ tiers }) =>
        tiers === null ? '–' : `$${tiers[0]?.prices['input'] ?? '–'} / $${tiers[0]?.prices['output'] ?? '–'}`,
    },
  ];
  return (
    <Section title={t('history')} plain>
      <Table
        label={t('history')}
        columns={columns}
        rows={versions.toReversed()}
        rowKey={({ version }) => version ?? ''}
        empty={<Empty title={t('none')} />}
      />
    </Section>
  );
}
