import type { ChannelHistoryView } from '@headgate/gateway/console';
import { useMemo } from 'react';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Chart } from '../../ui/chart.tsx';
import type { ChartSeries } from '../../ui/chart-plot.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import * as texts from './history-texts.ts';

type Point = ChannelHistoryView['points'][number];
type Kind = keyof Point['faults'];

const refetchMs = 60_000;
/** Kinds of errors that have a line of their own: as many as there are tones that can be told apart. */
const linesMax = 5;

/** The last day of a channel: how much of it went well, how quickly, and what went wrong. */
export function ChannelHistory({ path }: { readonly path: string }) {
  const t = useTexts(texts);
  const history = useGet<ChannelHistoryView>(`${path}/history`, {}, { refetchMs });
  if (history.data === undefined)
    return (
      <Section title={t('title')}>
        {history.error ? (
          <ErrorState error={history.error} onRetry={() => void history.refetch()} />
        ) : (
          <div aria-busy="true">
            <Skeleton className="h-55 w-full" />
          </div>
        )}
      </Section>
    );
  const { points } = history.data;
  if (points.every(({ calls }) => calls === 0))
    return (
      <Section title={t('title')}>
        <Empty title={t('empty')}>{t('empty.text')}</Empty>
      </Section>
    );
  return <Charts points={points} />;
}

function Charts({ points }: { readonly points: readonly Point[] }) {
  const t = useTexts(texts);
  const times = useMemo(() => points.map(({ at }) => Date.parse(at) / 1_000), [points]);
  const errors = useErrorLines(points);
  return (
    <Section title={t('title')} plain>
      <div className="grid gap-x-4 gap-y-4 lg:grid-cols-2">
        <Section>
          <Chart
            label={t('success')}
            unit="percent"
            times={times}
            series={[
              { label: t('success'), tone: 'good', kind: 'area', values: points.map((it) => it.success) },
            ]}
          />
        </Section>
        <Section>
          <Chart
            label={t('latency')}
            unit="ms"
            times={times}
            series={[
              { label: `${t('latency')} p50`, tone: 1, values: points.map(({ ttftP50Ms }) => ttftP50Ms) },
              { label: 'p95', tone: 4, values: points.map(({ ttftP95Ms }) => ttftP95Ms) },
            ]}
          />
        </Section>
        <Section>
          <Chart
            label={t('calls')}
            unit="count"
            times={times}
            series={[
              {
                ...{ label: t('answered'), tone: 1, kind: 'area' },
                values: points.map(({ calls, errors: bad }) => calls - bad),
              },
              { label: t('failed'), tone: 'bad', values: points.map(({ errors: bad }) => bad) },
            ]}
          />
        </Section>
        <Section>
          {errors.length === 0 ? (
            <Empty title={t('errors.none')} />
          ) : (
            <Chart label={t('errors')} unit="count" times={times} series={errors} />
          )}
        </Section>
      </div>
    </Section>
  );
}

const tones = ['bad', 4, 2, 3, 5] as const satisfies readonly ChartSeries['tone'][];

/** A line for each kind of error, the commonest first; rare kinds share one. */
function useErrorLines(points: readonly Point[]): readonly ChartSeries[] {
  const t = useTexts(texts);
  return useMemo(() => {
    const sums = new Map<Kind, number>();
    for (const { faults } of points)
      for (const [kind, count] of entriesOf(faults)) sums.set(kind, (sums.get(kind) ?? 0) + count);
    const kinds = [...sums].sort(([, one], [, other]) => other - one).map(([kind]) => kind);
    const own = kinds.length > linesMax ? kinds.slice(0, linesMax - 1) : kinds;
    const rest = kinds.slice(own.length);
    const line = (label: string, of: readonly Kind[], at: number): ChartSeries => ({
      label,
      tone: tones[at] ?? 6,
      values: points.map(({ faults }) => of.reduce((sum, kind) => sum + (faults[kind] ?? 0), 0)),
    });
    return [
      ...own.map((kind, at) => line(texts.kindText(t, kind), [kind], at)),
      ...(rest.length === 0 ? [] : [line(t('others'), rest, own.length)]),
    ];
  }, [points, t]);
}

function entriesOf(faults: Point['faults']): readonly [Kind, number][] {
  // The contract says which names there are.
  return Object.entries(faults) as [Kind, number][];
}
