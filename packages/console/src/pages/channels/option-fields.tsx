import { useTexts } from '../../app/texts.ts';
import { Field, Input, Select, TextArea } from '../../ui/field.tsx';
import type { useForm } from '../../ui/form.ts';
import { Switch } from '../../ui/toggle.tsx';
import * as texts from './texts.ts';
import type { WrittenForm } from './written.ts';

type Form = ReturnType<typeof useForm<WrittenForm>>;

const timeouts = [
  ['connect', 'connectTimeout'],
  ['firstContent', 'firstContent'],
  ['stall', 'stall'],
  ['total', 'total'],
] as const;

/** Everything of a channel that may be left as it is. */
export function OptionFields({ form }: { readonly form: Form }) {
  const t = useTexts(texts);
  const hangUps = ['drain', 'estimate', 'always'] as const;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t('alias')} hint={t('alias.hint')} {...form.about('alias')}>
        <Input {...form.text('alias')} />
      </Field>
      <Field label={t('listed')} hint={t('listed.hint')} {...form.about('listed')}>
        <Select
          value={form.values.listed}
          onChange={(value) => form.set('listed', value)}
          options={(['', 'true', 'false'] as const).map((value) => ({
            value,
            label: t(`listed.${value === '' ? 'usual' : value}`),
          }))}
        />
      </Field>
      <Field label={t('priority')} hint={t('priority.hint')} {...form.about('priority')}>
        <Input {...form.text('priority')} inputMode="numeric" placeholder="0" />
      </Field>
      <Field label={t('maxConcurrency')} {...form.about('maxConcurrency')}>
        <Input {...form.text('maxConcurrency')} inputMode="numeric" placeholder="∞" />
      </Field>
      <Field label={t('hangUp')} {...form.about('hangUp')}>
        <Select
          value={form.values.hangUp}
          onChange={(value) => form.set('hangUp', value)}
          options={[
            { value: '', label: t('hangUp.usual') },
            ...hangUps.map((value) => ({ value, label: t(`hangUp.${value}`) })),
          ]}
        />
      </Field>
      <Field label={t('proxy')} hint={t('proxy.hint')} {...form.about('proxy')} className="sm:col-span-2">
        <Input {...form.text('proxy')} />
      </Field>
      <Field label={t('headers')} {...form.about('headers')} className="sm:col-span-2">
        <TextArea {...form.text('headers')} rows={2} />
      </Field>
      {timeouts.map(([name, label]) => (
        <Field
          key={name}
          label={`${t('timeouts')}: ${t(label)}`}
          hint={t('timeout.hint')}
          {...form.about(name)}
        >
          <Input {...form.text(name)} />
        </Field>
      ))}
      <Switch
        checked={form.values.allowPrivate}
        onChange={(value) => form.set('allowPrivate', value)}
        label={t('allowPrivate')}
        hint={t('allowPrivate.hint')}
      />
    </div>
  );
}
