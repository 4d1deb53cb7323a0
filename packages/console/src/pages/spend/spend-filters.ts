import { useMemo } from 'react';
import { useSession } from '../../app/session.tsx';
import { useTexts } from '../../app/texts.ts';
import { type Filter, type FilterValues, useFilters } from '../../ui/filters.tsx';
import * as texts from './texts.ts';

const dayMs = 86_400_000;

/** The ranges that are offered, as whole days of UTC: the days that they have, or which month it is. */
const ranges = { '7d': 7, '30d': 30, '90d': 90, month: 0, lastMonth: -1 } as const;
type Range = keyof typeof ranges;
const rangeNames = Object.keys(ranges) as readonly Range[]; // The keys of the table are its names.
const usualRange: Range = '30d';

const dimensions = ['key', 'account', 'group', 'model', 'tag', 'channel', 'day'] as const;
export type Dimension = (typeof dimensions)[number];
const texted = ['key', 'account', 'model', 'tag', 'channel'] as const;

/** Lists by what the person may sum up; channels are for operators. */
export function useDimensions(): readonly Dimension[] {
  const { isOperator } = useSession();
  return dimensions.filter((name) => isOperator || name !== 'channel');
}

export function useSpendFilters(): readonly Filter[] {
  const t = useTexts(texts);
  const { isOperator } = useSession();
  return useMemo(
    () => [
      {
        ...{ name: 'range', label: t('range'), kind: 'select' },
        usual: t(`range.${usualRange}`),
        options: rangeNames
          .filter((value) => value !== usualRange)
          .map((value) => ({ value, label: t(`range.${value}`) })),
      },
      ...texted
        .filter((name) => isOperator || name !== 'channel')
        .map((name): Filter => ({ name, label: t(`by.${name}`), kind: 'text' })),
    ],
    [t, isOperator],
  );
}

export interface SpendQuestion {
  readonly by: Dimension;
  readonly query: FilterValues;
  /** The days that are asked for, as moments of UTC. */
  readonly days: readonly number[];
}

/** The report that the address asks for. Its days are whole, so it is the same question all day. */
export function useSpendQuestion(): readonly [SpendQuestion, (by: string) => void] {
  const [values, change] = useFilters(['by', 'range', 'from', 'to', ...texted]);
  const { account } = useSession();
  const allowed = useDimensions();
  const asked = allowed.find((name) => name === values['by']) ?? 'key';
  const text = JSON.stringify(values);
  const today = Math.floor(Date.now() / dayMs);
  const question = useMemo(() => {
    const { by: _, range, from, to, ...rest } = JSON.parse(text) as FilterValues;
    const [fromMs, toMs] = periodOf(range, today * dayMs);
    const period = {
      from: from ?? new Date(fromMs).toISOString(),
      to: to ?? new Date(toMs).toISOString(),
    };
    return {
      by: asked,
      query: { ...(account === null ? {} : { account }), ...rest, ...period },
      days: daysBetween(Date.parse(period.from), Math.min(Date.parse(period.to), (today + 1) * dayMs)),
    };
  }, [text, account, today, asked]);
  return [question, (by) => change({ by: by === 'key' ? undefined : by })];
}

function periodOf(range: string | undefined, todayMs: number): readonly [number, number] {
  const name = rangeNames.find((known) => known === range) ?? usualRange;
  const days = ranges[name];
  if (days > 0) return [todayMs - (days - 1) * dayMs, todayMs + dayMs];
  const today = new Date(todayMs);
  const monthAt = (ahead: number) => Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + ahead);
  return [monthAt(days), monthAt(days + 1)];
}

const daysMax = 400;

function daysBetween(fromMs: number, toMs: number): readonly number[] {
  const first = Math.floor(fromMs / dayMs);
  const count = Math.min(daysMax, Math.max(0, Math.ceil(toMs / dayMs) - first)) || 0;
  return Array.from({ length: count }, (_, at) => (first + at) * dayMs);
}
