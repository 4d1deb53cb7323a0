import type { RatesView, RateView } from '@headgate/gateway/console';
import type { ReactNode } from 'react';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { ErrorState } from '../../ui/error-state.tsx';
import { Count } from '../../ui/figures.tsx';
import { Meter } from '../../ui/meter.tsx';
import { countText } from '../../ui/numbers.ts';
import * as texts from './texts.ts';

/** Windows of a minute move on while they are looked at. */
const refetchMs = 5_000;

interface RateBarsProps {
  /** The path of the owner in the API, such as `/keys/ci`. */
  readonly of: string;
  /** Stands here until they are known. */
  readonly waiting: ReactNode;
}

/** Each rate limit of an owner, with what is taken of it now. */
export function RateBars({ of, waiting }: RateBarsProps) {
  const rates = useGet<RatesView>(`${of}/rates`, {}, { refetchMs });
  if (rates.data === undefined)
    return rates.error ? <ErrorState error={rates.error} onRetry={() => void rates.refetch()} /> : waiting;
  return (
    <ul className="grid grid-cols-1 gap-x-8 gap-y-3 sm:grid-cols-2">
      {rates.data.rates.map((rate) => (
        <RateBar key={`${rate.rate} ${rate.model}`} {...rate} />
      ))}
    </ul>
  );
}

function RateBar({ rate, model, amount, used, held }: RateView) {
  const t = useTexts(texts);
  const name = t(`rate.${rate}`);
  return (
    <li className="flex min-w-0 flex-col gap-1">
      <div className="flex flex-wrap justify-between gap-x-4">
        <span className="min-w-0">
          <span className="font-medium">{name}</span>
          {model !== null && <bdi className="break-words text-soft"> · {model}</bdi>}
        </span>
        <span className="text-soft tabular-nums">
          <Count value={used + held} /> / <Count value={amount} />
          {held > 0 && used > 0 && <> · {t('rateHeld', { held: countText(held) })}</>}
        </span>
      </div>
      <Meter
        value={used + held}
        max={amount}
        label={t('usedOfRate', { rate: model === null ? name : `${name}, ${model}` })}
      />
    </li>
  );
}
