import { lazy, Suspense } from 'react';
import type { ChartProps } from './chart-plot.tsx';
import { Skeleton } from './skeleton.tsx';

const Plot = lazy(async () => ({ default: (await import('./chart-plot.tsx')).ChartPlot }));

/** The course of numbers over time. What draws it is fetched with the first one. */
export function Chart(props: ChartProps) {
  return (
    <Suspense
      fallback={
        <div aria-busy="true">
          <Skeleton className="h-55 w-full" />
        </div>
      }
    >
      <Plot {...props} />
    </Suspense>
  );
}
