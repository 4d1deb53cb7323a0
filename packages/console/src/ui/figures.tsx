import { useEffect, useReducer } from 'react';
import { useChoice } from '../app/choice.ts';
import { useLanguage } from '../app/language.ts';
import { moneyText, shownCurrency, usdText } from './money.ts';
import { absoluteText, compactText, countText, durationText, percentText, relativeText } from './numbers.ts';

const nothing = (
  <span className="text-faint" aria-hidden>
    –
  </span>
);

/** An amount, given in dollars, as the deployment shows it; pointed at, it is exact and in dollars. */
export function Money({
  usd,
  precision = 'auto',
}: {
  readonly usd: string | null | undefined;
  /** `full`: exact, in dollars. */
  readonly precision?: 'auto' | 'full';
}) {
  const currency = useChoice(shownCurrency);
  const language = useLanguage();
  if (usd === null || usd === undefined) return nothing;
  const exact = usdText(usd);
  return (
    <span title={exact} className="whitespace-nowrap">
      {precision === 'full' ? exact : moneyText(usd, currency, language)}
    </span>
  );
}

/** Stands for the amount while the sentence around it is made; no text has it. */
const place = '\u0000';

/** An amount within a sentence: `say` puts it in its place. */
export function MoneyIn({
  say,
  ...money
}: Parameters<typeof Money>[0] & { readonly say: (amount: string) => string }) {
  const [before, after] = say(place).split(place);
  return (
    <>
      {before}
      <Money {...money} />
      {after}
    </>
  );
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
