import type { LiveRatesView } from '@headgate/gateway/console';
import { type ReactNode, useState } from 'react';
import { isLive, useLive } from '../../api/live.ts';
import { useChoice } from '../../app/choice.ts';
import { useTexts } from '../../app/texts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Count, Money } from '../../ui/figures.tsx';
import { Spark } from '../../ui/spark.tsx';
import * as texts from './texts.ts';

/** The last minute is drawn. */
const secondsMax = 60;

/** The rates of this second, as the stream tells them. */
export function LiveRates({ onCalls }: { readonly onCalls: () => void }) {
  const t = useTexts(texts);
  const isOpen = useChoice(isLive);
  const [rates, setRates] = useState<readonly LiveRatesView[]>([]);
  useLive<LiveRatesView>('overview', (rate) => {
    setRates((before) => [...before, rate].slice(-secondsMax));
    if (rate.callsPerSecond > 0) onCalls();
  });
  const now = rates.at(-1);
  return (
    <section
      aria-label={t('now')}
      className="flex min-h-10 flex-wrap items-center gap-x-6 gap-y-1.5 rounded-lg border border-line bg-surface px-4 py-2"
    >
      <span title={isOpen ? undefined : t('notLive')}>
        <Badge tone={isOpen ? 'good' : 'neutral'}>
          <span className={`size-1.5 rounded-full ${isOpen ? 'bg-good' : 'bg-strong'}`} aria-hidden />
          {t('now')}
        </Badge>
      </span>
      <Rate label={t('callsPerSecond')} value={now && rateText(now.callsPerSecond)}>
        <Spark values={rates.map(({ callsPerSecond }) => callsPerSecond)} />
      </Rate>
      <Rate label={t('failedPerSecond')} value={now && rateText(now.failedPerSecond)} />
      <Rate label={t('tokensPerSecond')} value={now && <Count value={now.tokensPerSecond} />} />
      <Rate label={t('spendPerMinute')} value={now && <Money usd={now.spendPerMinute} />} />
      {now !== undefined && now.openCalls !== null && (
        <Rate label={t('openCalls')} value={<Count value={now.openCalls} />} />
      )}
    </section>
  );
}

interface RateProps {
  readonly label: string;
  /** Undefined until the first second has been heard. */
  readonly value: ReactNode;
  readonly children?: ReactNode;
}

function Rate({ label, value, children }: RateProps) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <b className="min-w-4 text-right font-semibold">{value ?? '–'}</b>
      <span className="text-soft">{label}</span>
      {children}
    </span>
  );
}

function rateText(perSecond: number): string {
  return perSecond === 0 || perSecond >= 100 ? String(Math.round(perSecond)) : perSecond.toFixed(1);
}
