import type { PastRouteView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { Empty } from '../../ui/empty.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Duration, Money, Percent, Time } from '../../ui/figures.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { usdOf } from './route-plan.tsx';
import * as texts from './texts.ts';

type Attempt = PastRouteView['attempts'][number];

/** The plans that a call was routed by, and what came of each attempt. */
export function PastRoute({ past }: { readonly past: PastRouteView }) {
  const t = useTexts(texts);
  const columns = useAttemptColumns();
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-soft">
        {past.model} · {past.status} · <Time iso={past.startedAt} absolute />
      </p>
      {past.plans.map((plan, at) => (
        <div key={plan.attemptsBefore} className="flex flex-col gap-2">
          <h3 className="text-sm font-medium">{t('planN', { number: at + 1 })}</h3>
          <Facts
            items={[
              { label: t('choice'), value: plan.because },
              ...plan.candidates.map(({ channel, share, chance, expectedCostPicoUsd }) => ({
                label: <bdi>{channel}</bdi>,
                value: (
                  <span className="tabular-nums">
                    {t('share')} <Percent value={share} /> · {t('chance')} <Percent value={chance} /> ·{' '}
                    <Money usd={usdOf(expectedCostPicoUsd)} />
                  </span>
                ),
              })),
              ...plan.exclusions.map(({ because, channels }) => ({
                label: because,
                value: channels.join(', '),
              })),
            ]}
          />
        </div>
      ))}
      <h3 className="text-sm font-medium">{t('attempts')}</h3>
      <Table
        label={t('attempts')}
        columns={columns}
        rows={past.attempts}
        rowKey={({ n }) => String(n)}
        empty={<Empty title={t('none')} />}
      />
    </div>
  );
}

function useAttemptColumns(): readonly Column<Attempt>[] {
  const t = useTexts(texts);
  return [
    { id: 'n', header: '#', width: 40, cell: ({ n }) => n },
    {
      id: 'channel',
      header: t('channel'),
      width: 'grow',
      cell: ({ channel }) => <bdi className="truncate">{channel}</bdi>,
    },
    {
      id: 'result',
      header: t('result'),
      width: 150,
      cell: ({ result, httpStatus }) => `${result}${httpStatus === null ? '' : ` ${httpStatus}`}`,
    },
    {
      id: 'detail',
      header: t('detail'),
      width: 260,
      hideBelow: 'md',
      cell: ({ detail }) => (
        <bdi className="truncate" title={detail ?? ''}>
          {detail ?? '–'}
        </bdi>
      ),
    },
    {
      id: 'duration',
      header: t('duration'),
      width: 100,
      align: 'end',
      cell: ({ durationMs }) => <Duration ms={durationMs} />,
    },
  ];
}
