import type { OverviewView } from '@headgate/gateway/console';
import { useMemo } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Chart } from '../../ui/chart.tsx';
import { Section } from '../../ui/page.tsx';
import * as texts from './texts.ts';

/** How calls, money, waiting and tokens went over the time. */
export function Courses({ overview }: { readonly overview: OverviewView }) {
  const t = useTexts(texts);
  const courses = useMemo(() => coursesOf(overview), [overview]);
  const { times } = courses;
  return (
    <div className="grid gap-x-4 gap-y-5 lg:grid-cols-2">
      <Section title={t('callsOverTime')}>
        <Chart
          label={t('callsOverTime')}
          unit="count"
          times={times}
          series={[
            { label: t('succeeded'), tone: 1, kind: 'area', values: courses.succeeded },
            { label: t('failedSeries'), tone: 'bad', values: courses.failed },
          ]}
        />
      </Section>
      <Section title={t('spendOverTime')}>
        <Chart
          label={t('spendOverTime')}
          unit="usd"
          times={times}
          series={[{ label: t('spend'), tone: 2, kind: 'bars', values: courses.charge }]}
        />
      </Section>
      <Section title={t('latencyOverTime')}>
        <Chart
          label={t('latencyOverTime')}
          unit="ms"
          times={times}
          series={[
            { label: 'p50', tone: 1, values: courses.p50 },
            { label: 'p95', tone: 4, values: courses.p95 },
          ]}
        />
      </Section>
      <Section title={t('tokensOverTime')}>
        <Chart
          label={t('tokensOverTime')}
          unit="count"
          times={times}
          series={[
            { label: t('inputTokens'), tone: 3, kind: 'area', values: courses.input },
            { label: t('outputTokens'), tone: 2, values: courses.output },
          ]}
        />
      </Section>
    </div>
  );
}

/** The points by what is drawn of them. Lines end before the step that is under way, which would look as if all had stopped; its bar grows. */
function coursesOf({ points, stepMs, asOf }: OverviewView) {
  const isOver = ({ at }: OverviewView['points'][number]) => Date.parse(at) + stepMs <= Date.parse(asOf);
  const lineOf = (countOf: (point: OverviewView['points'][number]) => number | null) =>
    points.map((point) => (isOver(point) ? countOf(point) : null));
  return {
    times: points.map(({ at }) => Date.parse(at) / 1_000),
    succeeded: lineOf(({ succeeded }) => succeeded),
    failed: lineOf(({ failed }) => failed),
    charge: points.map(({ charge }) => Number(charge)),
    p50: lineOf(({ ttftP50Ms }) => ttftP50Ms),
    p95: lineOf(({ ttftP95Ms }) => ttftP95Ms),
    input: lineOf(({ inputTokens }) => inputTokens),
    output: lineOf(({ outputTokens }) => outputTokens),
  };
}
