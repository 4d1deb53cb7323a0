import type { KeyChoicesView, OwnerView } from '@headgate/gateway/console';
import { useGet } from '../../api/hooks.ts';
import { useTexts } from '../../app/texts.ts';
import { Field, Input } from '../../ui/field.tsx';
import { budgetPatch, type ModelLimit, modelLimitsOf, ratePatch } from '../keys/key-form.ts';
import { budgetNames, rateNames } from '../keys/limit-names.ts';
import { ModelLimits } from '../keys/model-limits.tsx';
import * as keyTexts from '../keys/texts.ts';
import * as texts from './texts.ts';

type LimitName =
  | `budgets.${(typeof budgetNames)[number] | 'alertAt'}`
  | `limits.${(typeof rateNames)[number]}`;

/** Budgets and rates, as text that is typed. */
type TypedLimits = Readonly<Record<LimitName, string>> & { readonly 'limits.models': readonly ModelLimit[] };

/** The same with the clocks that they go by. */
export type LimitValues = TypedLimits & { readonly timezone: string };

/** Limits as the form shows them. */
export function limitValues(owner: Pick<OwnerView, 'alertAt' | 'budgets' | 'limits'>): TypedLimits {
  const budgetOf = (span: (typeof budgetNames)[number]) =>
    owner.budgets.find((budget) => budget.span === span)?.amount ?? '';
  const rateOf = (name: (typeof rateNames)[number]) => String(owner.limits?.[name] ?? '');
  return {
    ...{
      'budgets.day': budgetOf('day'),
      'budgets.month': budgetOf('month'),
      'budgets.total': budgetOf('total'),
      'budgets.alertAt': owner.alertAt ?? '',
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
    'limits.models': modelLimitsOf(owner.limits),
  };
}

/** The members of a change: what was taken out of the form is null. */
export function limitPatch(values: LimitValues): object {
  return { budgets: budgetPatch(values), limits: ratePatch(values) };
}

interface LimitForm {
  readonly values: LimitValues;
  set(name: 'limits.models', rows: readonly ModelLimit[]): void;
  about(name: keyof LimitValues): { readonly error: string | null };
  text(name: LimitName | 'timezone'): {
    readonly name: string;
    readonly value: string;
    readonly onChange: (event: { readonly target: { readonly value: string } }) => void;
  };
}

/** The fields of an account's or a group's limits. */
export function LimitFields({ form }: { readonly form: LimitForm }) {
  const [t, k] = [useTexts(texts), useTexts(keyTexts)];
  const choices = useGet<KeyChoicesView>('/keys/choices', {}, { staleMs: 60_000 });
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
          <Field label={k('alertAt')} hint={k('alertAtHint')} {...form.about('budgets.alertAt')}>
            <Input {...form.text('budgets.alertAt')} inputMode="decimal" placeholder="0.8" />
          </Field>
        </div>
      </fieldset>
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-1 text-sm font-medium">{k('limits')}</legend>
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
          {rateNames.map((rate) => (
            <Field key={rate} label={k(`rate.${rate}`)} {...form.about(`limits.${rate}`)}>
              <Input {...form.text(`limits.${rate}`)} inputMode="numeric" placeholder={k('noLimit')} />
            </Field>
          ))}
        </div>
        <ModelLimits
          rows={form.values['limits.models']}
          onChange={(rows) => form.set('limits.models', rows)}
          models={(choices.data?.models ?? []).map(({ id }) => id)}
          {...form.about('limits.models')}
        />
      </fieldset>
      <Field label={t('timezone')} hint={t('timezoneHint')} {...form.about('timezone')}>
        <Input {...form.text('timezone')} placeholder="UTC" spellCheck={false} />
      </Field>
    </>
  );
}
