import type { KeyChoicesView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { MultiCombobox } from '../../ui/combobox.tsx';
import { Field, Input } from '../../ui/field.tsx';
import type { useForm } from '../../ui/form.ts';
import { Pick } from '../../ui/pick.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import type { KeyFormValues } from './key-form.ts';
import { groupsOf, modelsOf } from './key-place.ts';
import { budgetNames, rateNames } from './limit-names.ts';
import { ModelLimits } from './model-limits.tsx';
import * as texts from './texts.ts';

export type KeyForm = ReturnType<typeof useForm<KeyFormValues, unknown>>;

interface KeyFieldsProps {
  readonly form: KeyForm;
  readonly choices: KeyChoicesView;
  /** An account and a group are chosen once. */
  readonly isNew: boolean;
}

/** The fields of a key: those that most keys have first, bounds behind them. */
export function KeyFields({ form, choices, isNew }: KeyFieldsProps) {
  const t = useTexts(texts);
  const { values, set } = form;
  return (
    <div className="flex flex-col gap-4">
      <Field label={t('name')} hint={t('nameHint')} {...form.about('name')}>
        <Input {...form.text('name')} maxLength={200} />
      </Field>
      {isNew && <Belonging form={form} choices={choices} />}
      <Field label={t('models')} hint={t('modelsHint')} {...form.about('models')}>
        <MultiCombobox
          values={values.models}
          onChange={(models) => set('models', models)}
          options={modelsOf(values.group, choices).map((id) => ({ value: id, label: id }))}
          placeholder={t('everyModel')}
        />
      </Field>
      <Field label={t('expires')} hint={t('expiresHint')} {...form.about('expires')}>
        <Input type="datetime-local" {...form.text('expires')} />
      </Field>
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-sm font-medium">{t('budgets')}</legend>
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
          {budgetNames.map((span) => (
            <Field key={span} label={t(`budget.${span}`)} {...form.about(`budgets.${span}`)}>
              <Input {...form.text(`budgets.${span}`)} inputMode="decimal" placeholder={t('noLimit')} />
            </Field>
          ))}
          <Field label={t('alertAt')} hint={t('alertAtHint')} {...form.about('budgets.alertAt')}>
            <Input {...form.text('budgets.alertAt')} inputMode="decimal" placeholder="0.8" />
          </Field>
        </div>
      </fieldset>
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-1 text-sm font-medium">{t('limits')}</legend>
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
          {rateNames.map((rate) => (
            <Field key={rate} label={t(`rate.${rate}`)} {...form.about(`limits.${rate}`)}>
              <Input {...form.text(`limits.${rate}`)} inputMode="numeric" placeholder={t('noLimit')} />
            </Field>
          ))}
        </div>
        <ModelLimits
          rows={values['limits.models']}
          onChange={(rows) => set('limits.models', rows)}
          models={modelsOf(values.group, choices)}
          {...form.about('limits.models')}
        />
      </fieldset>
      <Field label={t('addresses')} hint={t('addressesHint')} {...form.about('addressRanges')}>
        <Input {...form.text('addressRanges')} placeholder={t('anyAddress')} spellCheck={false} />
      </Field>
      <Checkbox
        checked={values.strict}
        onChange={(strict) => set('strict', strict)}
        label={t('strict')}
        hint={t('strictHint')}
      />
    </div>
  );
}

/** Who pays, and in which group. */
function Belonging({ form, choices }: Omit<KeyFieldsProps, 'isNew'>) {
  const t = useTexts(texts);
  const accounts = choices.accounts.filter(({ mayMake }) => mayMake);
  const { values, setValues } = form;
  const account = accounts.find(({ id }) => id === values.account) ?? accounts[0];
  const groups = groupsOf(account, choices.groups);
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
      <Field label={t('account')} {...form.about('account')}>
        <Pick
          value={values.account}
          onChange={(id) => setValues((before) => ({ ...before, account: id, group: '', models: [] }))}
          options={accounts.map(({ id, name }) => ({ value: id, label: name }))}
        />
      </Field>
      <Field
        label={t('group')}
        hint={groups.length === 0 ? t('noGroups') : t('groupHint')}
        {...form.about('group')}
      >
        <Pick
          value={values.group}
          onChange={(id) => setValues((before) => ({ ...before, group: id, models: [] }))}
          options={groups.map(({ id, name, platform }) => ({
            value: id,
            label: `${name} · ${t(`platform.${platform}`)}`,
          }))}
        />
      </Field>
    </div>
  );
}
