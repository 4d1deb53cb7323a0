import type { EventView } from '@headgate/gateway/console';
import { useMemo } from 'react';
import { useTexts } from '../../app/texts.ts';
import { FilterBar, type FilterValues, useFilters } from '../../ui/filters.tsx';
import * as texts from './texts.ts';

const dayMs = 86_400_000;
export const severities = ['error', 'warning', 'info'] as const satisfies readonly EventView['severity'][];
const states = ['open', 'ended'] as const;
const ranges = { '24h': 1, '7d': 7, '30d': 30 } as const;
type Range = keyof typeof ranges;
const rangeNames = Object.keys(ranges) as readonly Range[]; // The keys of the table are its names.

// The texts of the page name every kind that there is; its type says so.
export const kinds = Object.keys(texts.en).flatMap((name) =>
  name.startsWith('kind.') ? [name.slice('kind.'.length) as EventView['kind']] : [],
);

/** The filter of the address, as the API is asked for it; a time begins at a whole minute. */
export function useAlertQuery(): FilterValues {
  const [values] = useFilters(['severity', 'kind', 'state', 'acknowledged', 'range', 'since', 'until']);
  const text = JSON.stringify(values);
  return useMemo(() => {
    const { range, ...rest } = JSON.parse(text) as FilterValues;
    const name = rangeNames.find((known) => known === range);
    if (name === undefined) return rest;
    const sinceMs = Math.floor(Date.now() / 60_000) * 60_000 - ranges[name] * dayMs;
    return { ...rest, since: new Date(sinceMs).toISOString() };
  }, [text]);
}

export function AlertFilters() {
  const t = useTexts(texts);
  return (
    <FilterBar
      filters={[
        {
          ...{ name: 'state', label: t('state'), kind: 'select' },
          options: states.map((value) => ({ value, label: t(`state.${value}`) })),
        },
        {
          ...{ name: 'acknowledged', label: t('seen'), kind: 'select' },
          options: [
            { value: 'false', label: t('seen.false') },
            { value: 'true', label: t('seen.true') },
          ],
        },
        {
          ...{ name: 'severity', label: t('severity'), kind: 'select' },
          options: severities.map((value) => ({ value, label: t(`severity.${value}`) })),
        },
        {
          ...{ name: 'kind', label: t('kind'), kind: 'select' },
          options: kinds.map((value) => ({ value, label: t(`kind.${value}`) })),
        },
        {
          ...{ name: 'range', label: t('time'), kind: 'select' },
          options: rangeNames.map((value) => ({ value, label: t(`range.${value}`) })),
        },
      ]}
    />
  );
}
