import type { ReactNode } from 'react';
import { Skeleton } from './skeleton.tsx';
import { Spark } from './spark.tsx';

interface StatProps {
  readonly label: ReactNode;
  /** Undefined while it is loading. */
  readonly value: ReactNode;
  /** A second line: what it was before, or what it is of. */
  readonly detail?: ReactNode;
  readonly spark?: readonly (number | null)[];
  readonly isLoading?: boolean;
}

/** One number that matters, large. */
export function Stat({ label, value, detail, spark, isLoading = false }: StatProps) {
  return (
    <div className="@container -mr-px -mb-px flex min-w-0 flex-col gap-0.5 border-r border-b border-line px-4 py-3">
      <div className="truncate text-xs text-soft">{label}</div>
      {isLoading ? (
        <Skeleton className="my-1 h-6 w-20" />
      ) : (
        <div className="truncate text-lg font-semibold tracking-tight @min-[9.5rem]:text-xl">{value}</div>
      )}
      <div className="flex min-h-5 items-end justify-between gap-3">
        <div className="truncate text-xs text-soft">{isLoading ? null : detail}</div>
        {spark !== undefined && (
          <span className="hidden @min-[11rem]:block">
            <Spark values={spark} />
          </span>
        )}
      </div>
    </div>
  );
}

/** Several in a row, of which each is as wide as the others. */
export function Stats({ children }: { readonly children: ReactNode }) {
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(9.5rem,1fr))] overflow-hidden rounded-lg border border-line bg-surface">
      {children}
    </div>
  );
}
