import type { OverviewView } from '@headgate/gateway/console';
import { useMemo } from 'react';
import { useTexts } from '../../app/texts.ts';
import { Chart } from '../../ui/chart.tsx';
import { Section } from '../../ui/page.tsx';
import * as texts from './texts.ts';

/** How calls, money, waiting and tokens went over the time. */
export function Courses({ overview: { points } }: { readonly overview: OverviewView }) {
  const t = useTexts(texts);
  const courses = useMemo(() => coursesOf(points), [points]);
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

/** The points by what is drawn of them. */
function coursesOf(points: OverviewView['points']) {
  return {
    times: points.map(({ at }) => Date.parse(at) / 1_000),
    succeeded: points.map(({ succeeded }) => succeeded),
    failed: points.map(({ failed }) => failed),
    charge: points.map(({ charge }) => Number(charge)),
    p50: points.map(({ ttftP50Ms }) => ttftP50Ms),
    p95: points.map(({ ttftP95Ms }) => ttftP95Ms),
    input: points.map(({ inputTokens }) => inputTokens),
    output: points.map(({ outputTokens }) => outputTokens),
  };
}
