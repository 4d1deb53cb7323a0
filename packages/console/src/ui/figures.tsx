import { useEffect, useReducer } from 'react';
import { useLanguage } from '../app/language.ts';
import {
  absoluteText,
  compactText,
  countText,
  durationText,
  moneyText,
  percentText,
  relativeText,
} from './numbers.ts';

const nothing = (
  <span className="text-faint" aria-hidden>
    –
  </span>
);

/** An amount in dollars, exact when pointed at. */
export function Money({
  usd,
  precision,
}: {
  readonly usd: string | null | undefined;
  readonly precision?: 'auto' | 'full';
}) {
  if (usd === null || usd === undefined) return nothing;
  return <span title={moneyText(usd, 'full')}>{moneyText(usd, precision)}</span>;
}

/** A number of things. */
export function Count({
  value,
  compact = false,
}: {
  readonly value: number | string | null | undefined;
  readonly compact?: boolean;
}) {
  const language = useLanguage();
  if (value === null || value === undefined) return nothing;
  if (!compact) return <span>{countText(value)}</span>;
  return <span title={countText(value)}>{compactText(Number(value), language)}</span>;
}

/** How long something took. */
export function Duration({ ms }: { readonly ms: number | null | undefined }) {
  if (ms === null || ms === undefined) return nothing;
  return <span className="whitespace-nowrap">{durationText(ms)}</span>;
}

/** A share of 0 to 1. */
export function Percent({ value }: { readonly value: number | null | undefined }) {
  if (value === null || value === undefined) return nothing;
  return <span className="whitespace-nowrap">{percentText(value)}</span>;
}

const tickMs = 10_000;

/** A moment: how long ago, and when exactly on pointing at it. */
export function Time({
  iso,
  absolute = false,
}: {
  readonly iso: string | null | undefined;
  readonly absolute?: boolean;
}) {
  const language = useLanguage();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (absolute) return;
    const timer = setInterval(redraw, tickMs);
    return () => clearInterval(timer);
  }, [absolute]);
  if (iso === null || iso === undefined) return nothing;
  const ms = Date.parse(iso);
  const exact = absoluteText(ms, language);
  return (
    <time dateTime={iso} title={exact} className={absolute ? undefined : 'whitespace-nowrap'}>
      {absolute ? exact : relativeText(ms, Date.now(), language)}
    </time>
  );
}
