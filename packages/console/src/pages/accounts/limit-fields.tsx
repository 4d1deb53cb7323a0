import type { OwnerView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { Field, Input } from '../../ui/field.tsx';
import { budgetNames, rateNames } from '../keys/key-form.ts';
import * as keyTexts from '../keys/texts.ts';
import * as texts from './texts.ts';

type LimitName = `budgets.${(typeof budgetNames)[number]}` | `limits.${(typeof rateNames)[number]}`;

/** Budgets, rates and the clocks that they go by, as text that is typed. */
export type LimitValues = Readonly<Record<LimitName, string>> & { readonly timezone: string };

/** Limits as the form shows them. */
export function limitValues(
  owner: Pick<OwnerView, 'budgets' | 'limits'>,
): Readonly<Record<LimitName, string>> {
  const budgetOf = (span: (typeof budgetNames)[number]) =>
    owner.budgets.find((budget) => budget.span === span)?.amount ?? '';
  const rateOf = (name: (typeof rateNames)[number]) => String(owner.limits?.[name] ?? '');
  return {
    ...{
      'budgets.day': budgetOf('day'),
      'budgets.month': budgetOf('month'),
      'budgets.total': budgetOf('total'),
    },
    ...{
      'limits.requestsPerMinute': rateOf('requestsPerMinute'),
      'limits.tokensPerMinute': rateOf('tokensPerMinute'),
    },
    ...{
      'limits.requestsPerDay': rateOf('requestsPerDay'),
      'limits.imagesPerMinute': rateOf('imagesPerMinute'),
    },
    'limits.concurrency': rateOf('concurrency'),
  };
}

/** The members of a change: what was taken out of the form is null. */
export function limitPatch(values: LimitValues): object {
  const rate = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : text || null);
  return {
    budgets: Object.fromEntries(budgetNames.map((span) => [span, values[`budgets.${span}`].trim() || null])),
    limits: Object.fromEntries(rateNames.map((name) => [name, rate(values[`limits.${name}`].trim())])),
  };
}

interface LimitForm {
  about(name: keyof LimitValues): { readonly error: string | null };
  text(name: keyof LimitValues): {
    readonly name: string;
    readonly value: string;
    readonly onChange: (event: { readonly target: { readonly value: string } }) => void;
  };
}

/** The fields of an account's or a group's limits. */
export function LimitFields({ form }: { readonly form: LimitForm }) {
  const [t, k] = [useTexts(texts), useTexts(keyTexts)];
  return (
    <>
      <fieldset>
        <legend className="mb-1 text-sm font-medium">{k('budgets')}</legend>
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
          {budgetNames.map((span) => (
            <Field key={span} label={k(`budget.${span}`)} {...form.about(`budgets.${span}`)}>
              <Input {...form.text(`budgets.${span}`)} inputMode="decimal" placeholder={k('noLimit')} />
            </Field>
          ))}
        </div>
      </fieldset>
      <fieldset>
        <legend className="mb-1 text-sm font-medium">{k('limits')}</legend>
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
          {rateNames.map((rate) => (
            <Field key={rate} label={k(`rate.${rate}`)} {...form.about(`limits.${rate}`)}>
              <Input {...form.text(`limits.${rate}`)} inputMode="numeric" placeholder={k('noLimit')} />
            </Field>
          ))}
        </div>
      </fieldset>
      <Field label={t('timezone')} hint={t('timezoneHint')} {...form.about('timezone')}>
        <Input {...form.text('timezone')} placeholder="UTC" spellCheck={false} />
      </Field>
    </>
  );
}
