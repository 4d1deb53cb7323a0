import type { PresetView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { Field, Input, Select, TextArea } from '../../ui/field.tsx';
import type { useForm } from '../../ui/form.ts';
import * as texts from './texts.ts';
import type { WrittenForm } from './written.ts';

type Form = ReturnType<typeof useForm<WrittenForm>>;

/** The address and the credential of a channel. */
export function ConnectionFields({ form, preset }: { readonly form: Form; readonly preset: PresetView }) {
  const t = useTexts(texts);
  const { keptIn } = form.values;
  const takesCredential = preset.credential.scheme !== 'none';
  const usual =
    preset.environment.length === 0
      ? []
      : [{ value: 'usual', label: t('keptIn.usual', { names: preset.environment.join(', ') }) }];
  const gaps = preset.gaps.map((gap) => `{${gap}}`).join(' ');
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Field
        label={t('baseUrl')}
        hint={preset.gaps.length > 0 ? t('baseUrl.gaps', { gaps }) : t('baseUrl.hint')}
        {...form.about('baseUrl')}
        className="md:col-span-2"
      >
        <Input {...form.text('baseUrl')} placeholder={preset.baseUrl} inputMode="url" />
      </Field>
      {takesCredential && (
        <Field label={t('keptIn')}>
          <Select
            value={keptIn}
            onChange={(value) => form.set('keptIn', value)}
            options={[
              ...(['sealed', 'environment', 'file', 'command'] as const).map((value) => ({
                value,
                label: t(`keptIn.${value}`),
              })),
              ...usual,
            ]}
          />
        </Field>
      )}
      {takesCredential && keptIn === 'sealed' && (
        <Field label={t('secret')} hint={t('secret.hint')} required {...form.about('secret')}>
          <Input {...form.text('secret')} type="password" autoComplete="new-password" />
        </Field>
      )}
      {(keptIn === 'environment' || keptIn === 'file') && (
        <Field label={t('place')} required {...form.about('credential')}>
          <Input {...form.text('place')} placeholder={keptIn === 'file' ? '/run/secrets/key' : 'API_KEY'} />
        </Field>
      )}
      {keptIn === 'command' && (
        <Field label={t('place.command')} required {...form.about('credential')}>
          <TextArea {...form.text('place')} />
        </Field>
      )}
    </div>
  );
}
