import type { OverviewView } from '@headgate/gateway/console';
import { useLanguage } from '../../app/language.ts';
import { useTexts } from '../../app/texts.ts';
import { Count, Duration, Money, MoneyIn, Percent } from '../../ui/figures.tsx';
import { compactText, countText, durationText, percentText } from '../../ui/numbers.ts';
import { Stat, Stats } from '../../ui/stat.tsx';
import * as texts from './texts.ts';

/** The sums of the time, each with what it was before. */
export function Totals({ overview }: { readonly overview: OverviewView }) {
  const { totals, before } = overview;
  // The step that is under way has only begun.
  const points = overview.points.slice(0, -1);
  const t = useTexts(texts);
  const language = useLanguage();
  const inAndOut = {
    input: compactText(totals.inputTokens, language),
    output: compactText(totals.outputTokens, language),
  };
  return (
    <Stats>
      <Stat
        label={t('calls')}
        value={<Count value={totals.calls} />}
        detail={<Change now={totals.calls} before={before.calls} />}
        spark={points.map(({ calls }) => calls)}
      />
      <Stat
        label={t('success')}
        value={<Percent value={totals.successShare} />}
        detail={<span title={countText(totals.failed)}>{t('failed', { count: totals.failed })}</span>}
        spark={points.map(({ successShare }) => successShare)}
      />
      <Stat
        label={t('spend')}
        value={<Money usd={totals.charge} />}
        detail={
          totals.cost === undefined ? (
            <Change now={Number(totals.charge)} before={Number(before.charge)} />
          ) : (
            <MoneyIn usd={totals.cost} say={(cost) => t('margin', { cost })} />
          )
        }
        spark={points.map(({ charge }) => Number(charge))}
      />
      <Stat
        label={t('tokens')}
        value={<Count value={totals.inputTokens + totals.outputTokens} compact />}
        detail={t('inAndOut', inAndOut)}
        spark={points.map(({ inputTokens, outputTokens }) => inputTokens + outputTokens)}
      />
      <Stat
        label={t('firstToken')}
        value={<Duration ms={totals.ttftP50Ms} />}
        detail={totals.ttftP95Ms !== null && t('firstTokenDetail', { p95: durationText(totals.ttftP95Ms) })}
        spark={points.map(({ ttftP50Ms }) => ttftP50Ms)}
      />
    </Stats>
  );
}

/** How much more or less it is than in the time before; nothing where that had none. */
function Change({ now, before }: { readonly now: number; readonly before: number }) {
  const t = useTexts(texts);
  if (before === 0) return null;
  const share = now / before - 1;
  const text = `${share < 0 ? '−' : '+'}${percentText(Math.abs(share))}`;
  return (
    <span title={t(share < 0 ? 'less' : 'more', { percent: percentText(Math.abs(share)) })}>{text}</span>
  );
}
