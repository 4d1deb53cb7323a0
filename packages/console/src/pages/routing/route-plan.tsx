import type { RoutePlanView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { Empty } from '../../ui/empty.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Duration, Money, Percent, Time } from '../../ui/figures.tsx';
import { usdText } from '../../ui/money.ts';
import { Notice } from '../../ui/notice.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import * as texts from './texts.ts';
import { useReasons } from './words.ts';

type Candidate = RoutePlanView['candidates'][number];
type Excluded = RoutePlanView['exclusions'][number];

/** Pico-dollars in dollars. */
export function usdOf(picoUsd: number): string {
  return (picoUsd / 1e12).toFixed(12);
}

/** A plan with the scores of its candidates, and why the others are left out. */
export function RoutePlan({ plan }: { readonly plan: RoutePlanView }) {
  const t = useTexts(texts);
  const [candidates, excluded] = [useCandidateColumns(), useExcludedColumns()];
  const chosen = useReasons('choice');
  const translated = Object.entries(plan.translated);
  return (
    <div className="flex flex-col gap-4">
      {plan.warnings.length > 0 && (
        <Notice tone="warn" title={t('warnings')}>
          {plan.warnings.join('; ')}
        </Notice>
      )}
      <Facts
        items={[
          { label: t('choice'), value: chosen(plan.choice, plan.because) },
          { label: t('group'), value: `${plan.group} (${plan.preset})` },
          { label: t('surface'), value: plan.surface },
          {
            label: t('order'),
            value: <bdi className="break-words">{plan.order.join(' → ') || t('none')}</bdi>,
          },
          ...translated.map(([channel, protocols]) => ({
            label: t('translated'),
            value: <bdi>{`${channel}: ${protocols.join(', ')}`}</bdi>,
          })),
        ]}
      />
      <h3 className="text-sm font-medium">{t('candidates')}</h3>
      <Table
        label={t('candidates')}
        columns={candidates}
        rows={plan.candidates}
        rowKey={({ channel, upstreamModel }) => `${channel} ${upstreamModel}`}
        empty={<Empty title={t('none')} />}
      />
      <h3 className="text-sm font-medium">{t('excluded')}</h3>
      <Table
        label={t('excluded')}
        columns={excluded}
        rows={plan.exclusions}
        rowKey={({ channel, upstreamModel }) => `${channel} ${upstreamModel}`}
        empty={<Empty title={t('none')} />}
      />
    </div>
  );
}

function useCandidateColumns(): readonly Column<Candidate>[] {
  const t = useTexts(texts);
  return [
    {
      id: 'channel',
      header: t('channel'),
      width: 'grow',
      cell: ({ channel, upstreamModel }) => (
        <bdi className="truncate" title={upstreamModel}>
          {channel}
        </bdi>
      ),
    },
    { id: 'tier', header: t('tier'), width: 70, align: 'end', hideBelow: 'md', cell: ({ tier }) => tier },
    {
      id: 'share',
      header: t('share'),
      width: 80,
      align: 'end',
      cell: ({ share }) => <Percent value={share} />,
    },
    {
      id: 'chance',
      header: t('chance'),
      width: 90,
      align: 'end',
      cell: ({ chance }) => <Percent value={chance} />,
    },
    {
      id: 'wait',
      header: t('wait'),
      width: 90,
      align: 'end',
      hideBelow: 'sm',
      cell: ({ waitMs }) => <Duration ms={waitMs} />,
    },
    {
      ...{ id: 'cost', header: t('expected'), width: 130, align: 'end' },
      cell: ({ expectedCostPicoUsd, costKnown, parts }) => (
        <span
          title={t('parts', {
            price: usdText(usdOf(parts.pricePicoUsd)),
            waiting: usdText(usdOf(parts.waitingPicoUsd)),
            failing: usdText(usdOf(parts.failurePicoUsd)),
            breakage: usdText(usdOf(parts.breakagePicoUsd)),
            slowStart: usdText(usdOf(parts.slowStartPicoUsd)),
          })}
        >
          {!costKnown && (
            <abbr title={t('costUnknown')} className="no-underline">
              ≈{' '}
            </abbr>
          )}
          <Money usd={usdOf(expectedCostPicoUsd)} />
        </span>
      ),
    },
  ];
}

function useExcludedColumns(): readonly Column<Excluded>[] {
  const t = useTexts(texts);
  const left = useReasons('left');
  return [
    {
      id: 'channel',
      header: t('channel'),
      width: 220,
      cell: ({ channel }) => <bdi className="truncate">{channel}</bdi>,
    },
    {
      id: 'because',
      header: t('because'),
      width: 'grow',
      cell: ({ reason, because }) => left(reason, because),
    },
    {
      id: 'until',
      header: t('until'),
      width: 130,
      hideBelow: 'sm',
      cell: ({ until }) => <Time iso={until} />,
    },
  ];
}
