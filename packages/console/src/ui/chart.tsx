import { lazy, Suspense } from 'react';
import type { ChartProps } from './chart-plot.tsx';
import { Skeleton } from './skeleton.tsx';

export type { ChartSeries } from './chart-plot.tsx';

const Plot = lazy(async () => ({ default: (await import('./chart-plot.tsx')).ChartPlot }));

/** The course of numbers over time. What draws it is fetched with the first one. */
export function Chart(props: ChartProps) {
  return (
    <Suspense fallback={<Skeleton className="h-48 w-full" />}>
      <Plot {...props} />
    </Suspense>
  );
}
