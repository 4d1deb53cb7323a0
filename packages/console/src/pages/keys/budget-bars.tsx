import type { BudgetView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { Money, Time } from '../../ui/figures.tsx';
import { Meter } from '../../ui/meter.tsx';
import * as texts from './texts.ts';

/** Budgets with how much of each is spent, and when it begins anew. */
export function BudgetBars({ budgets }: { readonly budgets: readonly BudgetView[] }) {
  const t = useTexts(texts);
  return (
    <ul className="flex flex-col gap-3">
      {budgets.map(({ span, amount, spent, resetsAt }) => (
        <li key={span} className="flex flex-col gap-1">
          <div className="flex flex-wrap justify-between gap-x-4">
            <span className="font-medium">{t(`budget.${span}`)}</span>
            <span className="text-soft">
              <Money usd={spent} /> / <Money usd={amount} />
              {resetsAt !== null && (
                <>
                  {' · '}
                  {t('resets')} <Time iso={resetsAt} />
                </>
              )}
            </span>
          </div>
          <Meter
            value={Number(spent)}
            max={Number(amount)}
            label={t('usedOf', { span: t(`budget.${span}`) })}
          />
        </li>
      ))}
    </ul>
  );
}
