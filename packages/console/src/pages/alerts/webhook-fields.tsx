import type { EventView, ToldWebhookView, WebhookView } from '@headgate/gateway/console';
import { useTexts } from '../../app/texts.ts';
import { MultiCombobox } from '../../ui/combobox.tsx';
import { Field, Input, Select } from '../../ui/field.tsx';
import type { useForm } from '../../ui/form.ts';
import { Checkbox } from '../../ui/toggle.tsx';
import { kinds, severities } from './alert-filters.tsx';
import * as alertTexts from './texts.ts';
import * as texts from './webhook-texts.ts';

/** The values of the form of a webhook. */
export interface WebhookFormValues extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly url: string;
  readonly description: string;
  readonly kinds: readonly string[];
  readonly severity: string;
  readonly allowPrivate: boolean;
}

/** A webhook as the form shows it; its address is not known here. */
export function formOfWebhook(webhook: WebhookView | null): WebhookFormValues {
  return {
    ...{ name: webhook?.name ?? '', url: '', description: webhook?.description ?? '' },
    ...{ kinds: webhook?.kinds ?? [], severity: webhook?.severity ?? 'info' },
    allowPrivate: webhook?.allowPrivate ?? false,
  };
}

/** The body that changes a webhook. */
export function webhookPatchOf({
  url,
  description,
  kinds: chosen,
  severity,
  allowPrivate,
}: WebhookFormValues) {
  return {
    ...(url.trim() === '' ? {} : { url: url.trim() }),
    description: description.trim() === '' ? null : description.trim(),
    kinds: chosen.length === 0 ? null : chosen,
    ...{ severity, allowPrivate },
  };
}

/** The body that makes one. */
export function webhookDraftOf(values: WebhookFormValues): object {
  const members = Object.entries({
    ...webhookPatchOf(values),
    name: values.name.trim(),
    url: values.url.trim(),
  });
  return Object.fromEntries(members.filter(([, value]) => value !== null));
}

interface WebhookFieldsProps {
  readonly form: ReturnType<typeof useForm<WebhookFormValues, ToldWebhookView | WebhookView>>;
  /** The webhook that is changed; null of one that is made. */
  readonly webhook: WebhookView | null;
}

/** The fields of a webhook. */
export function WebhookFields({ form, webhook }: WebhookFieldsProps) {
  const t = useTexts(texts);
  const alert = useTexts(alertTexts);
  const isNew = webhook === null;
  return (
    <>
      {isNew && (
        <Field label={t('name')} hint={t('nameHint')} required {...form.about('name')}>
          <Input {...form.text('name')} spellCheck={false} />
        </Field>
      )}
      <Field
        label={t('url')}
        hint={isNew ? t('urlHint') : t('urlKept')}
        required={isNew}
        {...form.about('url')}
      >
        <Input
          {...form.text('url')}
          placeholder={isNew ? 'https://' : `${webhook.origin}/…`}
          inputMode="url"
          spellCheck={false}
        />
      </Field>
      <Field label={t('descriptionLabel')} hint={t('descriptionHint')} {...form.about('description')}>
        <Input {...form.text('description')} />
      </Field>
      <Field label={t('kinds')} hint={t('kindsHint')} {...form.about('kinds')}>
        <MultiCombobox
          values={form.values.kinds}
          onChange={(chosen) => form.set('kinds', chosen)}
          options={kinds.map((value) => ({ value, label: alert(`kind.${value}`) }))}
          placeholder={alert('all')}
        />
      </Field>
      <Field label={t('severity')} {...form.about('severity')}>
        <Select
          value={form.values.severity}
          onChange={(severity) => form.set('severity', severity)}
          options={severities.map((value: EventView['severity']) => ({
            value,
            label: alert(`severity.${value}`),
          }))}
        />
      </Field>
      <Checkbox
        checked={form.values.allowPrivate}
        onChange={(allowPrivate) => form.set('allowPrivate', allowPrivate)}
        label={t('allowPrivate')}
        hint={t('allowPrivateHint')}
      />
    </>
  );
}
