import type { KeyChoicesView, OwnerView } from '@headgate/gateway/console';
import { useChange, useGet } from '../../api/hooks.ts';
import { wordsOf } from '../../api/problem.ts';
import { useTexts } from '../../app/texts.ts';
import { Button } from '../../ui/button.tsx';
import { MultiCombobox } from '../../ui/combobox.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { useForm } from '../../ui/form.ts';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { Discounts, discountPatch, discountRows } from './discounts.tsx';
import { LimitFields, limitPatch, limitValues } from './limit-fields.tsx';
import * as texts from './texts.ts';

interface ChangeAccountProps {
  readonly account: OwnerView;
  readonly etag: string | null;
}

/** Changes the terms of an account. */
export function ChangeAccount({ account, etag }: ChangeAccountProps) {
  const t = useTexts(texts);
  const choices = useGet<KeyChoicesView>('/keys/choices', {}, { staleMs: 60_000 });
  const form = useAccountForm({ account, etag });
  const flag = (name: 'prepaid' | 'showBalance' | 'showKeys') => (
    <Checkbox
      checked={form.values[name]}
      onChange={(checked) => form.set(name, checked)}
      label={t(name)}
      hint={t(`${name}Hint`)}
    />
  );
  return (
    <Section>
      <form onSubmit={(event) => void form.submit(event)} className="flex max-w-2xl flex-col gap-4">
        <Field label={t('name')} {...form.about('name')}>
          <Input {...form.text('name')} />
        </Field>
        {flag('prepaid')}
        {form.values.prepaid && (
          <Field label={t('creditLimit')} hint={t('creditLimitHint')} {...form.about('creditLimit')}>
            <Input {...form.text('creditLimit')} inputMode="decimal" placeholder="0" />
          </Field>
        )}
        <LimitFields form={form} />
        <Discounts
          rows={form.values.discount}
          onChange={(rows) => form.set('discount', rows)}
          models={(choices.data?.models ?? []).map(({ id }) => id)}
          {...form.about('discount')}
        />
        <Field label={t('groups')} hint={t('groupsHint')} {...form.about('groups')}>
          <MultiCombobox
            values={form.values.groups}
            onChange={(groups) => form.set('groups', groups)}
            options={(choices.data?.groups ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            placeholder={t('groupsInUse')}
          />
        </Field>
        {flag('showBalance')}
        {flag('showKeys')}
        {form.problem !== null && <Notice tone="bad">{wordsOf(form.problem)}</Notice>}
        <div>
          <Button type="submit" variant="primary" busy={form.isBusy}>
            {t('save')}
          </Button>
        </div>
      </form>
    </Section>
  );
}

/** Nothing but what is different is at stake, as the state that was read goes with the change. */
function useAccountForm({ account, etag }: ChangeAccountProps) {
  const t = useTexts(texts);
  const own = account.account;
  const change = useChange<object, OwnerView>('PATCH', `/accounts/${account.id}`, {
    invalidates: ['/accounts', '/keys'],
  });
  return useForm({
    initial: {
      ...{
        name: account.name,
        prepaid: own?.money.prepaid ?? false,
        creditLimit: own?.money.creditLimit ?? '',
      },
      ...{ showBalance: own?.showBalance ?? false, showKeys: own?.showKeys ?? false },
      ...{ groups: own?.groups ?? [], timezone: account.timezone },
      discount: discountRows(own?.discount ?? null),
      ...limitValues(account),
    },
    submit: (values) => {
      const { name, prepaid, creditLimit, showBalance, showKeys, groups, timezone } = values;
      const body = {
        ...{ name: name.trim(), prepaid, showBalance, showKeys, timezone: timezone.trim() },
        creditLimit: prepaid ? creditLimit.trim() || null : null,
        groups: groups.length === 0 ? null : groups,
        discount: discountPatch(values.discount),
        ...limitPatch(values),
      };
      return change.mutateAsync({ body, etag });
    },
    onDone: ({ name }) => toast.success(t('changed', { name })),
  });
}
