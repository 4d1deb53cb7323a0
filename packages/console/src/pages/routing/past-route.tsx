import type { PastRouteView } from '@headgate/gateway/console';
import { type Translate, useTexts } from '../../app/texts.ts';
import { Empty } from '../../ui/empty.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Duration, Money, Percent, Time } from '../../ui/figures.tsx';
import { Link } from '../../ui/link.tsx';
import { countText } from '../../ui/numbers.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { useWords } from '../call/words.ts';
import * as ledgerTexts from '../ledger/texts.ts';
import { usdOf } from './route-plan.tsx';
import * as texts from './texts.ts';
import { useReasons } from './words.ts';

type Attempt = PastRouteView['attempts'][number];

/** The plans that a call was routed by, and what came of each attempt. */
export function PastRoute({ past }: { readonly past: PastRouteView }) {
  const t = useTexts(texts);
  const columns = useAttemptColumns();
  const [chosen, left, l] = [useReasons('choice'), useReasons('left'), useTexts(ledgerTexts)];
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap justify-between gap-x-4 gap-y-1 text-sm">
        <p className="text-soft">
          <bdi>{past.model}</bdi> · {statusText(l, past.status)} · <Time iso={past.startedAt} absolute />
        </p>
        <Link to="/calls/$id" params={{ id: past.traceId }}>
          {t('theCall')}
        </Link>
      </div>
      {past.plans.map((plan, at) => (
        <div key={plan.attemptsBefore} className="flex flex-col gap-2">
          <h3 className="text-sm font-medium">{t('planN', { number: at + 1 })}</h3>
          <Facts
            items={[
              { label: t('choice'), value: chosen(plan.choice, plan.because) },
              ...(plan.protocol === null ? [] : [{ label: t('translated'), value: plan.protocol }]),
              ...plan.candidates.map(({ channel, share, chance, expectedCostPicoUsd }) => ({
                label: <bdi>{channel}</bdi>,
                value: (
                  <span className="tabular-nums">
                    {t('share')} <Percent value={share} /> · {t('chance')} <Percent value={chance} /> ·{' '}
                    <Money usd={usdOf(expectedCostPicoUsd)} />
                  </span>
                ),
              })),
              ...plan.exclusions.map(({ reason, because, channels, count }) => ({
                label: left(reason, because),
                value: (
                  <bdi>{`${channels.join(', ')}${count > channels.length ? ` … (${countText(count)})` : ''}`}</bdi>
                ),
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

/** The ledger's word for how a call ended. */
function statusText(t: Translate<typeof ledgerTexts.en>, status: string): string {
  const name = `status.${status}`;
  return name in ledgerTexts.en ? t(name as Parameters<typeof t>[0]) : status;
}

function useAttemptColumns(): readonly Column<Attempt>[] {
  const t = useTexts(texts);
  const word = useWords('result');
  return [
    { id: 'n', header: '#', width: 40, cell: ({ n }) => n },
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
    {
      id: 'result',
      header: t('result'),
      width: 150,
      cell: ({ result, httpStatus }) => `${word(result)}${httpStatus === null ? '' : ` ${httpStatus}`}`,
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
      ...{ id: 'first', header: t('firstContent'), width: 110, align: 'end', hideBelow: 'md' },
      cell: ({ ttftMs }) => <Duration ms={ttftMs} />,
    },
    {
      ...{ id: 'cost', header: t('cost'), width: 130, align: 'end', hideBelow: 'sm' },
      cell: ({ costNanoUsd }) => (
        <Money usd={costNanoUsd === null ? null : usdOf(Number(costNanoUsd) * 1_000)} />
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
