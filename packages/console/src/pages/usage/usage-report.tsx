import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Count, Duration, Money, Time } from '../../ui/figures.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { Stat, Stats } from '../../ui/stat.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import * as texts from './texts.ts';
import type { KeyUsageAnswer, LimitOfMoney, LimitOfRate, SummedUsage, UsedCall } from './usage-client.ts';

interface UsageReportProps {
  readonly answer: KeyUsageAnswer;
  readonly calls: readonly UsedCall[];
  readonly isBusy: boolean;
  readonly onMore: () => void;
}

/** A key's quota, days, models and calls. */
export function UsageReport({ answer, calls, isBusy, onMore }: UsageReportProps) {
  const t = useTexts(texts);
  const { usage, daily_usage: daily, model_stats: models } = answer;
  return (
    <>
      {answer.status === 'exhausted' && <Notice tone="warn" title={t('exhausted')} />}
      <Stats>
        <Stat
          label={t('today')}
          value={<Money usd={usage.today.charge} />}
          detail={<Calls sum={usage.today} />}
        />
        <Stat
          label={t('inAll')}
          value={<Money usd={usage.total.charge} />}
          detail={<Calls sum={usage.total} />}
        />
        <Stat
          label={t('remaining')}
          value={answer.remaining === null ? t('unlimited') : <Money usd={answer.remaining} />}
          detail={answer.planName}
        />
        <Stat
          label={t('expires')}
          value={answer.expires_at === null ? t('never') : <Time iso={answer.expires_at} />}
        />
      </Stats>
      <Limits answer={answer} />
      <Section title={t('days')}>
        <Chart
          label={t('days')}
          unit="usd"
          times={daily.map(({ date }) => Date.parse(date) / 1000)}
          series={[{ label: t('charge'), kind: 'bars', values: daily.map(({ charge }) => Number(charge)) }]}
        />
      </Section>
      <Section title={t('models')} plain>
        <Table
          label={t('models')}
          rows={models}
          rowKey={({ model }) => model}
          columns={useModelColumns()}
          empty={<Empty title={t('none')} />}
        />
      </Section>
      <Section title={t('calls')} plain>
        <Table
          label={t('calls')}
          rows={calls}
          rowKey={({ trace_id: id }) => id}
          columns={useCallColumns()}
          empty={<Empty title={t('none')}>{t('noneDetail')}</Empty>}
        />
        {answer.next_cursor !== null && (
          <div>
            <Button busy={isBusy} onClick={onMore}>
              {t('more')}
            </Button>
          </div>
        )}
      </Section>
    </>
  );
}

function Limits({ answer }: { readonly answer: KeyUsageAnswer }) {
  const t = useTexts(texts);
  if (answer.budgets.length + answer.rate_limits.length === 0) return null;
  return (
    <Section title={t('limits')}>
      <ul className="grid grid-cols-1 gap-x-8 gap-y-3 sm:grid-cols-2">
        {answer.budgets.map((budget) => (
          <BudgetLine key={`${budget.of} ${budget.kind}`} budget={budget} />
        ))}
        {answer.rate_limits.map((rate) => (
          <RateLine key={`${rate.of} ${rate.kind} ${rate.model}`} rate={rate} />
        ))}
      </ul>
    </Section>
  );
}

function Calls({ sum }: { readonly sum: SummedUsage }) {
  const t = useTexts(texts);
  return <>{t('callsCount', { count: sum.calls })}</>;
}

function BudgetLine({
  budget: { of, kind, limit, used, reset_at: resetAt },
}: {
  readonly budget: LimitOfMoney;
}) {
  return (
    <li className="flex flex-col gap-1">
      <span className="flex flex-wrap justify-between gap-x-3">
        <span>
          {kind} <span className="text-soft">({of})</span>
        </span>
        <span className="text-soft">
          <Money usd={used} /> / <Money usd={limit} /> {resetAt !== null && <Time iso={resetAt} />}
        </span>
      </span>
      <Meter value={Number(used)} max={Number(limit)} label={`${kind} ${of}`} />
    </li>
  );
}

function RateLine({ rate: { of, kind, model, limit, used } }: { readonly rate: LimitOfRate }) {
  return (
    <li className="flex flex-col gap-1">
      <span className="flex flex-wrap justify-between gap-x-3">
        <span>
          {kind} <span className="text-soft">({model ?? of})</span>
        </span>
        <span className="text-soft">
          <Count value={used} /> / <Count value={limit} />
        </span>
      </span>
      <Meter value={used} max={limit} label={`${kind} ${model ?? of}`} />
    </li>
  );
}

function useModelColumns(): readonly Column<KeyUsageAnswer['model_stats'][number]>[] {
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
      ...{ id: 'input', header: t('input'), align: 'end', width: 120, hideBelow: 'sm' },
      cell: (row) => <Count value={row.input_tokens} />,
    },
    {
      ...{ id: 'output', header: t('output'), align: 'end', width: 120, hideBelow: 'sm' },
      cell: (row) => <Count value={row.output_tokens} />,
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

function useCallColumns(): readonly Column<UsedCall>[] {
  const t = useTexts(texts);
  return [
    { id: 'time', header: t('time'), width: 130, cell: (call) => <Time iso={call.started_at} /> },
    { id: 'model', header: t('model'), cell: ({ model }) => model },
    {
      ...{ id: 'status', header: t('status'), width: 150, hideBelow: 'sm' },
      cell: ({ status, billed, unbilled_reason: reason }) => (
        <Badge tone={billed ? 'good' : 'neutral'}>{billed ? status : (reason ?? status)}</Badge>
      ),
    },
    {
      ...{ id: 'tokens', header: t('tokens'), align: 'end', width: 130, hideBelow: 'md' },
      cell: ({ usage }) => (
        <>
          <Count value={usage.input_tokens} /> → <Count value={usage.output_tokens} />
        </>
      ),
    },
    {
      ...{ id: 'duration', header: t('duration'), align: 'end', width: 90, hideBelow: 'md' },
      cell: (call) => <Duration ms={call.duration_ms} />,
    },
    {
      id: 'charge',
      header: t('charge'),
      align: 'end',
      width: 100,
      cell: ({ charge }) => <Money usd={charge} />,
    },
    {
      ...{ id: 'trace', header: t('trace'), width: 280, hideBelow: 'lg' },
      cell: (call) => <code className="font-mono text-xs">{call.trace_id}</code>,
    },
  ];
}
