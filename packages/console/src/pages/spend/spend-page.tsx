import type { SpendReportView, SpendRow } from '@headgate/gateway/console';
import { Coins, Download } from 'lucide-react';
import { useMemo } from 'react';
import { urlOf } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Count, Money, MoneyIn } from '../../ui/figures.tsx';
import { FilterBar } from '../../ui/filters.tsx';
import { Notice } from '../../ui/notice.tsx';
import { countText } from '../../ui/numbers.ts';
import { Page, Section } from '../../ui/page.tsx';
import { Segments } from '../../ui/segments.tsx';
import { Stat, Stats } from '../../ui/stat.tsx';
import { Table } from '../../ui/table.tsx';
import { useSpendColumns } from './spend-columns.tsx';
import { type SpendQuestion, useDimensions, useSpendFilters, useSpendQuestion } from './spend-filters.ts';
import * as texts from './texts.ts';

/** Shows what calls were charged, by what they have in common. */
export function SpendPage() {
  const t = useTexts(texts);
  const [question, chooseBy] = useSpendQuestion();
  const { by, query } = question;
  const report = useGet<SpendReportView>('/spend', { ...query, by });
  const { data, isPending } = report;
  const options = useDimensions().map((value) => ({ value, label: t(`by.${value}`) }));
  const rows = data?.by === by ? data.items : undefined;
  return (
    <Page
      title={t('title')}
      description={t('description')}
      actions={
        <a
          className={buttonClass()}
          href={urlOf('/spend/export', { ...query, by })}
          download={`headgate-spend-${by}.csv`}
        >
          <Download size={14} aria-hidden /> {t('csv')}
        </a>
      }
    >
      <FilterBar filters={useSpendFilters()} />
      <Totals report={data} isLoading={isPending} />
      <Course question={question} />
      <div className="flex min-w-0">
        <Segments label={t('by')} value={by} options={options} onChange={chooseBy} />
      </div>
      <Table
        label={t(`by.${by}`)}
        columns={useSpendColumns(by, Number(data?.total.charge ?? 0))}
        rows={rows}
        isLoading={isPending || rows === undefined}
        source={report}
        rowKey={({ id }) => id ?? ''}
        empty={
          <Empty title={t('empty')} icon={Coins}>
            {t('emptyHint')}
          </Empty>
        }
      />
      {data?.others && (
        <p className="text-sm text-soft">
          <MoneyIn
            usd={data.others.charge}
            say={(charge) => t('others', { count: data.others?.count ?? 0, charge })}
          />
        </p>
      )}
      {(data?.total.unknownCosts ?? 0) > 0 && (
        <Notice tone="warn">{t('unknownCosts', { count: data?.total.unknownCosts ?? 0 })}</Notice>
      )}
    </Page>
  );
}

function Totals({
  report,
  isLoading,
}: {
  readonly report: SpendReportView | undefined;
  readonly isLoading: boolean;
}) {
  const t = useTexts(texts);
  const total = report?.total;
  const common = { isLoading };
  return (
    <Stats>
      <Stat {...common} label={t('charged')} value={<Money usd={total?.charge} />} />
      {total?.cost !== undefined && (
        <Stat
          {...common}
          label={t('cost')}
          value={<Money usd={total.cost} />}
          detail={total.margin && <MoneyIn usd={total.margin} say={(margin) => t('marginOf', { margin })} />}
        />
      )}
      <Stat
        {...common}
        label={t('calls')}
        value={<Count value={total?.calls} />}
        detail={t('billedOf', { count: countText(total?.billedCalls ?? 0) })}
      />
      <Stat
        {...common}
        label={t('tokens')}
        value={<Count value={total && total.inputTokens + total.outputTokens} compact />}
      />
    </Stats>
  );
}

/** The days of the report; those on which nothing was called are there, too. */
function Course({ question: { query, days } }: { readonly question: SpendQuestion }) {
  const t = useTexts(texts);
  const { data } = useGet<SpendReportView>('/spend', { ...query, by: 'day', limit: 1_000 });
  const [times, charges] = useMemo(() => courseOf(data?.items ?? [], days), [data, days]);
  return (
    <Section title={t('overTime')}>
      <Chart
        label={t('overTime')}
        unit="usd"
        times={times}
        series={[{ label: t('charged'), tone: 2, kind: 'bars', values: charges }]}
      />
    </Section>
  );
}

function courseOf(rows: readonly SpendRow[], days: readonly number[]) {
  const charges = new Map(rows.map(({ id, charge }) => [id, Number(charge)]));
  return [
    days.map((day) => day / 1_000),
    days.map((day) => charges.get(new Date(day).toISOString().slice(0, 10)) ?? 0),
  ] as const;
}
